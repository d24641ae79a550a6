"""Seals that cannot read what came, that die, or that happen at once."""

import gzip
import tarfile
import threading
from datetime import timedelta
from io import BytesIO
from types import ModuleType
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import connection

from apps.core import limits
from apps.runs import seal as runs_seal
from apps.runs.ingest import accept
from apps.runs.models import Artifact, Batch, Event, Measurement, Run, Series
from apps.runs.samples import decode
from apps.runs.storage import artifacts, blocks
from tests.runs.uploads import OUTPUT, an_open_run, an_upload, everything, series
from tests.support import locks
from tests.support.builders import START
from tests.support.waiting import LIMIT, eventually
from workers.protocol import wire

pytestmark = pytest.mark.django_db


def raw(*lines: bytes) -> bytes:
    return gzip.compress(b"\n".join([b'{"run": "x", "sequence": 0}', *lines]))


LAYOUT = b'{"node":"db1","role":"writer","layout":"a","names":["k"]}'


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        (b"no gzip", "not gzip"),
        (raw(b"not json"), "line 2"),
        (raw(LAYOUT, b'["db1",0,["12"]]', b'["db1",1,["13"]]'), "Expected `int | float | null`, got `str`"),
        (raw(LAYOUT, b'["db1",1,[5]]', b'["db1",0,[6]]'), "do not rise"),
        (raw(LAYOUT, b'["db1",0,[5]]', b'["db1",1,[18446744073709551616]]'), "64 bits"),
        (raw(LAYOUT, b'["db1",0,[1e999]]'), "out of range"),
        (raw(b'{"node":"db1","role":"writer","layout":"a","names":["a b"]}', b'["db1",0,[5]]'), "no blank"),
        (raw(b'{"node":"%s","role":"writer","layout":"a","names":["k"]}' % (b"x" * 81)), "at most 80"),
        (raw(b'{"event":{"kind":"k","label":"l","starts_at":5,"ends_at":4}}'), "ends before it starts"),
        (raw(b'{"event":{"kind":"k","label":"a\\u0000b","starts_at":5}}'), "NUL"),
        (raw(b'{"event":{"label":"l"}}'), "`kind`"),
    ],
    ids=lambda value: value if isinstance(value, str) else "batch",
)
def test_batches_that_cannot_be_read_fail_the_run_and_stay(payload: bytes, says: str) -> None:
    upload = an_upload(nodes={})
    upload.batches = [payload]
    run = upload.send()
    assert accept.seal(run_id=run.pk)
    run.refresh_from_db()
    assert run.outcome == "failed"
    assert says in run.reason
    assert Measurement.objects.get(metric__key="client.throughput").value == 1192.63
    with tarfile.open(fileobj=BytesIO(artifacts.read_artifact(Artifact.objects.get(name="batches.tar")))) as archive:
        kept = archive.extractfile("000000.ndjson.gz")
        assert kept is not None
        assert kept.read() == payload


def die(*_: Any, **__: Any) -> None:
    raise MemoryError("killed")


