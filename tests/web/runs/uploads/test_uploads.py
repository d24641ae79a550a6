"""Uploading a finished run, and files that say more of one, in pages."""

import re
from html import unescape
from io import BytesIO
from typing import Any

import pytest
from django.test import Client

from apps.catalog.models import System, Workload
from apps.runs.models import Artifact, Run
from tests.paths import RECORDINGS
from tests.runs.tool_output.parsers.outputs import content
from tests.support.builders import a_run, a_system, a_user, a_workload

ADDRESS = "/runs/upload/"
TPCC = "tpcc_mysql/two_intervals.txt"


@pytest.fixture
def engineer(db: None, client: Client) -> Client:
    client.force_login(a_user(username="ann"))
    return client


def words(response: Any) -> str:
    """What a person reads: without tags, blanks joined."""
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", response.content.decode(), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).replace("\xa0", " ").split())


def a_file(text: bytes) -> BytesIO:
    file = BytesIO(text)
    file.name = "output.txt"
    return file


def send(client: Client, text: bytes | None = None, **fields: Any) -> Any:
    """A value of None is left out."""
    form = {
        "format": "tpcc-mysql",
        "file": a_file(content(TPCC) if text is None else text),
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
    page = words(engineer.get(answer["Location"]))
    assert "7,680" in page
    assert "294" in page
    assert "of tpcc-mysql.txt" in page
    assert (run.load_level.threads, run.provenance, run.warmup) == (8, "submitted", 5.0)
    assert run.workload.parameters == {"warehouses": 10, "isolation": "repeatable-read"}


def test_a_known_workload_can_be_chosen_and_sysbench_is_uploaded_as_well(engineer: Client) -> None:
    workload = a_workload("oltp_read_write")
    text = (RECORDINGS / "sysbench_single" / "oltp_read_write_t4_p99.txt").read_bytes()
    answer = send(engineer, text, format="sysbench", workload=str(workload.pk), parameters="")
    assert answer.status_code == 302, words(answer)
    assert Run.objects.get().workload == workload


def test_the_same_uploaded_twice_is_one_run(engineer: Client) -> None:
    addresses = {send(engineer)["Location"] for _ in range(2)}
    assert len(addresses) == Run.objects.count() == 1
    assert "This output was uploaded before" in words(engineer.get(addresses.pop()))


def test_the_first_line_that_is_not_of_the_format_stands_beside_the_file(engineer: Client) -> None:
    answer = send(engineer, b"hello\nworld\n")
    assert answer.status_code == 422
    page = words(answer)
    assert "File : is not an output of tpcc-mysql: line 1 is 'hello'; expected the banner" in page
    assert 'id="file-error"' in answer.content.decode()
    assert (Run.objects.count(), Workload.objects.filter(tool="tpcc-mysql").count()) == (0, 0)


@pytest.mark.parametrize(
    ("fields", "label", "said"),
    [
        ({"format": ""}, "Format", "never guessed"),
        ({"file": None}, "File", "is missing"),
        ({"parameters": ""}, "Workload", "choose one, or describe a new one"),
        ({"parameters": "warehouses"}, "A new workload", "write name=value"),
        ({"parameters": "isolation=rr"}, "A new workload", "parameters.warehouses"),
        ({"started_at": "yesterday"}, "Began", "is not a time"),
        ({"started_at": "1999-01-01 00:00:00"}, "Began", "must lie between"),
        ({"threads": "16"}, "Threads", "16 in the description, 8 in the output"),
        ({"warmup": "30"}, "Warm-up", "states one of 5 s"),
        ({"reason": "it died"}, None, ""),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_what_was_typed_stays(
    engineer: Client, fields: dict[str, Any], label: str | None, said: str
) -> None:
    answer = send(engineer, **fields)
    if label is None:
        assert Run.objects.get().outcome == "failed"
        return
    assert answer.status_code == 422
    page = words(answer)
    assert f"{label} :" in page
    assert said in page
    assert not Run.objects.exists()
    if "started_at" not in fields:
        assert 'value="2026-11-20 10:00:00"' in answer.content.decode()


def test_a_file_that_broke_off_needs_a_reason(engineer: Client) -> None:
    text = content(TPCC).partition(b"STOPPING")[0]
    assert "ends before the result" in words(send(engineer, text))
    send(engineer, text, reason="the client died")
    assert Run.objects.get().reason == "the client died"


def test_what_has_no_series_says_so_on_its_page(engineer: Client) -> None:
    send(engineer, content("hammerdb/mariadb.log"), format="hammerdb", parameters="warehouses=100")
    page = words(engineer.get(f"/runs/{Run.objects.get().pk}/"))
    assert "There is no series: the output holds totals only" in page
    assert "12,345" in page


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
    assert "Attach a digest or profile" in words(engineer.get(f"/runs/{run.pk}/"))
    answer = engineer.post(
        address, {"format": "pt-query-digest", "file": a_file(content("pt_query_digest/slow_log.json"))}
    )
    assert (answer.status_code, answer["Location"]) == (302, f"/runs/{run.pk}/")
    page = words(engineer.get(answer["Location"]))
    assert "Statements by total time" in page
    assert "Total time s" in page
    assert "COMMIT 2,884 0.850642" in page
    assert "35,490 of 63,576 statements" in page


def test_a_profile_is_refused_beside_its_field(engineer: Client) -> None:
    run = a_run()
    answer = engineer.post(f"/runs/{run.pk}/attach/", {"format": "perf-report", "file": a_file(b"nothing\n")})
    assert answer.status_code == 422
    assert "line 1 is 'nothing'; expected perf report's heading" in words(answer)
    assert not Artifact.objects.exists()


def test_readers_attach_nothing(db: None, client: Client) -> None:
    client.force_login(a_user(username="rob", role="reader"))
    run = a_run()
    assert client.get(f"/runs/{run.pk}/attach/").status_code == 403
    assert "Attach a digest" not in words(client.get(f"/runs/{run.pk}/"))
