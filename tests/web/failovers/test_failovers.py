"""The Failover page: every trial as a bar of phases, what was lost, what explains it, what articles state beside it."""

import csv
import io
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from selectolax.lexbor import LexborNode

from apps.catalog.models import System, Workload
from apps.catalog.services import seed
from apps.comparison.failovers.results import load_failovers
from apps.comparison.failovers.values import FailoverFilter
from apps.published import services as published
from apps.runs.models import Event
from apps.web.failovers import wording
from tests.support.builders import a_campaign, a_run
from tests.support.failed_over import FAULT_AT, OFFSET, a_failover, a_failover_workload, made_up, recordings, reported
from tests.support.pages import data, element, elements, states, text

pytestmark = pytest.mark.django_db


def page_of(client: Client, query: str = "", status: int = 200) -> str:
    response = client.get(f"/failovers/{query}")
    assert response.status_code == status
    return response.content.decode()


def trials_of(page: str, within: str = "") -> list[LexborNode]:
    """The lanes of the race."""
    return elements(page, f"{within} .race-table tbody tr[data-run]")


def bars_of(page: str) -> list[list[tuple[str, float, float]]]:
    """Of each trial the parts of its bar: kind, and from where to where (% of the scale)."""
    return [[_part(part) for part in track.css("i")] for track in elements(page, ".race-track")]


def _part(part: LexborNode) -> tuple[str, float, float]:
    start, end = re.findall(r"([\d.]+)%", part.attributes["style"] or "")
    return (part.attributes["class"] or "").rpartition("--")[2], float(start), float(end)


def group_of(page: str, *names: str) -> tuple[str | None, ...]:
    (found,) = states(page, "[data-side]", *names)
    return found


def listed_of(page: str) -> list[str]:
    """The affected writes as the page lists them."""
    return [each.text() for each in elements(page, ".failover-rows dd")]


def expected_rows() -> list[str]:
    """The same, of the only trial."""
    ((trial,),) = (group.trials for group in load_failovers(FailoverFilter()).groups)
    return [text for _, text in wording.rows(trial.course.rows, trial.course.counts)]


def test_before_anything_failed_over_the_page_says_what_would_fill_it(client: Client) -> None:
    page = page_of(client)
    assert element(page, "[data-state=empty] a").attributes["href"] == "/campaigns/new/"
    assert elements(page, "[data-side]") == []
    assert elements(page, "[data-card]") == []


def test_before_anything_failed_over_the_published_downtimes_answer(client: Client) -> None:
    seed()
    published.load_all(published.OWN_DATA)
    page = page_of(client)
    assert data(page, "card") == ["aurora", "galera", "mha"]
    for card, words in (("aurora", "50 s"), ("galera", "8 to 15 s"), ("mha", "≥ 120 s")):
        assert words in text(page, f"[data-card={card}]").replace("\xa0", " ")
    link = element(page, "[data-state=empty] a").attributes["href"] or ""
    killed = Workload.objects.get(tool="failover", parameters__fault="kill_writer")
    assert link == f"/campaigns/new/?workload={killed.pk}"


def test_recorded_failovers_have_their_recorded_median_and_range(client: Client, galera: System) -> None:
    runs = ["kill9_writer_suspect1s_run1", "kill9_writer_suspect1s_run2"]
    for name in runs:
        a_failover(galera, reported(name))
    low, high = sorted(recordings()[name]["interruption"] for name in runs)
    (found,) = load_failovers(FailoverFilter()).groups
    assert found.interruption.low == pytest.approx(low, abs=0.05)
    assert found.interruption.high == pytest.approx(high, abs=0.05)
    assert found.interruption.median == pytest.approx((low + high) / 2, abs=0.05)
    page = page_of(client)
    median, trials = group_of(page, "median", "trials")
    assert (float(median or 0), trials) == (found.interruption.median, "2")
    assert wording.headline(found) in element(page, "[data-card=cluster] h2").text()


