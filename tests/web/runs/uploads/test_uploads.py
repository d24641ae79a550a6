"""Uploading a finished run, and files that say more of one, in pages."""

from io import BytesIO
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.catalog.models import System, Workload
from apps.runs.models import Artifact, Run
from tests.paths import RECORDINGS
from tests.runs.tool_output.parsers.outputs import content
from tests.support.builders import a_run, a_system, a_user, a_workload
from tests.support.pages import data, element, elements, text

ADDRESS = "/runs/upload/"
TPCC = "tpcc_mysql/two_intervals.txt"


@pytest.fixture
def engineer(db: None, client: Client) -> Client:
    client.force_login(a_user(username="ann"))
    return client


def html(response: Any) -> str:
    content: str = response.content.decode()
    return content


def said_of(response: Any, field: str) -> str:
    """What the form says of the field, which the page shows too."""
    problems = [problem.message for problem in response.context["problems"] if problem.field == field]
    found = " ".join(" ".join(problems).split())
    assert found in text(html(response), f"[data-problems] [data-field={field}]")
    return found


def a_file(output: bytes) -> BytesIO:
    file = BytesIO(output)
    file.name = "output.txt"
    return file


def send(client: Client, output: bytes | None = None, **fields: Any) -> Any:
    """A value of None is left out."""
    form = {
        "format": "tpcc-mysql",
        "file": a_file(content(TPCC) if output is None else output),
        "system": (System.objects.first() or a_system()).slug,
        "parameters": "warehouses=10, isolation=repeatable-read",
        "started_at": "2026-11-20 10:00:00",
        "repetition": "1",
    } | fields
    return client.post(ADDRESS, {name: value for name, value in form.items() if value is not None})


def test_an_accepted_upload_leads_to_its_runs_page_with_numbers_and_origin(engineer: Client) -> None:
    answer = send(engineer)
    run = Run.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/runs/{run.pk}/")
    page = html(engineer.get(answer["Location"]))
    shown = [each.text().split()[0] for each in elements(page, "#headline [data-metric] dd")]
    assert {"7,680", "294"} <= {each.partition(".")[0] for each in shown}
    origin = f"/api/v1/runs/{run.pk}/artifacts/tpcc-mysql.txt"
    assert {each.attributes["href"] for each in elements(page, "#headline dd a")} == {origin}
    assert (run.load_level.threads, run.provenance, run.warmup) == (8, "submitted", 5.0)
    assert run.workload.parameters == {"warehouses": 10, "isolation": "repeatable-read"}


def test_a_csv_of_ones_own_is_uploaded_with_its_mapping(engineer: Client) -> None:
    own = {"format": "own", "parameters": "benchmark=checkout"}
    faulty = send(engineer, b"tps\n812.5\n", **own, mapping=a_file(b"totals: {client.latency.p99: tps}\nthreads: 8"))
    assert "client.latency.p99: is a time: state the file's unit" in said_of(faulty, "mapping")
    assert "is missing" in said_of(send(engineer, b"tps\n812.5\n", **own), "mapping")
    answer = send(engineer, b"tps\n812.5\n", **own, mapping=a_file(b"totals: {client.throughput: tps}\nthreads: 8"))
    run = Run.objects.get()
    assert (answer["Location"], run.load_level.threads) == (f"/runs/{run.pk}/", 8)
    assert run.measurements.get().value == 812.5


def test_who_stored_as_much_as_a_day_allows_is_told_how_long_to_wait(engineer: Client, settings: LazySettings) -> None:
    settings.UPLOADS_A_DAY = 10
    answer = send(engineer)
    assert answer.status_code == 422
    assert "more than 10 B of raw files a day of person ann; send the same again in" in said_of(answer, "file")
    assert not Artifact.objects.exists()


def test_a_known_workload_can_be_chosen_and_sysbench_is_uploaded_as_well(engineer: Client) -> None:
    workload = a_workload("oltp_read_write")
    output = (RECORDINGS / "sysbench_single" / "oltp_read_write_t4_p99.txt").read_bytes()
    answer = send(engineer, output, format="sysbench", workload=str(workload.pk), parameters="")
    assert answer.status_code == 302, html(answer)
    assert Run.objects.get().workload == workload


def test_a_format_that_is_not_chosen_is_recognised(engineer: Client) -> None:
    assert send(engineer, format="")["Location"] == f"/runs/{Run.objects.get().pk}/"
    answer = send(engineer, b"hello\n", format="")
    assert "no format that is recognised: line 1 is 'hello'" in said_of(answer, "file")


def test_the_same_uploaded_twice_is_one_run(engineer: Client) -> None:
    addresses = {send(engineer)["Location"] for _ in range(2)}
    assert len(addresses) == Run.objects.count() == 1
    assert elements(html(engineer.get(addresses.pop())), "[data-message=info]")


