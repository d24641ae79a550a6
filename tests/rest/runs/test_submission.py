"""Submitting a finished run without an agent: what is stored, what is refused, and that twice is once."""

import errno
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from apps.catalog.models import System
from apps.core.server import space
from apps.runs.ingest import accept
from apps.runs.models import Run
from apps.runs.storage import artifacts
from tests.rest.submissions import CHECKPOINTS, NO_TABLE, POINT_SELECT, RATE_200, a_description, a_file, fields_of, send
from tests.support.builders import a_system, a_user, a_workload
from workers import tasks


def test_the_answer_names_the_page_and_the_numbers_that_sysbench_printed(engineer: APIClient) -> None:
    answer = send(engineer, a_description())
    assert answer.status_code == 201, answer.content
    document = answer.json()
    values = {entry["metric"]: (entry["value"], entry["unit"]) for entry in document["measurements"]}
    assert values["client.throughput"] == (44980.11, "transactions/s")
    assert values["client.latency.p99"] == (2.52, "ms")
    assert (document["state"], document["outcome"], document["unparsed_lines"]) == ("sealed", "succeeded", 0)
    assert document["address"] == f"http://testserver/runs/{document['id']}/"
    assert engineer.get(document["api"]).json()["load_level"]["threads"] == 16


def test_every_measurement_can_be_read_again_from_the_bytes_that_it_names(engineer: APIClient) -> None:
    document = send(engineer, a_description()).json()
    detail = engineer.get(document["api"]).json()
    (artifact,) = detail["artifacts"]
    raw = b"".join(engineer.get(artifact["address"]))
    assert raw == POINT_SELECT.read_bytes()
    assert detail["measurements"]
    for entry in detail["measurements"]:
        assert entry["sha256"] == artifact["sha256"]
        assert float(raw[entry["byte_start"] : entry["byte_end"]].rstrip(b"s")) == entry["value"]


def test_the_same_sent_twice_is_one_run(engineer: APIClient) -> None:
    first, second = (send(engineer, a_description()) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    assert Run.objects.count() == 1


@pytest.mark.parametrize(("minutes", "status"), [(5, 201), (15, 422)])
def test_a_run_starts_in_the_future_by_no_more_than_clocks_differ(
    engineer: APIClient, minutes: int, status: int
) -> None:
    started_at = timezone.now() + timedelta(minutes=minutes)
    answer = send(engineer, a_description(started_at=started_at.isoformat()))
    assert answer.status_code == status, answer.content
    if status == 422:
        assert fields_of(answer) == ["started_at"]
        assert "at most 10 minutes ahead of the server's clock, which shows 2" in answer.json()["detail"]


def test_a_repetition_is_another_run(engineer: APIClient) -> None:
    ids = {send(engineer, a_description(repetition=number)).json()["id"] for number in (1, 2, 3)}
    assert len(ids) == 3


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"started_at": "2026-11-20T11:00:00Z"}, "started_at"),
        ({"repetition": 2}, "repetition"),
        ({"tags": ["other"]}, "tags"),
        ({"variables": {"port": "3306"}}, "variables"),
        ({"server_version": "11.4"}, "server_version"),
        ({"workload": {"parameters": {"test": "oltp_point_select", "tables": 8, "table_size": 1}}}, "workload"),
    ],
)
def test_another_run_under_a_known_uid_is_a_conflict(engineer: APIClient, change: dict[str, Any], word: str) -> None:
    uid = str(uuid4())
    assert send(engineer, a_description(uid=uid)).status_code == 201
    answer = send(engineer, a_description(uid=uid) | change)
    assert (answer.status_code, fields_of(answer)) == (409, [word])
    assert "was submitted under this uid (runs do not change: " in answer.json()["detail"]
    assert send(engineer, a_description(uid=uid)).status_code == 200


def test_another_output_under_a_known_uid_is_a_conflict(engineer: APIClient) -> None:
    uid = str(uuid4())
    send(engineer, a_description(uid=uid))
    answer = send(engineer, a_description(uid=uid), POINT_SELECT.read_bytes().replace(b"210.10", b"110.10"))
    assert (answer.status_code, fields_of(answer)) == (409, ["output"])


