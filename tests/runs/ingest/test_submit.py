"""Runs of other tools and files attached to them survive what runs survive: export, archive, sealing anew."""

import json
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.catalog import services as catalog
from apps.runs.archive.exports import export
from apps.runs.ingest import accept, submit
from apps.runs.ingest.accept import Refused
from apps.runs.models import ArchivedRun, Artifact, Block, Run
from apps.runs.storage import artifacts
from apps.runs.tool_output import attachments, formats
from tests.runs.archive.archived import forget_everything, held
from tests.runs.tool_output.parsers.outputs import content as output
from tests.support.builders import START, a_system

pytestmark = pytest.mark.django_db
DIGEST = formats.ATTACHED["pt-query-digest"]


def a_submitted_run(**fields: Any) -> Run:
    """Two intervals of tpcc-mysql, sealed."""
    defaults: dict[str, Any] = {
        "system": a_system(),
        "workload": catalog.workload_for(tool="tpcc-mysql", parameters={"warehouses": 10}),
        "load_level": catalog.load_level_for(threads=8),
        "output": output("tpcc_mysql/two_intervals.txt"),
        "started_at": START,
        "warmup": 0.0,
        "chosen": formats.SUBMITTED["tpcc-mysql"],
    }
    run = submit.submit(**defaults | fields)
    assert accept.seal(run_id=run.pk)
    run.refresh_from_db()
    return run


def attach(run: Run) -> Artifact:
    artifact, created = submit.attach(run=run, chosen=DIGEST, content=output("pt_query_digest/slow_log.json"))
    assert created
    return artifact


def test_a_run_of_another_tool_comes_back_from_a_file_with_what_was_attached(tmp_path: Path) -> None:
    run = a_submitted_run()
    attach(run)
    before = held(run)
    assert export(run_ids=[run.pk], path=tmp_path / "runs.zip") == 1
    forget_everything()
    call_command("restore_runs", "--from", str(tmp_path / "runs.zip"), stdout=StringIO())
    back = Run.objects.get()
    assert held(back) == before
    (table,) = attachments.tables(back.pk)
    assert table.table
    assert table.table.rows[0][0] == "COMMIT"


def test_what_was_attached_makes_the_archive_write_the_run_anew() -> None:
    run = a_submitted_run()
    archive(run)
    attach(run)
    assert not ArchivedRun.objects.filter(run=run).exists()


def test_a_digest_is_kept_without_the_statements_that_it_quotes() -> None:
    """They hold values of rows; fingerprints hold none."""
    document = json.loads(output("pt_query_digest/slow_log.json"))
    document["classes"][0]["example"] |= {"query": "UPDATE t SET pin = 'hunter2'", "as_select": "SELECT 'hunter2'"}
    run, content = a_submitted_run(), json.dumps(document).encode()
    (made, is_new), again = (submit.attach(run=run, chosen=DIGEST, content=content) for _ in range(2))
    kept = artifacts.read_artifact(made)
    assert (is_new, again) == (True, (made, False))
    assert b"hunter2" not in kept
    assert json.loads(kept)["classes"][0]["example"].keys() == {"ts", "Query_time"}
    assert DIGEST.read(kept) == DIGEST.read(content)
    assert DIGEST.kept(kept) == kept


def test_nothing_is_attached_to_a_run_whose_samples_lie_in_the_archive_alone() -> None:
    run = a_submitted_run()
    archive(run)
    Block.objects.filter(run=run).update(data=None)
    with pytest.raises(Refused, match="fetch them first"):
        attach(run)
    assert ArchivedRun.objects.filter(run=run).exists()
    assert not Artifact.objects.filter(name__startswith="pt-query-digest").exists()


def test_an_attached_file_that_storage_lost_is_said_to_be_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    run = a_submitted_run()
    artifact = attach(run)
    attachments._parsed.cache_clear()

    def lost(_: Artifact) -> bytes:
        raise artifacts.DamagedArtifact("it is gone")

    monkeypatch.setattr(artifacts, "read_artifact", lost)
    (table,) = attachments.tables(run.pk)
    assert (table.artifact, table.table.rows, table.problem) == (artifact.name, (), "it is gone")


def test_a_run_of_another_tool_needs_a_workload_of_that_tool() -> None:
    workload = catalog.workload_for(tool="hammerdb", parameters={"warehouses": 10})
    with pytest.raises(Refused, match="is one of hammerdb"):
        a_submitted_run(workload=workload)


def test_a_start_without_a_zone_is_refused() -> None:
    with pytest.raises(Refused, match="time zone"):
        a_submitted_run(started_at=datetime(2026, 1, 1))  # noqa: DTZ001  (what is refused)


def archive(run: Run) -> None:
    ArchivedRun.objects.create(run=run, manifest="m", manifest_sha256="0" * 64, size=1, archived_at=START)