def test_the_first_line_that_is_not_of_the_format_stands_beside_the_file(engineer: Client) -> None:
    answer = send(engineer, b"hello\nworld\n")
    assert answer.status_code == 422
    assert "is not an output of tpcc-mysql: line 1 is 'hello'; expected the banner" in said_of(answer, "file")
    assert elements(html(answer), "#file-error")
    assert (Run.objects.count(), Workload.objects.filter(tool="tpcc-mysql").count()) == (0, 0)


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"format": "pgbouncer"}, "format", ""),
        ({"file": None}, "file", "is missing"),
        ({"parameters": ""}, "workload", "choose one, or describe a new one"),
        ({"parameters": "warehouses"}, "parameters", "write name=value"),
        ({"parameters": "isolation=rr"}, "parameters", "parameters.warehouses"),
        ({"started_at": "yesterday"}, "started_at", "is not a time"),
        ({"started_at": "1999-01-01 00:00:00"}, "started_at", "must not lie before 2000"),
        ({"threads": "16"}, "threads", "16 in the description, 8 in the output"),
        ({"warmup": "30"}, "warmup", "states one of 5 s"),
        ({"reason": "it died"}, None, ""),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_what_was_typed_stays(
    engineer: Client, fields: dict[str, Any], field: str | None, said: str
) -> None:
    answer = send(engineer, **fields)
    if field is None:
        assert Run.objects.get().outcome == "failed"
        return
    assert answer.status_code == 422
    assert said in said_of(answer, field)
    assert elements(html(answer), f"#{field}-error")
    assert not Run.objects.exists()
    if "started_at" not in fields:
        assert element(html(answer), "#id_started_at").attributes["value"] == "2026-11-20 10:00:00"


def test_a_file_that_broke_off_needs_a_reason(engineer: Client) -> None:
    broken = content(TPCC).partition(b"STOPPING")[0]
    refused = send(engineer, broken)
    assert "ends before the result" in " ".join(problem.message for problem in refused.context["problems"])
    assert elements(html(refused), "[data-problems] [data-field]")
    send(engineer, broken, reason="the client died")
    assert Run.objects.get().reason == "the client died"


def test_what_has_no_series_says_so_on_its_page(engineer: Client) -> None:
    send(engineer, content("hammerdb/mariadb.log"), format="hammerdb", parameters="warehouses=100")
    page = html(engineer.get(f"/runs/{Run.objects.get().pk}/"))
    assert "no-series" in data(page, "state")
    titles = [each.attributes["title"] or "" for each in elements(page, "#headline [data-metric] dd a")]
    assert any(title.startswith("12,345.") for title in titles)


def test_strangers_sign_in_first_and_readers_may_not(db: None, client: Client) -> None:
    assert client.get(ADDRESS)["Location"].startswith("/sign-in/")
    client.force_login(a_user(username="rob", role="reader"))
    assert client.get(ADDRESS).status_code == send(client).status_code == 403
    assert not Run.objects.exists()


def test_a_post_from_another_site_is_refused(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(a_user(username="ann"))
    assert send(client).status_code == 403


# ---------------------------------------------------------------- attached files


def test_an_attached_digest_is_shown_on_the_runs_page_with_its_units(engineer: Client) -> None:
    run = a_run()
    address = f"/runs/{run.pk}/attach/"
    assert elements(html(engineer.get(f"/runs/{run.pk}/")), f"a[href='{address}']")
    answer = engineer.post(
        address, {"format": "pt-query-digest", "file": a_file(content("pt_query_digest/slow_log.json"))}
    )
    assert (answer.status_code, answer["Location"]) == (302, f"/runs/{run.pk}/?tab=files#tabs")
    page = html(engineer.get(answer["Location"]))
    attached = "[data-attached='pt-query-digest.json']"
    assert "Total time s" in [" ".join(each.text().split()) for each in elements(page, f"{attached} thead th")]
    rows = [" ".join(each.text().split()) for each in elements(page, f"{attached} tbody tr")]
    assert [row for row in rows if "COMMIT 2,884 0.850642" in row]
    assert "35,490 of 63,576" in text(page, f"{attached} [data-note]")


def test_a_profile_is_refused_beside_its_field(engineer: Client) -> None:
    run = a_run()
    answer = engineer.post(f"/runs/{run.pk}/attach/", {"format": "perf-report", "file": a_file(b"nothing\n")})
    assert answer.status_code == 422
    assert "line 1 is 'nothing'; expected perf report's heading" in said_of(answer, "file")
    assert not Artifact.objects.exists()


def test_readers_attach_nothing(db: None, client: Client) -> None:
    client.force_login(a_user(username="rob", role="reader"))
    run = a_run()
    assert client.get(f"/runs/{run.pk}/attach/").status_code == 403
    assert not elements(html(client.get(f"/runs/{run.pk}/")), f"a[href='/runs/{run.pk}/attach/']")
