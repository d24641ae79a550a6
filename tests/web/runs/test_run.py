"""The page of one run."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.test.utils import override_settings
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.core.stores import store_at
from apps.core.units import format_number
from apps.runs import archive, queries, seal
from apps.runs.models import ArchiveAttempt, ArchivedRun, Artifact, Run
from apps.runs.storage import artifacts
from apps.web.templatetags.splash import keep_together
from tests.runs.uploads import an_open_run, an_upload
from tests.support.builders import a_run, a_system
from tests.support.pages import data, element, elements, page_data, states, text
from tests.web.runs.recorded_runs import a_sealed_run, samples
from workers.protocol.wire import EventMessage

pytestmark = pytest.mark.django_db


def _page(client: Client, run: Run) -> str:
    return client.get(f"/runs/{run.pk}/").content.decode()


def _data(page: str) -> Any:
    return page_data(page, "run-data")


def test_a_headline_number_names_the_bytes_it_was_read_from(client: Client) -> None:
    run = a_sealed_run()
    page = _page(client, run)
    throughput = run.measurements.get(metric__key="client.throughput")
    output = artifacts.read_artifact(Artifact.objects.get(run=run, name="sysbench.txt"))
    assert float(output[throughput.byte_start : throughput.byte_end]) == throughput.value
    detail = queries.load_run(run.pk)
    assert detail is not None
    (shown,) = (one for one in detail.measurements if one.metric == "client.throughput")
    assert f"bytes {throughput.byte_start} to {throughput.byte_end}, by parser sysbench 3" in shown.source()
    link = element(page, "[data-metric='client.throughput'] dd a")
    assert link.attributes["title"] == f"{throughput.value:,.2f} transactions/s. {shown.source()}"
    assert link.attributes["href"] == f"/api/v1/runs/{run.pk}/artifacts/sysbench.txt"
    assert text(page, "[data-metric='client.throughput'] dd") == f"{format_number(throughput.value)} transactions/s"


def test_all_samples_and_statistics_are_linked_as_files(client: Client) -> None:
    run = a_sealed_run()
    links = elements(_page(client, run), f"a[download][href^='/api/v1/runs/{run.pk}/series']")
    addresses = [link.attributes["href"] or "" for link in links]
    assert len(addresses) == 5
    for address in addresses:
        answer = client.get(address)
        assert answer.status_code == 200
        assert answer["Content-Disposition"].startswith(f'attachment; filename="run-{run.pk}-series')
    assert "/series/?format" not in _page(client, a_run())


def test_at_least_twelve_counters_are_drawn_unasked(client: Client) -> None:
    drawn = _data(_page(client, a_sealed_run()))["counters"]
    assert len(drawn) >= 12
    assert drawn[:2] == ["mysql.status.Questions", "mysql.status.Com_select"]


def test_the_charts_know_events_and_measured_phase(client: Client) -> None:
    run = a_sealed_run()
    drawn = _data(_page(client, run))
    assert drawn["measured"] == [run.measured_from, run.measured_to]
    assert ("checkpoint by hand", 12.5) in [(event["label"], event["starts_at"]) for event in drawn["events"]]
    assert drawn["live"] is False


def test_every_event_is_listed_with_its_part_of_the_clock(client: Client) -> None:
    page = _page(client, a_sealed_run())
    assert ("12.5", "") in states(page, "#events [data-from]", "from", "until")
    assert "measured phase" in [each.text() for each in elements(page, "#events [data-kind] th")]
    assert elements(page, f"a[href='/timeline/?series={Run.objects.get().pk}:client.throughput:client']")


def test_all_charts_have_the_clock_from_0_to_the_last_sample(client: Client) -> None:
    run = a_sealed_run()
    sampled = queries.load_series(run_ids=[run.pk], metrics=["client.throughput", "mysql.status.Questions"])
    assert _data(_page(client, run))["whole"] == [0.0, max(float(one.at[-1]) for one in sampled)]
    assert _data(_page(client, a_run(provenance="submitted", measured_from=None, measured_to=None)))["whole"] is None


def test_what_was_run_on_what_is_shown(client: Client) -> None:
    page = _page(client, a_sealed_run(system=a_system("flush-2", settings={"innodb_flush_log_at_trx_commit": "2"})))
    shown = [" ".join(each.text().split()) for each in elements(page, ".facts dd")]
    for fact in ("innodb_flush_log_at_trx_commit = 2", "sysbench oltp_read_write --threads=4 run", "4 threads"):
        assert fact in shown, fact
    for fact in ("10.11.19", "db1 (writer)", "8.00 GiB"):
        assert any(fact in each for each in shown), fact


def test_what_could_not_be_observed_is_said_with_its_reason_and_what_sampling_took(client: Client) -> None:
    run = an_open_run(nodes=("db1", "db2"))
    detail = {"what": "waits", "reason": "performance_schema is OFF", "remedy": "start the server with it ON"}
    label = "waits: performance_schema is OFF; start the server with it ON"
    events = [
        EventMessage(kind="not_observable", label=label, starts_at=0.1 * place, node=node, detail=detail)
        for place, node in enumerate(("db1", "db2"), start=1)
    ]
    of_node = [
        (t, {**values, "agent.sampling.mysql.seconds": 0.004 + t % 2 / 1000, "agent.statements": 3 * int(t)})
        for t, values in samples()
    ]
    of_agent = [(t, {"agent.sampling.agent.seconds": 0.0005, "agent.cpu.seconds": 0.02 * t}) for t, _ in of_node]
    an_upload(run=run, nodes={"db1": of_node, "db2": of_node, "agent": of_agent}, events=events).send()
    assert seal.seal(run_id=run.pk)
    page = _page(client, run)
    assert states(page, "#not-observable li", "unobserved", "nodes") == [("waits", "db1 db2")]
    hidden = text(page, "#not-observable li")
    assert detail["reason"] in hidden
    assert detail["remedy"] in hidden
    took = [text(page, f"#overhead [data-{name}]") for name in ("sampling", "nodes", "cpu", "statements")]
    assert took == ["9.45 ms", "3", "2.00 %", "6.00"]
    assert "not_observable" not in {event["kind"] for event in _data(page)["events"]}


def test_a_result_without_agent_says_what_was_not_observed(client: Client) -> None:
    page = _page(client, a_run(provenance="submitted"))
    shown = data(page, "state")
    assert {"no-counter", "no-variables", "no-headline"} <= set(shown)
    complete = data(_page(client, a_sealed_run()), "state")
    assert not {"no-counter", "no-variables", "no-headline"} & set(complete)


def test_a_failed_run_says_why_and_that_it_counts_in_no_comparison(client: Client) -> None:
    page = _page(client, a_run(outcome="failed", reason="the server went away"))
    assert "the server went away" in text(page, ".problem[data-outcome=failed]")


def test_lines_that_no_parser_understood_are_shown(client: Client) -> None:
    page = _page(client, a_run(unparsed_lines=["<b>what is this</b>"]))
    assert text(page, "[data-unparsed='1'] pre") == "<b>what is this</b>"


def test_other_repetitions_are_listed_and_lead_to_a_comparison(client: Client) -> None:
    run = a_run()
    other = a_run(system=run.system, workload=run.workload, repetition=2)
    a_run(system=a_system(), workload=run.workload)
    page = _page(client, run)
    assert data(page, "run") == [str(other.pk)]
    assert len(elements(page, f"a[href='/runs/{other.pk}/']")) == 1
    assert elements(page, f"a[href='/compare/?side={run.system.slug}&workload={run.workload_id}']")


def test_a_live_run_shows_its_latest_second_and_asks_again(client: Client) -> None:
    lines = [(float(t), f"[ {t}s ] thds: 4 tps: {100 + t}.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) "
              f"lat (ms,95%): 5.00 err/s: 0.00 reconn/s: 0.00") for t in (1, 2, 3)]  # fmt: skip
    upload = an_upload(nodes={"db1": samples(seconds=4)}, lines=lines)
    upload.send_batch(0)
    page = _page(client, upload.run)
    assert element(page, "#headline").attributes["hx-trigger"] == "every 2s"
    assert element(page, "[data-state=latest] [title='103']").text() == "103"
    part = client.get(f"/runs/{upload.run.pk}/", headers={"HX-Request": "true"})
    assert "<html" not in part.content.decode()
    assert "HX-Refresh" not in part


def test_a_run_that_has_ended_says_what_it_waits_for(client: Client) -> None:
    upload = an_upload(nodes={"db1": samples(seconds=22)}, seconds_a_batch=4)
    upload.send_batch(1)
    upload.end()
    total = len(upload.batches)
    page = _page(client, upload.run)
    assert text(page, "[data-pending=uploads] [data-missing]") == f"{total - 1} of {total} batches and sysbench.txt"
    assert elements(page, "[data-pending] time")
    for sequence in range(total):
        upload.send_batch(sequence)
    assert text(_page(client, upload.run), "[data-pending=uploads] [data-missing]") == "sysbench.txt"
    upload.send_output()
    page = _page(client, upload.run)
    assert states(page, "[data-pending]", "pending") == [("storage",)]
    assert "notice--warning" not in (element(page, "[data-pending]").attributes["class"] or "")


def test_a_run_that_cannot_be_stored_says_how_often_that_was_tried(client: Client) -> None:
    upload = an_upload()
    run = upload.send()
    Run.objects.update(seal_attempts=4)
    page = _page(client, run)
    assert states(page, "[data-pending]", "pending", "attempts") == [("storage", "4")]
    assert elements(page, ".notice--warning[data-pending] time")


def test_the_page_says_where_the_samples_are_and_does_not_fetch_them(client: Client, tmp_path: Path) -> None:
    run = a_sealed_run()
    page = _page(client, run)
    assert data(page, "samples") == ["database"]
    whole = _data(page)["whole"]
    with override_settings(STORAGES=settings.STORAGES | {"archive": store_at(str(tmp_path))}):
        tried = ArchiveAttempt.objects.create(run=run, attempts=1, due_at=run.started_at, problem="the disk is full")
        page = _page(client, run)
        assert "the disk is full" in text(page, "[data-samples=failed]")
        assert elements(page, "[data-samples=failed] time")
        tried.delete()
        assert archive.archive(run_id=run.pk, now=timezone.now())
        assert elements(_page(client, run), "[data-samples=archived] time")
        ArchiveAttempt.objects.create(run=run, attempts=1, due_at=run.started_at, problem="the archive is away")
        assert "the archive is away" in text(_page(client, run), "[data-samples=archived]")
        assert archive.move(run_id=run.pk, now=timezone.now())
        page = _page(client, run)
        assert elements(page, "[data-samples=moved] time")
        assert _data(page)["whole"] == whole
        assert ArchivedRun.objects.get().moved_at is not None


def test_a_run_that_became_complete_is_shown_whole(client: Client) -> None:
    part = client.get(f"/runs/{a_sealed_run().pk}/", headers={"HX-Request": "true"})
    assert part["HX-Refresh"] == "true"
    assert "hx-trigger" not in part.content.decode()


def test_a_run_that_is_not_there_is_a_404(client: Client) -> None:
    assert client.get("/runs/999999999/").status_code == 404
    assert client.get("/runs/99999999999999999999999/").status_code == 404


def test_fifty_siblings_take_no_more_queries(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    run = a_run()
    for number in range(50):
        a_run(system=run.system, workload=run.workload, repetition=number + 2)
    with django_assert_max_num_queries(18):
        page = _page(client, run)
    assert len(data(page, "run")) == 50


def test_a_long_name_breaks_after_its_commas_so_that_it_fits_a_phone() -> None:
    assert keep_together("DDL under load, at=6") == "DDL under\N{NO-BREAK SPACE}load, at=6"
    assert keep_together("oltp 4 x 10 rows") == "oltp 4\N{NO-BREAK SPACE}x\N{NO-BREAK SPACE}10\N{NO-BREAK SPACE}rows"