def test_conflict_names_what_differs_and_no_uid_that_nobody_gave(engineer: APIClient) -> None:
    run = send(engineer, a_description()).json()["id"]
    answer = send(engineer, a_description(tags=["other"], session="s"))
    assert (answer.status_code, fields_of(answer)) == (409, ["tags", "session"])
    assert answer.json()["detail"] == (
        f"tags, session: not as in run {run}, which has the same system, workload, load level, start, repetition and "
        "output (runs do not change: to store another run, give a uid of your own)"
    )


def test_a_warm_up_that_nobody_states_ends_at_the_outputs_checkpoint(engineer: APIClient) -> None:
    workload = {"parameters": {"test": "oltp_read_write", "tables": 4, "table_size": 100000}}
    description = a_description(workload=workload)
    sent = [send(engineer, description, CHECKPOINTS.read_bytes()) for _ in range(2)]
    assert [each.status_code for each in sent] == [201, 200], sent[0].content
    assert engineer.get(sent[0].json()["api"]).json()["warmup"] == 5
    stated = send(engineer, description | {"warmup": 0}, CHECKPOINTS.read_bytes())
    assert (stated.status_code, fields_of(stated)) == (409, ["warmup"])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("uid", [str(uuid4()), ...], ids=["given", "derived"])
def test_of_equal_submissions_at_once_one_creates_the_run(uid: Any) -> None:
    user = a_user(role="engineer")
    both = Barrier(2)

    def one(_: int) -> int:
        client = APIClient()
        client.force_authenticate(user)
        try:
            both.wait(timeout=30)
            return int(send(client, a_description(uid=uid)).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(one, range(2))) == [200, 201]
    assert Run.objects.count() == 1


def test_plain_form_fields_do_for_a_known_system_and_workload(engineer: APIClient) -> None:
    system, workload = a_system("known"), a_workload("oltp_point_select")
    answer = send(
        engineer, system="known", workload=str(workload.pk), started_at="2026-11-20T10:00:00Z", tag=["a", "b"]
    )
    assert answer.status_code == 201, answer.content
    run = Run.objects.get()
    assert (run.system, run.workload, run.load_level.threads) == (system, workload, 16)
    assert (run.tags, run.provenance) == (["a", "b"], "submitted")


def test_what_the_server_was_set_to_is_kept_with_the_run(engineer: APIClient) -> None:
    description = a_description(variables={"innodb_buffer_pool_size": "134217728"}, server_version="10.11.19")
    api = send(engineer, description).json()["api"]
    detail = engineer.get(api).json()
    variables = [node["variables"] for node in detail["nodes"] if node["variables"] is not None]
    assert variables == [{"innodb_buffer_pool_size": "134217728"}]
    assert detail["server_version"] == "10.11.19"


