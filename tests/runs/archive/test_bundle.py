import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from apps.catalog.models import System
from apps.runs.archive.bundle import MalformedBundle, read_bundle, write_bundle
from apps.runs.ingest import accept
from apps.runs.models import Artifact, Distribution, Event, Measurement, Run, RunNode, Series
from tests.runs.uploads import Samples, an_open_run, an_upload
from workers.protocol import wire

pytestmark = pytest.mark.django_db

# A restart, a second without an answer, an integer beyond 2^53, decimals, and a series that joins late.
NODES: dict[str, Samples] = {
    "db1": [
        (0.013, {"mysql.status.Questions": 2**60, "host.load.1m": 0.1}),
        (1.021, {"mysql.status.Questions": 2**60 + 7, "host.load.1m": 0.3, "host.cpus": 2}),
        (2.5, {"mysql.status.Questions": None, "host.load.1m": 0.2, "host.cpus": 2}),
        (3.02, {"mysql.status.Questions": 12, "host.load.1m": 0.7, "host.cpus": 2}),
    ],
    "db2": [(0.4, {"mysql.status.Uptime": 5}), (1.4, {"mysql.status.Uptime": 6})],
}


def a_sealed_run(**what: Any) -> Run:
    event = wire.EventMessage(kind="ddl", label="ALTER TABLE", starts_at=1.0, ends_at=2.0, node="db1")
    lines = [(1.5, "[ 1s ] thds: 4 tps: 1"), (2.5, "[ 2s ] thds: 4 tps: 1")]
    run = an_upload(nodes=NODES, events=[event], lines=lines, **what).send(measured_from=0.5, measured_to=20.5)
    assert accept.seal(run_id=run.pk)
    run.refresh_from_db()
    return run


def content(run: Run) -> dict[str, Any]:
    """All that a reader could see of a run, without the numbers of rows."""
    hidden = {"id", "run_id", "system_id", "sealed_at", "created_at", "artifact_id", "seal_attempts", "seal_due_at"}
    rows = {
        "run": Run.objects.filter(pk=run.pk),
        "nodes": RunNode.objects.filter(run=run),
        "series": Series.objects.filter(run=run).order_by("metric_id", "node"),
        "measurements": Measurement.objects.filter(run=run).order_by("metric_id"),
        "events": Event.objects.filter(run=run).order_by("starts_at", "label"),
        "artifacts": Artifact.objects.filter(run=run).order_by("name"),
    }
    return {
        name: [{k: v for k, v in row.items() if k not in hidden} for row in found.values()]
        for name, found in rows.items()
    }


def forget(run: Run) -> None:
    Measurement.objects.filter(run=run).delete()
    Distribution.objects.filter(run=run).delete()
    system = run.system
    run.delete()
    system.delete()


def test_a_run_comes_back_from_a_bundle_as_it_was(tmp_path: Path) -> None:
    run = a_sealed_run()
    before, slug = content(run), run.system.slug
    assert write_bundle(runs=[run.pk], path=tmp_path / "runs.zip") == 1
    forget(run)
    (back,) = read_bundle(tmp_path / "runs.zip")
    assert content(back) == before
    assert System.objects.get(slug=slug).release.platform.slug == "mariadb"
    assert before["series"]
    assert before["events"]


@pytest.mark.parametrize("outcome", [{}, {"outcome": "failed", "reason": "server lost"}])
def test_a_run_whose_batches_nobody_could_read_comes_back_with_them(tmp_path: Path, outcome: dict[str, str]) -> None:
    upload = an_upload(nodes={})
    upload.batches = [b"no gzip", b"nor this"]
    run = upload.send(**outcome)
    assert accept.seal(run_id=run.pk)
    before = content(run)
    assert [artifact["name"] for artifact in before["artifacts"]] == ["batches.tar", "sysbench.txt"]
    write_bundle(runs=[run.pk], path=tmp_path / "runs.zip")
    forget(run)
    (back,) = read_bundle(tmp_path / "runs.zip")
    assert content(back) == before


def test_an_artifact_comes_back_with_its_media_type(tmp_path: Path) -> None:
    upload = an_upload(nodes=NODES)
    image = b"\x89PNG"
    accept.accept_artifact(
        run=upload.run, name="load.png", sha256=wire.checksum(image), content=image, media_type="image/png"
    )
    run = upload.send()
    assert accept.seal(run_id=run.pk)
    write_bundle(runs=[run.pk], path=tmp_path / "runs.zip")
    forget(run)
    (back,) = read_bundle(tmp_path / "runs.zip")
    assert dict(back.artifacts.values_list("name", "media_type")) == {
        "load.png": "image/png",
        "sysbench.txt": "text/plain",
    }


def test_importing_a_bundle_again_changes_nothing(tmp_path: Path) -> None:
    run = a_sealed_run()
    write_bundle(runs=[run.pk], path=tmp_path / "runs.zip")
    before = content(run)
    assert read_bundle(tmp_path / "runs.zip") == []
    assert content(run) == before


def test_a_run_that_is_not_complete_is_not_exported(tmp_path: Path) -> None:
    run = an_open_run()
    with pytest.raises(CommandError, match=f"no complete run {run.pk}"):
        call_command("export_runs", str(run.pk), "--output", str(tmp_path / "runs.zip"))


def test_a_file_that_is_no_bundle_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "runs.zip").write_bytes(b"no zip")
    with pytest.raises(MalformedBundle, match="export_runs"):
        read_bundle(tmp_path / "runs.zip")


def test_a_bundle_that_lacks_a_raw_file_is_refused_and_names_it(tmp_path: Path) -> None:
    run = a_sealed_run()
    write_bundle(runs=[run.pk], path=tmp_path / "runs.zip")
    forget(run)
    with zipfile.ZipFile(tmp_path / "runs.zip") as whole, zipfile.ZipFile(tmp_path / "cut.zip", "w") as cut:
        for name in whole.namelist():
            if not name.endswith("sysbench.txt"):
                cut.writestr(name, whole.read(name))
    with pytest.raises(MalformedBundle, match=r"sysbench\.txt"):
        read_bundle(tmp_path / "cut.zip")
    assert not Run.objects.filter(uid=run.uid).exists(), "half a run would be taken for imported the next time"


def test_the_shipped_example_compares_two_systems_and_is_marked_as_an_example() -> None:
    call_command("seed_catalog", stdout=io.StringIO())
    call_command("load_example", stdout=io.StringIO())
    runs = Run.objects.select_related("system")
    assert {(run.state, run.outcome, run.provenance) for run in runs} == {("sealed", "succeeded", "example")}
    assert {run.system.slug for run in runs} == {"example-flush-1", "example-flush-2"}
    assert Measurement.objects.filter(metric__key="client.throughput").count() == len(runs)
    call_command("load_example", stdout=io.StringIO())
    assert Run.objects.count() == len(runs)


def test_a_bundle_does_not_say_where_at_aws_its_system_lies(tmp_path: Path) -> None:
    run = a_sealed_run()
    System.objects.filter(pk=run.system_id).update(aws_region="eu-west-1", aws_kind="cluster", aws_identifier="blast")
    file = tmp_path / "bundle.zip"
    assert write_bundle(runs=[run.pk], path=file) == 1
    with zipfile.ZipFile(file) as bundle:
        told = wire.from_json(dict, bundle.read("bundle.json"))
    assert told["systems"][0]["aws"] is None