def test_a_trial_that_did_not_recover_counts_as_such_and_never_as_short(client: Client, galera: System) -> None:
    a_failover(galera, reported("kill9_writer_suspect1s_run1"))
    a_failover(galera, reported("kill9_writer_mixed_evs_quorum_loss"), outcome="failed", reason="node1 is not in step")
    page = page_of(client)
    assert group_of(page, "trials", "not-recovered") == ("2", "1")
    rows = states(page, ".race-table tr[data-run]", "recovered", "outcome")
    assert rows == [("yes", "succeeded"), ("no", "failed")]
    second, first = (float(outage) for outage in data(page, "outage"))
    assert (first > 16, 2 <= second < 3) == (True, True)
    (group,) = load_failovers(FailoverFilter()).groups
    shown = [each.text() for each in elements(page, "[data-outage]")]
    assert shown == [wording.outage(trial.course) for trial in reversed(group.trials)]
    assert "16." in element(page, "[data-mark]").text()
    assert [len(row.css(".mark--bad")) for row in trials_of(page)] == [0, 1]
    last_kind, _, end = bars_of(page)[1][-1]
    assert (last_kind, end) == ("open", 100.0)  # further than any other, however long it was watched
    assert max(part[2] for part in bars_of(page)[0]) < 90
    assert "not recover in 1 of 2 trials" in text(page, "[data-card=cluster] h2")


def test_the_parts_of_a_bar_are_its_phases_on_one_scale(client: Client, galera: System, mha: System) -> None:
    a_failover(galera, made_up(2.0))
    a_failover(mha, made_up(8.0))
    quick, slow = (parts for parts in bars_of(page_of(client)))
    assert [kind for kind, _, _ in slow][:2] == ["detect", "client"]
    ends = [max(end for _, _, end in parts) for parts in (quick, slow)]
    assert ends[0] / ends[1] == pytest.approx(2 / 8, abs=0.01)


def test_settings_explain_part_of_the_outage(client: Client, galera: System, mha: System) -> None:
    a_failover(galera, made_up(6.5, proxy=0.9))
    a_failover(mha, made_up(7.6))
    page = page_of(client)
    groups = load_failovers(FailoverFilter()).groups
    assert len(groups) == 2
    for group in groups:
        shown = element(page, f"[data-card={group.system}] p")
        assert shown.attributes["title"] == " ".join(wording.shares(group))
        assert wording.largest_share(group) in shown.text()


def test_lost_and_doubled_writes_are_counted_and_listed(client: Client, galera: System) -> None:
    counts = {"missing": [161, 162, 163], "errant": [163, 164], "failed_present": [170], "duplicated": [12, 14]}
    a_failover(galera, made_up(3.0, counts=counts))
    page = page_of(client)
    shown = states(page, "[data-quantity]", "quantity", "value")
    assert shown == [("lost", "3"), ("errant", "2"), ("duplicated", "2"), ("failed_present", "1"), ("stale", "0")]
    assert "3 acknowledged writes lost, 2 rows only on the old source" in text(page, "[data-card=cluster]")
    assert [cell.text(strip=True) for cell in elements(page, "[data-quantity]")] == ["3", "2", "2", "1", "0"]
    assert listed_of(page) == expected_rows()
    assert [row.split()[0] for row in listed_of(page)] == ["161", "163", "12", "170"]


def test_rows_that_only_the_old_source_has_are_none_or_not_known(client: Client, mha: System) -> None:
    a_failover(mha, made_up(3.0))
    unread = a_failover(mha, made_up(4.0))
    unread.measurements.filter(metric__key="failover.errant_rows").delete()
    page = page_of(client)
    assert states(page, "[data-quantity=errant]", "value") == [("0",), ("",)]
    assert [cell.text(strip=True) for cell in elements(page, "[data-quantity=errant]")] == ["0", "not read"]
    trials = client.get("/api/v1/failovers/").json()["groups"][0]["trials"]
    assert [trial["course"]["counts"]["errant"] for trial in trials] == [None, 0]


def test_rows_that_a_report_does_not_list_are_said_to_be_in_its_artifact(client: Client, galera: System) -> None:
    run = a_failover(galera, made_up(3.0, counts={"missing": [161]}))
    run.measurements.filter(metric__key="failover.stale_reads").update(value=18)
    page = page_of(client)
    assert states(page, "[data-quantity=stale]", "value") == [("18",)]
    assert listed_of(page) == expected_rows()
    assert listed_of(page)[-1].startswith("18")
    assert element(page, f".failover-rows [data-run='{run.pk}'] a").attributes["href"] == (
        f"/api/v1/runs/{run.pk}/artifacts/failover.jsonl"
    )