def test_the_rate_is_taken_from_the_output(engineer: APIClient) -> None:
    workload = {"parameters": {"test": "oltp_read_write", "tables": 4, "table_size": 100000}}
    answer = send(engineer, a_description(workload=workload), RATE_200.read_bytes())
    detail = engineer.get(answer.json()["api"]).json()
    assert detail["load_level"] == {"text": "8 threads, 200/s", "threads": 8, "rate": 200.0}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"system": ...}, "system"),
        ({"system": "nowhere"}, "system"),
        ({"system": 5}, "system"),
        ({"system": {"slug": "x"}}, "system.platform"),
        ({"workload": ...}, "workload"),
        ({"workload": 10**9}, "workload"),
        ({"workload": [1]}, "workload"),
        ({"workload": {"tool": "hammerdb", "parameters": {}}}, "workload.tool"),
        ({"workload": {"parameters": {"test": "oltp_point_select", "tables": 4}}}, "workload.parameters.table_size"),
        ({"workload": {"parameters": {"test": {"a": 1}}}}, "workload.parameters.test"),
        ({"workload": {"parameters": {"threads": 4}}}, "workload.parameters.threads"),
        ({"load_level": {"threads": 4}}, "load_level.threads"),
        (
            {"workload": {"parameters": {"test": "oltp_write_only", "tables": 4, "table_size": 9}}},
            "workload.parameters.test",
        ),
        ({"load_level": {"rate": 100}}, "load_level.rate"),
        ({"load_level": {"threads": "many"}}, "load_level.threads"),
        ({"load_level": 4}, "load_level"),
        ({"started_at": ...}, "started_at"),
        ({"started_at": "yesterday"}, "started_at"),
        ({"started_at": "0001-01-01T00:00:00+14:00"}, "started_at"),
        ({"started_at": "9999-12-31T23:59:59-14:00"}, "started_at"),
        ({"warmup": -1}, "warmup"),
        ({"warmup": "nan"}, "warmup"),
        ({"warmup": 5}, "warmup"),
        ({"repetition": 0}, "repetition"),
        ({"tags": "a"}, "tags"),
        ({"tags": [""]}, "tags.0"),
        ({"variables": {"a": None}}, "variables.a"),
        ({"uid": "abc"}, "uid"),
        ({"outcome": "great"}, "outcome"),
        ({"reason": "because"}, "reason"),
        ({"outcome": "failed"}, "reason"),
        ({"treads": 4}, "treads"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(engineer: APIClient, change: dict[str, Any], field: str) -> None:
    answer = send(engineer, a_description(**change))
    assert answer.status_code == 422, answer.content
    assert field in fields_of(answer)
    assert not Run.objects.exists()
    assert not System.objects.exists()


def test_an_output_without_a_result_is_refused_with_what_sysbench_said(engineer: APIClient) -> None:
    answer = send(engineer, a_description(), NO_TABLE.read_bytes())
    assert (answer.status_code, fields_of(answer)) == (422, ["output"])
    assert "mysql_stmt_prepare() failed" in answer.json()["detail"]
    assert not Run.objects.exists()


def test_an_output_that_shows_a_password_is_refused_by_its_line_without_showing_it(engineer: APIClient) -> None:
    output = b"+ sysbench --mysql-password=hunter2 run\n" + POINT_SELECT.read_bytes()
    answer = send(engineer, a_description(), output)
    assert (answer.status_code, fields_of(answer)) == (422, ["output"])
    assert "in line 1: write * in its place" in answer.json()["detail"]
    assert "hunter2" not in answer.content.decode()
    assert not Run.objects.exists()
    assert send(engineer, a_description(), output.replace(b"hunter2", b"***")).status_code == 201


def test_a_cut_output_is_refused(engineer: APIClient) -> None:
    whole = POINT_SELECT.read_bytes()
    for end in (whole.index(b"SQL statistics"), whole.index(b"99th percentile"), whole.index(b"Threads fairness")):
        answer = send(engineer, a_description(), whole[:end])
        assert (answer.status_code, fields_of(answer)) == (422, ["output"])


@pytest.mark.parametrize("output", [b"", b"\n \n", b"\0\xff\xfe", b"hello", b"[ 1s ] thds: 4"])
def test_what_sysbench_never_printed_is_refused(engineer: APIClient, output: bytes) -> None:
    answer = send(engineer, a_description(), output)
    assert (answer.status_code, fields_of(answer)) == (422, ["output"])


def test_a_failed_run_is_kept_when_it_is_said_to_be_one(engineer: APIClient) -> None:
    workload = {"parameters": {"test": "oltp_read_write", "tables": 4, "table_size": 100000}}
    answer = send(engineer, a_description(workload=workload, outcome="failed"), NO_TABLE.read_bytes())
    assert answer.status_code == 201, answer.content
    document = answer.json()
    assert (document["outcome"], document["measurements"]) == ("failed", [])
    assert "mysql_stmt_prepare() failed" in document["reason"]


def test_lines_that_nobody_understands_are_counted_whatever_bytes_they_hold(engineer: APIClient) -> None:
    answer = send(engineer, a_description(), POINT_SELECT.read_bytes() + b"\xff\xfe strange \0 line\nanother\n")
    assert (answer.status_code, answer.json()["unparsed_lines"]) == (201, 2)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"colour": "red"}, "colour"),
        ({"threads": ["1", "2"]}, "threads"),
        ({"threads": "16"}, None),
        ({"repetition": "2"}, None),
        ({"system": "my-server"}, "system"),
        ({"system": a_file(b"my-server")}, "system"),
        ({"tag": "\0"}, "tags.0"),
    ],
)
def test_form_fields_are_as_strict_as_the_description(
    engineer: APIClient, fields: dict[str, Any], field: str | None
) -> None:
    answer = send(engineer, a_description(), **fields)
    if field is None:
        assert answer.status_code == 201, answer.content
    else:
        assert (answer.status_code, fields_of(answer)) == (422, [field])


