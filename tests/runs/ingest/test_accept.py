from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.storage import default_storage

from apps.core import limits
from apps.runs.ingest import accept, submit
from apps.runs.ingest.accept import Refused
from apps.runs.models import Artifact, Batch, Configuration, Event, Run, RunNode
from apps.runs.storage import artifacts
from tests.paths import RECORDINGS
from tests.runs.uploads import OUTPUT, an_open_run, an_upload
from tests.support.builders import START, a_load_level, a_system, a_workload
from workers.protocol import wire

pytestmark = pytest.mark.django_db


def test_opening_a_run_twice_changes_nothing() -> None:
    uid, system, workload = uuid4(), a_system(), a_workload()
    first = an_open_run(uid=uid, system=system, workload=workload)
    again = an_open_run(uid=uid, system=system, workload=workload, server_version="other")
    assert again.pk == first.pk
    assert again.server_version == ""
    assert list(RunNode.objects.values_list("name", "number")) == [("db1", 1)]


def test_a_uid_that_belongs_to_another_run_is_refused() -> None:
    uid = uuid4()
    an_open_run(uid=uid)
    with pytest.raises(Refused, match="another system") as refused:
        an_open_run(uid=uid, system=a_system())
    assert refused.value.field == "uid"


def test_variables_are_held_once_per_content() -> None:
    an_open_run(nodes=["db1", "db2"])
    assert Configuration.objects.get().variables == {"port": "3306"}
    assert [node.defaults_id == node.configuration_id for node in RunNode.objects.all()] == [True, True]


def test_no_secret_of_an_agent_is_stored() -> None:
    """Of one that does not leave them out itself."""
    variables = {"primary_conninfo": "password=hunter2", "wsrep_cluster_address": "gcomm://root:hunter2@db1"}
    node = wire.RunNodeMessage(name="db1", role="writer", variables=variables)
    detail = {"text": "IDENTIFIED BY 'hunter2'", "tried": [{"token": "hunter2"}]}
    event = wire.EventMessage(kind="fault", label="mysql -uroot -phunter2", starts_at=1, detail=detail)
    run = an_open_run(nodes=[node], host={"kernel": "6", "boot": "cifs password=hunter2"})
    upload = an_upload(run=run, events=[event])
    upload.send(outcome="failed", reason="mysqldump --password=hunter2 failed")
    assert accept.seal(run_id=run.pk)
    run.refresh_from_db()
    assert (run.reason, run.host["boot"]) == ("mysqldump --password=* failed", "cifs password=*")
    assert Configuration.objects.get().variables == {"wsrep_cluster_address": "gcomm://root:*@db1"}
    stored = Event.objects.get(kind="fault")
    assert (stored.label, stored.detail) == (
        "mysql -uroot -p*",
        {"text": "IDENTIFIED BY '*'", "tried": [{"token": "*"}]},
    )


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"started_at": "yesterday"}, "started_at"),
        ({"started_at": "2026-01-01T12:00:00"}, "started_at"),
        ({"started_at": "0001-01-01T00:00:00+14:00"}, "started_at"),
        ({"started_at": "1999-12-31T23:59:59Z"}, "started_at"),
        ({"started_at": "9999-12-31T23:59:59-14:00"}, "started_at"),
        ({"warmup": -1.0}, "warmup"),
        ({"server_version": "x" * 121}, "server_version"),
        ({"command": "x" * 20_001}, "command"),
        ({"host": {"kernel": "6\0"}}, "host"),
        ({"nodes": [wire.RunNodeMessage(name="a"), wire.RunNodeMessage(name="a")]}, "nodes"),
        ({"nodes": [wire.RunNodeMessage(name="")]}, "nodes.0.name"),
    ],
)
def test_a_run_that_cannot_be_held_is_refused_by_field(fields: dict[str, Any], field: str) -> None:
    nodes = fields.pop("nodes", None)
    message = wire.RunMessage(
        **{
            "job": 1,
            "attempt": 1,
            "load_level": wire.LoadLevelMessage(threads=4),
            "started_at": START.isoformat(),
            "warmup": 0.0,
            "duration": 1.0,
            "nodes": nodes or [],
            **fields,
        }
    )
    with pytest.raises(Refused) as refused:
        accept.open_run(
            uid=uuid4(),
            system=a_system(),
            workload=a_workload(),
            load_level=a_load_level(),
            repetition=1,
            provenance="agent",
            message=message,
        )
    assert refused.value.field == field


def test_batch_sent_twice_changes_nothing() -> None:
    upload = an_upload()
    assert upload.send_batch(0) is True
    assert upload.send_batch(0) is False
    assert Batch.objects.count() == 1
    assert bytes(Batch.objects.get().payload) == upload.batches[0]


def test_batches_may_come_in_any_order() -> None:
    upload = an_upload()
    assert [upload.send_batch(sequence) for sequence in (1, 0, 2)] == [True, True, True]


