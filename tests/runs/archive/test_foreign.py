"""Archives and files that nobody of ours packed are refused in a sentence, and leave nothing behind."""

import io
import json
import lzma
import resource
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from django.core.management import CommandError, call_command

from apps.catalog.models import System
from apps.runs import archive
from apps.runs.archive.troubles import Damaged
from apps.runs.models import Run
from tests.fuzz import rows


def restored(**changes: Any) -> str:
    """Why the run was not restored from an archive with these columns; empty: it was."""
    found = rows.restored(json.dumps(changes).encode())
    assert isinstance(found, str)
    assert Run.objects.exists() == (found == "")
    assert System.objects.exists() == (found == "")
    return found


@pytest.mark.django_db
def test_the_archive_that_nobody_changed_is_restored() -> None:
    assert restored() == ""


@pytest.mark.django_db
def test_a_restored_system_is_not_served_by_the_agents_of_another() -> None:
    """Archived copies had the label of the system that they were copied from."""
    assert restored(runs={"labels": ["system:of-another", "rack:a"]}) == ""
    system = System.objects.get()
    assert system.labels == [f"system:{system.slug}", "rack:a"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"runs": {"system": None}}, "runs: system is missing"),
        ({"runs": {"warmup": "soon"}}, "runs: warmup is of type string"),
        ({"runs": {"settings": "[1]"}}, "settings of run"),
        ({"runs": {"told": "not json"}}, "told of run"),
        ({"runs": {"labels": [None]}}, "runs: labels has an empty entry"),
        ({"runs": {"hardware_class": "none-of-these"}}, "which the archive does not describe"),
        ({"runs": {"reason": "a\0b"}}, "NUL"),
        ({"runs": {"system": "x" * 300}}, "too long"),
        (
            {
                "runs": {
                    "exclusions": '[{"reason":"r","excluded_by":"a","excluded_at":"x","ended_by":"","ended_at":""}]'
                }
            },
            "time",
        ),
        ({"nodes": {"constants": '{"a": "b"}'}}, "constants of run"),
        ({"nodes": {"variables": '{"a": 1}'}}, "variables of run"),
        ({"measurements": {"artifact": "gone.txt"}}, "a file that is not there"),
        ({"series": {"samples_integer": 5}}, "series: samples_integer is of type int64"),
        ({"events": {"detail": "[]"}}, "detail of run"),
        ({"manifest": {"run": "a"}}, "UUID"),
        ({"manifest": {"version": "1"}}, "is not a manifest"),
    ],
    ids=str,
)
def test_a_column_that_makes_no_sense_is_named(changes: dict[str, Any], says: str) -> None:
    assert says in restored(**changes)


def a_zip(*, name: str = "a", content: bytes = b"x") -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, content)
    return held.getvalue()


def a_tar(name: str, size: int = 0) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.size = size
    return lzma.compress(entry.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape") + bytes(10240))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("method.zip", a_zip().replace(b"\x08\x00", b"\x63\x00")),
        (
            "encrypted.zip",
            a_zip()
            .replace(b"PK\x03\x04\x14\x00\x00", b"PK\x03\x04\x14\x00\x01")
            .replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"),
        ),
        ("version.zip", a_zip().replace(b"PK\x01\x02\x14\x03\x14", b"PK\x01\x02\x14\x03\xff")),
        ("name.zip", a_zip(name="é").replace("é".encode(), b"\xff\xfe")),
        ("name.tar.xz", a_tar("a\udcff")),
        ("override.tar.xz", a_tar("manifests/\u202egnp.json")),
        ("override.zip", a_zip(name="manifests/\u202egnp.json")),
        ("junk.tar.xz", b"junk"),
        ("junk.zip", b"junk"),
    ],
)
def test_a_file_that_nobody_of_ours_packed_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(Damaged, match="use one that export_runs wrote"), archive.unpacked(path):
        pass


@pytest.mark.parametrize(
    ("name", "content"), [("b.zip", a_zip(content=bytes(10_000))), ("b.tar.xz", a_tar("a", 10_000))]
)
def test_what_would_fill_the_disk_is_not_unpacked(tmp_path: Path, settings: Any, name: str, content: bytes) -> None:
    settings.LEAST_FREE_BYTES = shutil.disk_usage(tmp_path).total
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(Damaged, match="has room for"), archive.unpacked(path):
        pass


@pytest.mark.django_db
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts the addresses of a process")
def test_a_small_table_that_unfolds_to_gigabytes_is_refused_with_the_remedy(tmp_path: Path) -> None:
    given, limits, said = rows.archived(), resource.getrlimit(resource.RLIMIT_AS), io.StringIO()
    events = given.tables["events"].take([0] * 4000)
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 4000, pa.int32()), pa.array(["x" * 2**20]))
    events = events.set_column(events.schema.get_field_index("detail"), "detail", long)
    rows.keep(archive.storage_at(str(tmp_path)), given._replace(tables={**given.tables, "events": events}), {})
    assert sum(each.stat().st_size for each in tmp_path.rglob("*") if each.is_file()) < 2**21
    with pytest.raises(CommandError, match="1 could not be restored"):
        call_command("restore_runs", "--from", str(tmp_path), "--memory", "1", stdout=io.StringIO(), stderr=said)
    assert "the archived table of events needs more memory than it may have" in said.getvalue()
    assert "--memory" in said.getvalue()
    assert not Run.objects.exists()
    assert resource.getrlimit(resource.RLIMIT_AS) == limits


@pytest.mark.parametrize("memory", ["0", "-1", "inf", "nan"])
def test_memory_to_restore_with_is_a_number_above_0(memory: str) -> None:
    with pytest.raises(CommandError, match="--memory is a number of GiB above 0"):
        call_command("restore_runs", "--from", "nowhere", f"--memory={memory}")