def test_a_run_without_a_read_back_says_so_and_never_zero(client: Client, galera: System) -> None:
    a_failover(galera, made_up(3.0, is_whole=False), outcome="failed", reason="it broke off")
    page = page_of(client)
    assert [value for (value,) in states(page, "[data-quantity]", "value")] == [""] * 5
    assert len({cell.text(strip=True) for cell in elements(page, "[data-quantity]")} - {"", "0"}) == 1


def test_a_trial_leads_to_its_runs_clock_at_the_fault(client: Client, galera: System) -> None:
    run = a_failover(galera, made_up(3.0))
    link = element(page_of(client), f"a[href^='/runs/{run.pk}/?from=']").attributes["href"] or ""
    start, end = (float(*values) for values in parse_qs(urlsplit(link).query).values())
    assert start < FAULT_AT + OFFSET < FAULT_AT + OFFSET + 3 < end


def test_of_many_trials_the_longest_are_open_and_the_others_on_demand(client: Client, galera: System) -> None:
    for number in range(14):
        a_failover(galera, made_up(2.0 + number / 10))
    page = page_of(client)
    assert data(page, "count") == ["2"]
    assert [len(trials_of(page, within)) for within in ("", "details")] == [14, 2]
    assert [row.css("[data-outage]")[0].text() for row in trials_of(page, "details")] == ["2.00", "2.10"]


def test_a_run_leads_to_all_trials_of_its_fault(client: Client, galera: System) -> None:
    run = a_failover(galera, made_up(3.0), fault="kill_reader")
    assert elements(client.get(f"/runs/{run.pk}/").content.decode(), "a[href='/failovers/?fault=kill_reader']")


def test_excluded_and_held_up_trials_are_shown_and_do_not_count(client: Client, galera: System) -> None:
    a_failover(galera, made_up(2.0))
    excluded = a_failover(galera, made_up(9.0), is_excluded=True)
    page = page_of(client)
    assert group_of(page, "median", "trials") == ("2.0", "1")
    doubted = [row.attributes["data-run"] for row in trials_of(page) if row.css("[data-not-counted]")]
    assert doubted == [str(excluded.pk)]


def test_a_fault_that_never_came_is_listed_apart(client: Client, galera: System) -> None:
    run = a_run(system=galera, workload=a_failover_workload(), outcome="failed", reason="kill did not work")
    page = page_of(client)
    assert states(page, "section[aria-labelledby=untold] li", "run") == [(str(run.pk),)]
    assert run.reason in element(page, "section[aria-labelledby=untold] li").text()
    a_run(system=galera, workload=a_failover_workload("none"))  # nobody asked for a fault
    assert len(load_failovers(FailoverFilter()).untold) == 1


def test_trials_under_another_load_or_patience_stand_apart(client: Client, galera: System) -> None:
    a_failover(galera, made_up(2.0))
    a_failover(galera, made_up(4.0), parameters={"rate": 100})
    a_failover(galera, made_up(5.0), parameters={"fault_at": 30})  # when it comes makes no other load
    lengths = {
        group.parameters["rate"]: [trial.course.outage for trial in group.trials]
        for group in load_failovers(FailoverFilter()).groups
    }
    assert {rate: len(found) for rate, found in lengths.items()} == {20: 2, 100: 1}
    assert len(load_failovers(FailoverFilter(rate=100)).groups) == 1


def test_made_up_trials_stand_in_no_groups_figures_but_their_own(client: Client, galera: System) -> None:
    a_failover(galera, made_up(9.0), provenance="rig")
    a_failover(galera, made_up(2.0))
    measured, invented = load_failovers(FailoverFilter()).groups
    assert measured.interruption.median == pytest.approx(2.0)
    assert invented.interruption.median == pytest.approx(9.0)
    page = page_of(client)
    assert states(page, "[data-side]", "median", "trials", "origins") == [("2.0", "1", "agent"), ("9.0", "1", "rig")]
    assert [len(each.css(".mark--rig")) for each in elements(page, "[data-card]")] == [0, 1]
    assert "1 trial," in text(page, ".race > header")