def test_a_damaged_batch_is_not_stored() -> None:
    upload = an_upload()
    with pytest.raises(Refused, match="not the SHA-256") as refused:
        accept.accept_batch(
            run=upload.run, sequence=0, checksum=wire.checksum(upload.batches[0]), payload=upload.batches[0][:-1]
        )
    assert refused.value.field == "checksum"
    assert not Batch.objects.exists()


def test_another_batch_under_the_same_number_is_refused() -> None:
    upload = an_upload()
    upload.send_batch(0)
    with pytest.raises(Refused, match="stored with other content"):
        accept.accept_batch(
            run=upload.run, sequence=0, checksum=wire.checksum(upload.batches[1]), payload=upload.batches[1]
        )


def test_a_batch_beyond_the_limit_is_refused() -> None:
    payload = bytes(limits.BATCH + 1)
    with pytest.raises(Refused, match="at most"):
        accept.accept_batch(run=an_open_run(), sequence=0, checksum=wire.checksum(payload), payload=payload)


def test_a_sealed_run_knows_its_batches_and_takes_no_new_one() -> None:
    upload = an_upload()
    run = upload.send()
    assert accept.seal(run_id=run.pk)
    assert upload.send_batch(1) is False
    assert upload.send_output() is False
    upload.batches += [upload.batches[0]] * 2
    with pytest.raises(Refused, match="ended with 3 batches"):
        upload.send_batch(3)
    with pytest.raises(Refused, match="complete"):
        accept.accept_artifact(run=run, name="late.txt", sha256=wire.checksum(b"x"), content=b"x")
    assert not Batch.objects.exists()


def test_ending_twice_changes_nothing_and_contradicting_is_refused() -> None:
    upload = an_upload()
    upload.send()
    upload.end()
    with pytest.raises(Refused, match="ended with 3, not 2"):
        upload.end(batches=2)
    with pytest.raises(Refused, match="ended as succeeded, not failed"):
        upload.end(outcome="failed", reason="no")
    with pytest.raises(Refused, match="artifacts"):
        upload.end(artifacts=[])
    accept.seal(run_id=upload.run.pk)
    upload.end()
    with pytest.raises(Refused):
        upload.end(outcome="cancelled")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"outcome": "great"}, "outcome"),
        ({"outcome": "failed"}, "reason"),
        ({"batches": 2}, "batches"),
        ({"batches": -1}, "batches"),
        ({"measured_from": 5.0, "measured_to": 4.0}, "measured_to"),
        ({"measured_from": 5.0}, "measured_to"),
        ({"ended_at": "later"}, "ended_at"),
        ({"ended_at": "0001-01-01T00:00:00+14:00"}, "ended_at"),
        ({"ended_at": "9999-12-31T23:59:59-14:00"}, "ended_at"),
        ({"artifacts": [wire.ArtifactMessage(name="../x", sha256="0" * 64, size=1)]}, "artifacts.0.name"),
        ({"artifacts": [wire.ArtifactMessage(name="x", sha256="0", size=1)]}, "artifacts.0.sha256"),
        ({"artifacts": [wire.ArtifactMessage(name="sysbench.txt", sha256="0" * 64, size=1)]}, "artifacts.sysbench.txt"),
    ],
)
def test_an_end_that_cannot_be_is_refused_by_field(fields: dict[str, Any], field: str) -> None:
    upload = an_upload()
    for sequence in range(3):
        upload.send_batch(sequence)
    upload.send_output()
    with pytest.raises(Refused) as refused:
        upload.end(**fields)
    assert refused.value.field == field
    assert Run.objects.get().state == "open"


def test_an_artifact_is_kept_under_its_hash() -> None:
    upload = an_upload()
    assert upload.send_output() is True
    assert upload.send_output() is False
    artifact = Artifact.objects.get()
    assert (artifact.size, artifact.sha256) == (len(OUTPUT), wire.checksum(OUTPUT))
    with artifacts.open_artifact(artifact) as content:
        assert content.read() == OUTPUT


def test_a_half_written_file_of_a_crash_is_written_again() -> None:
    sha256 = artifacts.keep(b"whole")
    path = default_storage.path(artifacts.path_of(sha256))
    with open(path, "wb") as half:
        half.write(b"wh")
    run = an_open_run()
    accept.accept_artifact(run=run, name="a.txt", sha256=sha256, content=b"whole")
    assert artifacts.read_artifact(Artifact.objects.get()) == b"whole"


def test_an_artifact_that_changed_in_storage_is_never_served() -> None:
    upload = an_upload(output=OUTPUT + b"\n")
    upload.send_output()
    artifact = Artifact.objects.get()
    with open(default_storage.path(artifacts.path_of(artifact.sha256)), "ab") as file:
        file.write(b"x")
    with pytest.raises(artifacts.DamagedArtifact, match="has changed"):
        artifacts.read_artifact(artifact)
    default_storage.delete(artifacts.path_of(artifact.sha256))
    with pytest.raises(artifacts.DamagedArtifact, match="restore"):
        artifacts.read_artifact(artifact)


