"""A submitted run may bring what an agent's run has: samples, command line, host, defaults, size of its data."""

import gzip
import io
from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from apps.core import limits
from apps.runs.models import Event, Run, Series
from tests.rest.submissions import a_description, a_file, fields_of, send
from workers import tasks
from workers.protocol import wire

UID = str(uuid4())
HOST = {"name": "load1", "cpus": 4}


def a_batch(*, run: str = UID, sequence: int = 0, questions: int = 1000, states: int = 0) -> io.BytesIO:
    encoder = wire.BatchEncoder(run=run, sequence=sequence)
    for second in range(30):
        values = {"mysql.status.Questions": questions * second, "mysql.status.Uptime": 500 + second}
        encoder.add_sample(node="db1", role="writer", t=30 * sequence + second + 0.25, values=values)
    load = wire.EventMessage(kind="load", label="sysbench", starts_at=1.5, node="client", detail={"is_zero": True})
    for number in range(states):
        encoder.add_event(wire.EventMessage(kind="node_state", label="ON", starts_at=number / 100, node="db1"))
    encoder.add_event(load)
    return a_file(encoder.flush()[1], "samples.gz")


def described(**changes: Any) -> dict[str, Any]:
    more = {
        "uid": UID,
        "command": "sysbench --mysql-password=swordfish run",
        "host": HOST,
        "variables": {"port": "3306", "hostname": "db1"},
        "defaults": {"port": "0"},
        "data_bytes": 12345,
    }
    return a_description(**more | changes)


def test_samples_become_series_on_the_runs_clock(engineer: APIClient) -> None:
    answer = send(engineer, described(), samples=[a_batch()])
    assert answer.status_code == 201, answer.content
    run = Run.objects.get()
    assert (run.command, run.host, run.data_bytes) == ("sysbench --mysql-password=* run", HOST, 12345)
    assert run.server_started_at is not None
    assert run.measured_from == 1.5
    keys = set(Series.objects.filter(run=run).values_list("metric__key", flat=True))
    assert {"mysql.status.Questions", "client.throughput"} <= keys
    node = run.nodes.get(name="db1")
    assert node.configuration is not None
    assert node.defaults is not None
    assert node.defaults.variables == {"port": "0"}
    assert send(engineer, described(), samples=[a_batch()]).status_code == 200
    assert send(engineer, described(host={"name": "load2"}), samples=[a_batch()]).status_code == 409
    assert Run.objects.count() == 1


@pytest.mark.parametrize("is_sealed", [True, False])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([], [a_batch()]),
        ([a_batch()], []),
        ([a_batch()], [a_batch(questions=7)]),
        ([a_batch()], [a_batch(), a_batch(sequence=1)]),
    ],
)
def test_other_samples_of_a_known_run_are_a_conflict(
    engineer: APIClient,
    monkeypatch: pytest.MonkeyPatch,
    first: list[io.BytesIO],
    second: list[io.BytesIO],
    is_sealed: bool,
) -> None:
    if not is_sealed:
        monkeypatch.setattr(tasks, "seal_at_once", lambda _: None)
    for samples, status in ((first, 201), (second, 409), (first, 200)):
        for each in samples:
            each.seek(0)
        answer = send(engineer, described(), samples=samples)
        assert answer.status_code == status, answer.content
        assert status != 409 or fields_of(answer) == ["samples"]
    assert Run.objects.get().state == ("sealed" if is_sealed else "ended")


def test_bad_samples_are_refused_for_a_known_run_too(engineer: APIClient) -> None:
    assert send(engineer, described()).status_code == 201
    for samples in ([a_file(b"no gzip")], [a_batch(run=str(uuid4()))]):
        answer = send(engineer, described(), samples=samples)
        assert (answer.status_code, fields_of(answer)) == (422, ["samples"]), answer.content


def test_samples_of_another_run_or_unreadable_ones_are_refused(engineer: APIClient) -> None:
    for samples in (
        [a_file(b"no gzip")],
        [a_batch(run=str(uuid4()))],
        [a_batch(sequence=1)],
        [a_batch(), a_batch()],
        [a_batch(), a_file(a_batch(sequence=1).getvalue()[:-9])],
    ):
        answer = send(engineer, described(), samples=samples)
        assert (answer.status_code, fields_of(answer)) == (422, ["samples"]), answer.content
    for head in (b"no json", b'{"run":%s}' % (b"[" * 900 + b"]" * 900), b"[" * 100_000):
        odd = gzip.compress(b"\n".join([head, *gzip.decompress(a_batch().getvalue()).splitlines()[1:]]))
        answer = send(engineer, described(), samples=[a_file(odd)])
        assert (answer.status_code, fields_of(answer)) == (422, ["samples"]), answer.content
    assert fields_of(send(engineer, described(), samples="a text")) == ["samples"]
    assert fields_of(send(engineer, described(variables=...))) == ["defaults"]
    assert fields_of(send(engineer, described(host={"name": ["a"]}))) == ["host.name"]
    assert not Run.objects.exists()


def test_as_many_events_of_one_kind_as_documented_are_taken_and_the_load_beside_them(
    engineer: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "EVENTS", 30)
    monkeypatch.setattr(limits, "RARE_EVENTS", 10)
    monkeypatch.setattr(limits, "FEW_EVENTS", 5)
    answer = send(engineer, described(), samples=[a_batch(states=31)])
    assert (answer.status_code, fields_of(answer)) == (422, ["samples"]), answer.content
    assert b"have 32 events; a run keeps 30, and a few more of rare kinds" in answer.content
    answer = send(engineer, described(), samples=[a_batch(states=30)])
    assert answer.status_code == 201, answer.content
    assert Event.objects.filter(kind="node_state").count() == 30
    assert Event.objects.filter(kind="load").count() == 1