def test_fault_and_load_choose_the_race_and_the_table_has_all(client: Client, galera: System, mha: System) -> None:
    a_failover(galera, made_up(2.0))
    a_failover(galera, made_up(3.0), fault="kill_reader")
    a_failover(galera, made_up(5.0), parameters={"rate": 100})
    a_failover(mha, made_up(4.0))
    page = page_of(client)
    assert data(page, "outage") == ["2.0", "4.0"]  # the writer killed, at the load that was measured most
    writer = [("cluster", "kill_writer"), ("replicas", "kill_writer"), ("cluster", "kill_writer")]
    assert states(page, "[data-row-fault]", "system", "row-fault") == [*writer, ("cluster", "kill_reader")]
    for row, outage in zip(elements(page, "[data-row-fault] td a"), ("2.0", "4.0", "5.0", "3.0"), strict=True):
        assert outage in data(page_of(client, (row.attributes["href"] or "").removeprefix("/failovers/")), "outage")
    assert data(page_of(client, "?rate=100"), "outage") == ["5.0"]
    assert data(page_of(client, "?fault=kill_reader&system="), "outage") == ["3.0"]
    assert data(page_of(client, "?system=replicas"), "outage") == ["4.0"]


def test_a_choice_without_trials_says_how_to_see_or_to_get_some(client: Client, galera: System) -> None:
    a_failover(galera, made_up(2.0))
    for query in (f"?campaign={a_campaign(galera).pk}", "?fault=switch"):
        page = page_of(client, query)
        assert trials_of(page) == []
        assert elements(page, "[data-state=empty] a")[0].attributes["href"] == "/failovers/"


def test_systems_and_loads_without_trials_are_refused(client: Client, galera: System) -> None:
    a_failover(galera, made_up(2.0))
    for query, field in (("?system=nobody", "system"), ("?rate=21", "rate")):
        page = page_of(client, query, status=400)
        assert data(page, "field") == [field]
        assert trials_of(page) == []


@pytest.mark.parametrize("query", ["?fault=flood", "?campaign=x", "?rate=nan", "?rate=-1", "?system=%00"])
def test_an_address_that_asks_for_nonsense_is_refused(client: Client, query: str) -> None:
    assert data(page_of(client, query, status=400), "field") == [query.strip("?").partition("=")[0]]
    assert client.get(f"/failovers/failovers.csv{query}").status_code == 400


def test_published_interruptions_stand_on_the_scale_of_measured_ones(client: Client, galera: System) -> None:
    seed()
    published.load_all(published.OWN_DATA)
    a_failover(galera, made_up(6.0))
    page = page_of(client)
    sides = {str(side.attributes["data-scale"]): side for side in elements(page, "[data-scale]")}
    assert list(sides) == ["Aurora", "PXC/Galera", "MHA"]
    values = {name: [each.text() for each in side.css("[data-value]")] for name, side in sides.items()}
    galeras = ["6.00\xa0s", "8\xa0s", "8\xa0s", "15\xa0s"]
    assert values == {"Aurora": ["50\xa0s"], "PXC/Galera": galeras, "MHA": ["≥ 120\xa0s"]}
    widths = {
        value.text(): float(re.findall(r"([\d.]+)%", bar.attributes["style"] or "")[0])
        for side in sides.values()
        for value, bar in zip(side.css("[data-value]"), side.css(".track__bar"), strict=True)
    }
    assert widths["50\xa0s"] / widths["6.00\xa0s"] == pytest.approx(50 / 6, rel=1e-3)
    stated = elements(page, "[data-article]")
    assert all(each.css(".track__bar--stated") for each in stated)
    assert len(elements(page, ".track__bar--stated")) == len(stated)
    assert len(elements(page, ".track__bar--pointed")) == 1  # the bound
    assert elements(page, ".race-lens")


def test_beside_other_faults_than_crashes_no_published_figure_stands(client: Client, galera: System) -> None:
    seed()
    published.load_all(published.OWN_DATA)
    a_failover(galera, made_up(0.3), fault="switch")
    page = page_of(client)
    assert elements(page, "[data-article]") == []
    assert data(page, "card")[0] == "aurora"  # not measured, as under every fault


