from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from apps.runs import seal
from apps.runs.ingest import accept
from apps.runs.models import Artifact, Block, Event, Measurement, Run, Series
from apps.runs.storage import blocks
from apps.runs.tool_output import sysbench_values as reading
from tests.runs.uploads import OUTPUT, a_minute, an_upload, everything
from workers.protocol.wire import BadBatch, EventMessage

pytestmark = pytest.mark.django_db

FAULT = EventMessage(kind="fault", label="kill -9", starts_at=5.0, node="db1")


def sealed(**what: Any) -> Run:
    run = an_upload(events=[FAULT], **what).send()
    assert accept.seal(run_id=run.pk)
    return Run.objects.get(pk=run.pk)


def kept(run: Run) -> dict[str, Any]:
    """All but when it was sealed."""
    found = everything(run)
    del found["run"]["sealed_at"]
    for row in (*found["events"], *found["measurements"], *found["distributions"]):
        del row["id"]
    return found


def test_sealed_again_by_the_same_rules_a_run_is_the_same() -> None:
    run = sealed(nodes={"db1": a_minute(), "db2": a_minute()[7:]}, lines=[(1.5, "[ 1s ] thds: 4 tps: 5.00")])
    before = kept(run)
    assert seal.reseal(run_id=run.pk)
    assert kept(run) == before


def test_newer_rules_apply_to_what_the_tool_printed_and_samples_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    run = sealed()
    samples = list(Block.objects.filter(node=1).values_list("data", flat=True))
    monkeypatch.setattr(seal, "DERIVATION", seal.DERIVATION + 1)
    monkeypatch.setitem(reading.TOTALS, "transactions", "client.transactions.better")
    assert seal.reseal(run_id=run.pk)
    run.refresh_from_db()
    assert run.derivation == seal.DERIVATION
    assert Measurement.objects.filter(metric__key="client.transactions.better").exists()
    assert not Measurement.objects.filter(metric__key="client.transactions").exists()
    assert list(Block.objects.filter(node=1).values_list("data", flat=True)) == samples
    assert Event.objects.filter(label="kill -9").count() == 1


def test_a_verdict_of_older_rules_does_not_outlive_them(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as old:
        old.setattr(reading, "has_totals", lambda _: False)
        run = sealed()
    assert (run.outcome, run.reason) == ("failed", "sysbench printed no totals")
    seal.reseal(run_id=run.pk)
    run.refresh_from_db()
    assert (run.outcome, run.reason) == ("succeeded", "")
    assert Measurement.objects.filter(metric__key="client.throughput").exists()


def test_batches_that_nobody_could_read_are_read_by_newer_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as old:
        old.setattr(seal, "decoded", refuse)
        run = sealed()
    assert run.outcome == "failed"
    assert not Block.objects.filter(node=1).exists()
    seal.reseal(run_id=run.pk)
    run.refresh_from_db()
    assert (run.outcome, run.reason) == ("succeeded", "")
    assert Series.objects.get(metric__key="mysql.status.Questions").mean == 100
    assert [artifact.name for artifact in Artifact.objects.all()] == ["sysbench.txt"]


def refuse(_: Any) -> None:
    raise BadBatch("line 3: a new kind of line")


def test_a_damaged_block_is_not_sealed_again_but_named() -> None:
    run = sealed()
    before = kept(run)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runs_block SET data = set_byte(data, 30, 255 - get_byte(data, 30)) WHERE node = 1")
    damaged = kept(run)
    with pytest.raises(blocks.DamagedSeries, match=rf"on db1 in run {run.pk}"):
        seal.reseal(run_id=run.pk)
    assert kept(run) == damaged
    assert damaged["series"] == before["series"]


def test_the_command_takes_what_older_rules_sealed(capsys: pytest.CaptureFixture[str]) -> None:
    old, new = sealed(), sealed(output=OUTPUT + b"\n")
    Run.objects.filter(pk=old.pk).update(derivation=0)
    at = Run.objects.get(pk=new.pk).sealed_at
    call_command("reseal")
    assert "1 of 1 runs sealed again" in capsys.readouterr().out
    assert Run.objects.get(pk=old.pk).derivation == seal.DERIVATION
    assert Run.objects.get(pk=new.pk).sealed_at == at


def test_the_command_goes_on_after_a_run_that_cannot_be_sealed_again(capsys: pytest.CaptureFixture[str]) -> None:
    bad, good = sealed(), sealed(output=OUTPUT + b"\n")
    Run.objects.update(derivation=0)
    Block.objects.filter(run=bad, node=1).update(data=b"x" * 99)
    with pytest.raises(CommandError, match="1 runs are unchanged"):
        call_command("reseal")
    assert f"run {bad.pk} is unchanged" in capsys.readouterr().err
    assert Run.objects.get(pk=good.pk).derivation == seal.DERIVATION


def test_a_run_that_is_not_there_is_named() -> None:
    with pytest.raises(CommandError, match="no complete run 99"):
        call_command("reseal", "99")