@pytest.mark.parametrize(
    "description", [b"", b"{", b"\xff", b"[]", b"null", b"NaN", b'{"a": 1, "a": 2}', b"{" * 100_000, b'"\\ud800"']
)
def test_a_description_that_is_no_json_object_is_named(engineer: APIClient, description: bytes) -> None:
    answer = send(engineer, description)
    assert (answer.status_code, fields_of(answer)) == (422, ["description"])


def test_answer_has_what_the_next_submission_needs(engineer: APIClient) -> None:
    first = send(engineer, a_description()).json()
    second = send(
        engineer,
        system=first["system"]["slug"],
        workload=str(first["workload"]["id"]),
        started_at="2026-11-20T11:00:00Z",
    )
    assert second.status_code == 201, second.content
    assert second.json()["workload"] == first["workload"]


def test_the_output_must_be_one_file(engineer: APIClient) -> None:
    text = engineer.post("/api/v1/runs/", {"output": "sysbench 1.0.20"}, format="multipart")
    none = engineer.post("/api/v1/runs/", {"system": "x"}, format="multipart")
    two = engineer.post("/api/v1/runs/", {"output": [a_file(b"a"), a_file(b"b")]}, format="multipart")
    for answer in (text, none, two):
        assert (answer.status_code, fields_of(answer)) == (422, ["output"])


@pytest.mark.parametrize(
    ("body", "media_type", "status"),
    [
        (b"{}", "application/json", 415),
        (b"x", "text/plain", 415),
        (b"x", "multipart/form-data", 400),
        (b"x", "multipart/form-data; boundary=b", 422),
        (b'--b\r\nContent-Disposition: form-data; name="output"\r\n\r\nx', "multipart/form-data; boundary=b", 422),
        (b"", "application/json", 422),
    ],
)
def test_a_body_that_is_no_form_is_a_problem(engineer: APIClient, body: bytes, media_type: str, status: int) -> None:
    answer = engineer.post("/api/v1/runs/", body, content_type=media_type)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert status != 415 or "Send multipart/form-data" in answer.json()["detail"]


def test_a_form_of_a_thousand_fields_is_a_problem(engineer: APIClient) -> None:
    answer = send(engineer, None, tag=["x"] * 1500)
    assert answer.status_code in (400, 413)
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("length", ["many", "-1"])
def test_length_that_is_no_number_is_a_problem(engineer: APIClient, length: str) -> None:
    answer = engineer.post("/api/v1/runs/", b"x", content_type="multipart/form-data; boundary=b", CONTENT_LENGTH=length)
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert f"Content-Length is '{length}'" in answer.json()["detail"]


def test_full_disk_stores_nothing_and_is_named_with_its_remedy(
    engineer: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(artifacts, "keep", full)
        answer = send(engineer, a_description())
    assert (answer.status_code, answer["Content-Type"]) == (507, "application/problem+json")
    assert "free some space" in answer.json()["detail"]
    assert not Run.objects.exists()
    assert not System.objects.exists()
    monkeypatch.setattr(space, "gate", space.SpaceGate())
    assert send(engineer, a_description()).status_code == 201


def test_submitting_needs_an_engineer(anyone: APIClient, reader: APIClient) -> None:
    assert [send(client, a_description()).status_code for client in (anyone, reader)] == [401, 403]
    assert not Run.objects.exists()


def test_a_run_that_cannot_be_sealed_at_once_is_kept_and_given_to_a_task(
    engineer: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int] = []

    def fail(*, run_id: int) -> bool:
        raise OSError("disk full")

    def enqueue(_task: object, *, run_id: int) -> bool:
        given.append(run_id)
        return True

    with monkeypatch.context() as patch:
        patch.setattr(accept, "seal", fail)
        patch.setattr(tasks, "enqueue", enqueue)
        answer = send(engineer, a_description())
    assert (answer.status_code, answer.json()["state"]) == (201, "ended")
    assert given == [answer.json()["id"]]
    assert accept.seal(run_id=given[0])
    assert engineer.get(answer.json()["api"]).json()["measurements"]
