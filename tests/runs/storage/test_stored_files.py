"""The store holds the files of runs, and no others for long: of a folder and of a store without folders."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import count, islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage
from django.db import connection, transaction
from django.test.utils import override_settings
from django.utils import timezone

from apps.core import limits
from apps.core.stores import store_at
from apps.runs import deletion
from apps.runs.ingest import accept, submit
from apps.runs.ingest.accept import Refused
from apps.runs.storage import artifacts
from apps.runs.tool_output import formats
from tests.runs.tool_output.parsers.outputs import content as output
from tests.runs.uploads import OUTPUT, an_open_run, an_upload
from tests.support.builders import START, a_load_level, a_system, a_workload
from workers.protocol import wire

pytestmark = pytest.mark.django_db


class ObjectStorage(Storage):
    """Has keys instead of folders, and no path."""

    def __init__(self) -> None:
        self._objects: dict[str, tuple[bytes, datetime]] = {}

    def exists(self, name: str) -> bool:
        return name in self._objects

    def delete(self, name: str) -> None:
        self._objects.pop(name, None)

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        return [], [name.removeprefix(f"{path}/") for name in self._objects if name.startswith(f"{path}/")]

    def get_modified_time(self, name: str) -> datetime:
        return self._objects[name][1]

    def _open(self, name: str, _mode: str = "rb") -> "ContentFile[bytes]":
        return ContentFile(self._objects[name][0])

    def _save(self, name: str, content: "File[bytes]") -> str:
        self._objects[name] = content.read(), timezone.now()
        return name


OBJECTS = {"BACKEND": f"{__name__}.ObjectStorage"}


@pytest.fixture(autouse=True, params=["folder", "objects"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    place = store_at(str(tmp_path / "artifacts")) if request.param == "folder" else OBJECTS
    with override_settings(STORAGES=settings.STORAGES | {"default": place}):
        yield


def stored() -> set[str]:
    return {name for number in range(256) for name in artifacts.stored_in(f"{number:02x}")}


def test_a_file_that_a_complete_run_refuses_is_not_kept() -> None:
    run = an_upload().send()
    assert accept.seal(run_id=run.pk)
    with pytest.raises(Refused, match="accepts no further artifact"):
        accept.accept_artifact(run=run, name="a.txt", sha256=wire.checksum(b"late"), content=b"late")
    assert stored() == {wire.checksum(OUTPUT)}


def test_a_file_beyond_what_a_run_may_have_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ARTIFACTS", 0)
    with pytest.raises(Refused, match="as many as a run may have"):
        accept.accept_artifact(run=an_open_run(), name="a.txt", sha256=wire.checksum(b"more"), content=b"more")
    assert stored() == set()


def test_a_submission_that_contradicts_its_run_is_not_kept() -> None:
    what: dict[str, Any] = {"uid": uuid4(), "system": a_system(), "workload": a_workload("oltp_read_write")}
    what |= {"load_level": a_load_level(), "started_at": START, "warmup": 0}
    submit.submit(output=OUTPUT, **what)
    with pytest.raises(Refused, match="submitted with other output"):
        submit.submit(output=OUTPUT.replace(b"23861", b"23862"), **what)
    assert stored() == {wire.checksum(OUTPUT)}


def test_a_file_attached_to_a_run_that_is_not_complete_is_not_kept() -> None:
    digest = output("pt_query_digest/slow_log.json")
    with pytest.raises(Refused, match="not complete yet"):
        submit.attach(run=an_open_run(), chosen=formats.ATTACHED["pt-query-digest"], content=digest)
    assert stored() == set()


def test_what_fails_after_it_was_stored_leaves_only_files_that_a_run_has() -> None:
    an_upload().send_output()

    def fail() -> None:
        with artifacts.atomic() as keep:
            for content in (OUTPUT, b"new"):
                keep(content)
            raise Refused("file", "is wrong")

    with pytest.raises(Refused):
        fail()
    assert stored() == {wire.checksum(OUTPUT)}


def left_over(content: bytes) -> str:
    with transaction.atomic():
        return artifacts.keep(content)


def clean_for_a_day(*, begin: datetime) -> int:
    return sum(deletion.remove_leftovers(now=begin + timedelta(hours=hour)) for hour in range(24))


def test_files_that_no_run_has_are_removed_within_a_day_once_they_are_a_day_old() -> None:
    an_upload().send_output()
    lost = {left_over(b"%d" % number) for number in range(5)}
    now = timezone.now()
    assert clean_for_a_day(begin=now) == 0
    assert stored() == {wire.checksum(OUTPUT), *lost}
    assert clean_for_a_day(begin=now + timedelta(hours=25)) == 5
    assert stored() == {wire.checksum(OUTPUT)}


def test_files_of_another_database_are_left_alone() -> None:
    of_one_folder = (b"%d" % number for number in count() if wire.checksum(b"%d" % number).startswith("00"))
    lost = {left_over(content) for content in islice(of_one_folder, deletion.FEW + 1)}
    later = timezone.now() + timedelta(days=2)
    assert clean_for_a_day(begin=later) == 0, "no run has a file"
    an_upload().send_output()
    assert clean_for_a_day(begin=later) == 0, "more files than runs have"
    assert stored() == {wire.checksum(OUTPUT), *lost}


@pytest.mark.django_db(transaction=True)
def test_nothing_is_removed_while_a_backup_is_made() -> None:
    an_upload().send_output()
    sha256 = left_over(b"lost")
    later = timezone.now() + timedelta(days=2)

    def clean() -> int:
        try:
            return clean_for_a_day(begin=later)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with deletion.no_deletion():
            assert pool.submit(clean).result() == 0
        assert sha256 in stored()
        assert pool.submit(clean).result() == 1