@pytest.mark.parametrize("name", ["", "../passwd", "a/b", ".hidden", "x" * 121, "batches.tar"])
def test_a_name_that_is_no_file_name_is_refused(name: str) -> None:
    with pytest.raises(Refused) as refused:
        accept.accept_artifact(run=an_open_run(), name=name, sha256=wire.checksum(b"x"), content=b"x")
    assert refused.value.field == "name"


def submitted(**fields: Any) -> Run:
    defaults: dict[str, Any] = {"output": OUTPUT, "started_at": START, "warmup": 0}
    # Of what printed OUTPUT.
    fields.setdefault("workload", a_workload("oltp_read_write"))
    for name, build in (("system", a_system), ("load_level", a_load_level)):
        if name not in fields:
            fields[name] = build()
    return submit.submit(**{**defaults, **fields})


def test_a_submitted_output_becomes_a_run_that_can_be_sealed() -> None:
    run = submitted(tags=["b", "a", "b"], server_version="10.11.19-MariaDB", variables={"port": "3306"})
    assert (run.state, run.provenance, run.tags) == ("ended", "submitted", ["a", "b"])
    assert run.ended_at == START + timedelta(seconds=20.0061)
    assert run.tool_version == "1.0.20"
    assert accept.seal(run_id=run.pk)
    run.refresh_from_db()
    assert (run.state, run.outcome, run.measured_from, run.measured_to) == ("sealed", "succeeded", 0.0, 20.0061)
    assert [(node.name, node.number) for node in run.nodes.all()] == [("client", 0), ("db1", 1)]


def test_submitting_twice_under_one_uid_is_one_run() -> None:
    what: dict[str, Any] = {"uid": uuid4(), "system": a_system(), "tags": ["x"]}
    first = submitted(**what)
    accept.seal(run_id=first.pk)
    assert submitted(**what).pk == first.pk
    assert Run.objects.count() == 1
    with pytest.raises(Refused) as refused:
        submitted(**what, output=OUTPUT.replace(b"23861", b"23862"))
    assert refused.value.field == "output"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"output": b" \n"}, "output"),
        ({"started_at": datetime(2026, 1, 1)}, "started_at"),  # noqa: DTZ001
        ({"warmup": 5}, "warmup"),
        ({"tags": [""]}, "tags"),
        ({"output": OUTPUT.replace(b"of threads: 4", b"of threads: 8")}, "load_level.threads"),
        (
            {"output": OUTPUT.replace(b"threads: 4\n", b"threads: 4\nTarget transaction rate: 9/sec\n")},
            "load_level.rate",
        ),
    ],
)
def test_a_description_that_contradicts_its_output_is_refused(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(Refused) as refused:
        submitted(**fields)
    assert refused.value.field == field
    assert not Run.objects.exists()


SINGLE = RECORDINGS / "sysbench_single"
MIXES = {
    "oltp_read_write": SINGLE / "oltp_read_write_t4_p95_hist.txt",
    "oltp_point_select": SINGLE / "oltp_point_select_t4_p95_hist.txt",
    "oltp_read_only": RECORDINGS / "galera_120s" / "phase4_ro_t4_reader.txt",
    "oltp_write_only": SINGLE / "oltp_write_only_t4_p95_hist.txt",
    "oltp_insert": SINGLE / "oltp_insert_t4_p95_hist.txt",
    "oltp_update_index": SINGLE / "oltp_update_index_t4_p95_hist.txt",
}


@pytest.mark.parametrize("test", MIXES)
def test_an_output_goes_with_the_test_that_printed_it(test: str) -> None:
    assert submitted(workload=a_workload(test), output=MIXES[test].read_bytes()).state == "ended"


@pytest.mark.parametrize(
    ("test", "printed"),
    [
        ("oltp_write_only", "oltp_point_select"),
        ("oltp_write_only", "oltp_read_write"),
        ("oltp_insert", "oltp_read_only"),
        ("oltp_update_index", "oltp_read_write"),
        ("oltp_point_select", "oltp_read_write"),
        ("oltp_read_only", "oltp_insert"),
        ("oltp_read_write", "oltp_write_only"),
        ("oltp_read_write", "oltp_point_select"),
    ],
)
def test_an_output_whose_statements_are_of_another_test_is_refused(test: str, printed: str) -> None:
    with pytest.raises(Refused, match=f"is {test}, but the output counts .* writes: name the test") as refused:
        submitted(workload=a_workload(test), output=MIXES[printed].read_bytes())
    assert refused.value.field == "workload.parameters.test"
    assert not Run.objects.exists()


def test_a_mix_without_its_writes_may_be_an_option_of_the_workload() -> None:
    no_writes = {"index_updates": 0, "non_index_updates": 0, "delete_inserts": 0}
    output = MIXES["oltp_read_only"].read_bytes()
    assert submitted(workload=a_workload("oltp_read_write", **no_writes), output=output).state == "ended"