@pytest.mark.parametrize(
    ("module", "at"),
    [
        (runs_seal, "_gather"),
        (blocks, "_write_nodes"),
        (blocks, "_copy"),
        (blocks, "_compare"),
        (runs_seal, "_write_measurements"),
    ],
)
def test_a_worker_that_dies_half_way_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, at: str
) -> None:
    run = an_upload().send()
    before, batches = everything(run), list(Batch.objects.values_list("sequence", "checksum"))
    with monkeypatch.context() as patch:
        patch.setattr(module, at, die)
        with pytest.raises(MemoryError):
            accept.seal(run_id=run.pk)
    assert everything(run) == before
    assert list(Batch.objects.values_list("sequence", "checksum")) == batches
    assert accept.seal(run_id=run.pk) is True
    assert series("mysql.status.Questions").mean == 100


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE runs_block SET data = set_byte(data, 20, 255 - get_byte(data, 20))",
        "UPDATE runs_series SET base = base + 1 WHERE node = 1",
        "UPDATE runs_runnode SET constants = constants || '{\"x\": 1}'",
    ],
)
def test_what_reads_back_differently_is_not_sealed(monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    run = an_upload().send()
    copy = blocks._copy

    def copy_to_a_bad_disk(rows: Any) -> None:
        copy(rows)
        with connection.cursor() as cursor:
            cursor.execute(statement)

    monkeypatch.setattr(blocks, "_copy", copy_to_a_bad_disk)
    with pytest.raises(runs_seal.StoredDifferently):
        accept.seal(run_id=run.pk)
    assert Batch.objects.count() == 3
    assert Run.objects.get().state == "ended"
    assert not Series.objects.exists()


def test_a_damaged_artifact_leaves_the_run_to_be_sealed_later() -> None:
    run = an_upload(output=OUTPUT + b"\n\n").send()
    path = artifacts.path_of(Artifact.objects.get().sha256)
    default_storage.delete(path)
    with pytest.raises(artifacts.DamagedArtifact):
        accept.seal(run_id=run.pk)
    assert Run.objects.get().state == "ended"
    artifacts.keep(OUTPUT + b"\n\n")
    assert accept.seal(run_id=run.pk) is True


@pytest.mark.django_db(transaction=True)
def test_seals_at_once_have_one_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    run = an_upload().send()
    gathered = threading.Barrier(3)
    gather, answers = runs_seal._gather, []

    def gather_together(*arguments: Any) -> Any:
        found = gather(*arguments)
        gathered.wait(timeout=LIMIT)
        return found

    def seal() -> None:
        try:
            answers.append(accept.seal(run_id=run.pk))
        finally:
            connection.close()

    monkeypatch.setattr(runs_seal, "_gather", gather_together)
    threads = [threading.Thread(target=seal) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=LIMIT)
    assert answers == [True, True, True]
    assert Series.objects.filter(metric__key="mysql.status.Questions").count() == 1
    assert Measurement.objects.filter(metric__key="client.throughput").count() == 1
    assert not Batch.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_batch_resent_while_its_run_is_sealed_is_not_stored_again(monkeypatch: pytest.MonkeyPatch) -> None:
    upload = an_upload()
    run = upload.send()
    compare, answers = blocks._compare, []
    resends: list[threading.Thread] = []

    def resend() -> None:
        try:
            answers.append(upload.send_batch(0))
        finally:
            connection.close()

    def compare_meanwhile(*arguments: Any) -> None:
        resends.append(threading.Thread(target=resend))
        resends[0].start()
        eventually(lambda: locks.is_waited_for() or not resends[0].is_alive(), what="the batch waits for the seal")
        compare(*arguments)

    monkeypatch.setattr(blocks, "_compare", compare_meanwhile)
    assert accept.seal(run_id=run.pk)
    resends[0].join(timeout=LIMIT)
    assert answers == [False]
    assert not Batch.objects.exists()


def test_batches_of_a_cancelled_run_with_a_hole_do_not_stop_its_seal() -> None:
    upload = an_upload(output=None)
    upload.send_batch(0)
    upload.send_batch(2)
    upload.end(outcome="cancelled", batches=2, ended_at=(START + timedelta(seconds=9)).isoformat())
    assert accept.seal(run_id=upload.run.pk)
    upload.run.refresh_from_db()
    assert (upload.run.state, upload.run.outcome) == ("sealed", "cancelled")


def test_an_open_run_is_left_alone() -> None:
    assert accept.seal(run_id=an_open_run().pk) is False


def test_a_batch_that_cannot_be_read_is_set_aside_and_the_rest_is_sealed() -> None:
    upload = an_upload(seconds_a_batch=5)
    upload.batches[1] = raw(b"not json")
    run = upload.send()
    assert accept.seal(run_id=run.pk)
    run.refresh_from_db()
    assert (run.state, run.outcome) == ("sealed", "succeeded")
    (event,) = Event.objects.filter(run=run, kind="sampler_error")
    assert event.label.startswith("batch 1 of the samples could not be read (line 2")
    (clock,) = (node.clock for node in blocks.read([run.pk])[run.pk] if node.name == "db1")
    assert [bool(((begin < clock) & (clock < begin + 5)).any()) for begin in (0, 5, 10)] == [True, False, True]
    kept = artifacts.read_artifact(Artifact.objects.get(name="unread-batches.tar"))
    with tarfile.open(fileobj=BytesIO(kept)) as archive:
        assert archive.getnames() == ["000001.ndjson.gz"]
    assert runs_seal.reseal(run_id=run.pk)
    assert Event.objects.get(run=run, kind="sampler_error").pk == event.pk
    assert [artifact.name for artifact in Artifact.objects.filter(run=run).order_by("name")] == [
        "sysbench.txt",
        "unread-batches.tar",
    ]


def test_what_an_older_version_refused_as_a_whole_is_read_at_a_reseal_and_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    upload = an_upload(seconds_a_batch=5)
    upload.batches[1] = raw(b"not json")
    run = upload.send()
    with monkeypatch.context() as older:
        older.setattr(decode, "MOST_UNREAD", 0)
        assert accept.seal(run_id=run.pk)
    run.refresh_from_db()
    assert run.outcome == "failed"
    assert runs_seal.reseal(run_id=run.pk)
    run.refresh_from_db()
    assert run.outcome == "succeeded"
    assert Event.objects.get(run=run, kind="sampler_error").detail["batch"] == 1
    assert not Artifact.objects.filter(name="batches.tar").exists()
    with tarfile.open(fileobj=BytesIO(artifacts.read_artifact(Artifact.objects.get(name="unread-batches.tar")))) as tar:
        kept = tar.extractfile("000001.ndjson.gz")
        assert kept is not None
        assert kept.read() == upload.batches[1]


def test_too_many_unread_batches_are_a_failure() -> None:
    upload = an_upload(seconds_a_batch=2)
    upload.batches[1:6] = [raw(b"not json")] * 5
    run = upload.send()
    assert accept.seal(run_id=run.pk)
    run.refresh_from_db()
    assert (run.outcome, Artifact.objects.filter(name="batches.tar").count()) == ("failed", 1)


def an_event(kind: str, t: float, **detail: bool) -> bytes:
    return wire.to_json({"event": {"kind": kind, "label": "sysbench", "starts_at": t, "detail": detail}})


def test_a_flood_of_events_costs_neither_samples_nor_the_few_of_another_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "EVENTS", 30)
    monkeypatch.setattr(limits, "RARE_EVENTS", 10)
    monkeypatch.setattr(limits, "FEW_EVENTS", 5)
    upload = an_upload()
    # More batches than may be unreadable.
    upload.batches += [raw(*(an_event("node_state", 10 * batch + n) for n in range(10))) for batch in range(8)]
    upload.batches.append(raw(an_event("load", 3.5, is_zero=True)))
    run = upload.send()
    assert accept.seal(run_id=run.pk)
    run.refresh_from_db()
    assert (run.state, run.outcome, run.told["offset"]) == ("sealed", "succeeded", 3.5)
    assert Series.objects.filter(run=run, metric__key="mysql.status.Questions").exists()
    assert Event.objects.filter(run=run, kind="node_state").count() == 30
    (remark,) = Event.objects.filter(run=run, kind="sampler_error")
    words = "50 events were left out: a run keeps 30, and a few more of rare kinds"
    assert (remark.label, remark.starts_at) == (words, 30.0)
    assert not Artifact.objects.filter(run=run, name="unread-batches.tar").exists()