def test_exports_and_the_api_say_what_the_page_says(client: Client, galera: System) -> None:
    run = a_failover(galera, made_up(3.0, counts={"missing": [161]}))
    a_failover(galera, made_up(None))
    rows = list(csv.DictReader(io.StringIO(client.get("/failovers/failovers.csv").content.decode())))
    assert [row["recovered"] for row in rows] == ["no", "yes"]
    seconds = [text for row in rows for key, text in row.items() if key.endswith("_s")]
    assert all(len(text.partition(".")[2]) <= 4 for text in seconds)
    assert (rows[1]["run"], rows[1]["lost"], rows[0]["client_recovered_s"]) == (str(run.pk), "1", "")
    assert f"/runs/{run.pk}/?from=" in rows[1]["address"]
    markdown = client.get("/failovers/failovers.md").content.decode()
    (found,) = load_failovers(FailoverFilter()).groups
    assert wording.interruption(found.interruption).replace("\xa0", " ") in markdown
    (group,) = client.get("/api/v1/failovers/?fault=kill_writer").json()["groups"]
    assert group["interruption"]["not_recovered"] == 1
    assert [trial["course"]["recovered"] for trial in group["trials"]] == [False, True]
    assert group["trials"][1]["course"]["rows"]["lost"][0]["number"] == 161
    assert group["trials"][1]["course"]["outage"] == pytest.approx(float(rows[1]["outage_s"]))
    assert (group["platform_name"], group["trials"][1]["provenance"]) == (galera.release.platform.name, "agent")
    assert client.get("/api/v1/failovers/?faults=x").status_code == 400
    refused = client.get("/api/v1/failovers/?fault=kill_writer&fault=x").json()
    assert refused["errors"][0]["field"] == "fault"
    assert "'x'" in refused["detail"]
    assert "kill_writer" in refused["detail"]


def test_the_number_of_queries_does_not_grow_with_the_trials(client: Client, galera: System, mha: System) -> None:
    report = made_up(3.0)
    a_failover(galera, report)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            page_of(client)
        return len(captured)

    few = queries()
    for number in range(6):
        a_failover((galera, mha)[number % 2], report)
    assert queries() == few


def test_each_fault_has_its_answer_and_leads_to_its_race(client: Client, galera: System, mha: System) -> None:
    for fault in ("kill_writer", "kill_reader"):
        for outage in (2.0, 2.1, 2.2):
            a_failover(galera, made_up(outage), fault=fault)
            a_failover(mha, made_up(3 * outage), fault=fault)
    page = page_of(client)
    answers = elements(page, ".fault-answers li")
    assert [("worse" in each.text(), "is-chosen" in (each.attributes.get("class") or "")) for each in answers] == [
        (True, True),
        (True, False),
    ]
    address = element(page, ".fault-answers li:not(.is-chosen) a").attributes["href"] or ""
    other = page_of(client, f"?{urlsplit(address).query}")
    assert set(data(other, "fault")) == {"kill_reader"}


def test_how_a_node_got_its_state_back_is_shown_with_the_bytes_of_a_whole_transfer(
    client: Client, galera: System
) -> None:
    run = a_failover(galera, made_up(3.0))
    label = "node1 got its state by a whole transfer (rsync), 85,048,079 bytes by the size of the files that it wrote"
    detail = {"transfer": "whole", "method": "rsync", "file_bytes": 85_048_079, "writesets": 0, "received_bytes": 77}
    Event.objects.create(
        run=run,
        kind="state_transfer",
        label=label,
        starts_at=40.0,
        ends_at=45.0,
        node="node1",
        detail=detail,
        from_output=True,
    )
    assert listed_of(page_of(client)) == [label]
    (trial,) = client.get("/api/v1/failovers/").json()["groups"][0]["trials"]
    found = trial["course"]["transfer"]
    assert (found["kind"], found["method"], found["file_bytes"]) == ("whole", "rsync", 85_048_079)
    (row,) = csv.DictReader(io.StringIO(client.get("/failovers/failovers.csv").content.decode()))
    assert (row["transfer"], row["transfer_file_bytes"]) == ("whole", "85048079")