HEAD = b'{"node":"db1","role":"writer","layout":"a","names":['


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        (gzip.compress(b"") * 120_000, "more than 16 gzip members"),
        (gzip.compress(b"0" * 20_000_000, mtime=0), "unpacks to more than"),
        (raw(*(b'{"node":"n%d","role":"","layout":"l","names":[]}' % n for n in range(20_000))), "at most 256 nodes"),
        (raw(HEAD + b",".join(b'"k%d"' % n for n in range(50_000)) + b"]}"), "at most 10,000"),
        (raw(LAYOUT.replace(b"db1", b"db2"), b'["db2",0,[%s]]' % (b"9" * 400)), "line 3"),
        (raw(LAYOUT, *(b'["db1",%d,[%d]]' % (n, n) for n in range(3))) + b"\0" * 1000, "not gzip"),
    ],
    ids=["members", "ratio", "nodes", "names", "digits", "after the end"],
)
def test_a_poisoned_batch_is_sealed_around(payload: bytes, says: str) -> None:
    upload = an_upload()
    upload.batches.append(payload)
    run = upload.send()
    assert accept.seal(run_id=run.pk)
    run.refresh_from_db()
    assert (run.state, run.outcome) == ("sealed", "succeeded")
    assert says in Event.objects.get(run=run, kind="sampler_error").detail["reason"]
