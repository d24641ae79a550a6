"""The archive in an object store; the only one it has met in these tests is moto's server."""

import io
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import boto3
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test.utils import override_settings
from django.utils import timezone

from apps.core.stores import store_at
from apps.runs import archive, queries
from apps.runs.archive import store
from apps.runs.models import ArchivedRun, Run
from tests.runs.archive.archived import a_full_run, forget_everything, held
from tests.support.object_store import object_store

pytestmark = pytest.mark.django_db
PREFIX = "benchmarks/archive"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The bucket of this installation's archive."""
    name = f"archive-{uuid4().hex[:8]}"
    with object_store(monkeypatch, bucket=name) as endpoint:
        place = store_at(f"s3://{name}/{PREFIX}", endpoint_url=endpoint)
        with override_settings(STORAGES=settings.STORAGES | {"archive": place}, S3_ENDPOINT_URL=endpoint):
            resource = boto3.resource("s3", endpoint_url=endpoint)
            yield resource.Bucket(name)
            resource.meta.client.close()
            archive.archive_storage().connection.meta.client.close()  # type: ignore[attr-defined]


def names(bucket: Any) -> list[str]:
    return sorted(one.key.removeprefix(f"{PREFIX}/") for one in bucket.objects.all())


def test_a_run_comes_back_from_the_bucket_into_an_empty_database(bucket: Any) -> None:
    run = a_full_run()
    before = held(run)
    call_command("archive_runs", stdout=io.StringIO())
    assert {name.split("/")[0] for name in names(bucket)} == {
        *("runs", "nodes", "series", "measurements", "events", "distributions", "artifacts", "files", "manifests")
    }
    forget_everything()
    said = io.StringIO()
    address = f"s3://{bucket.name}/{PREFIX}"
    call_command("restore_runs", "--from", address, "--platform", "mariadb", "--month", "2026-01", stdout=said)
    assert "1 of 1 archived runs restored" in said.getvalue()
    assert held(Run.objects.get(uid=run.uid)) == before


def test_an_attempt_killed_between_two_objects_is_gone_on_with(bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run, written, write = a_full_run(), list[str](), store._write
    room = 4

    def killed(place: Any, path: str, source: Any) -> None:
        if len(written) == room:
            raise KeyboardInterrupt
        written.append(path)
        write(place, path, source)

    monkeypatch.setattr(store, "_write", killed)
    with pytest.raises(KeyboardInterrupt):
        archive.archive(run_id=run.pk, now=timezone.now())
    assert names(bucket) == sorted(written)
    room = 100
    assert archive.archive(run_id=run.pk, now=timezone.now())
    assert names(bucket) == sorted(written), "nothing is written twice, nothing is left out"


def test_a_corrupted_object_is_found_and_named(bucket: Any) -> None:
    run = a_full_run()
    assert archive.archive(run_id=run.pk, now=timezone.now())
    (key,) = (one.key for one in bucket.objects.all() if one.key.startswith(f"{PREFIX}/series/"))
    content = bytearray(bucket.Object(key).get()["Body"].read())
    content[-300] ^= 1
    bucket.put_object(Key=key, Body=bytes(content))
    problems = io.StringIO()
    with pytest.raises(CommandError, match="1 are not"):
        call_command("archive_runs", "--check", stdout=io.StringIO(), stderr=problems)
    assert f"{key.removeprefix(f'{PREFIX}/')} of the archive has changed" in problems.getvalue()
    assert not archive.move(run_id=run.pk, now=timezone.now())
    call_command("archive_runs", str(run.pk), stdout=io.StringIO())
    call_command("archive_runs", "--check", stdout=io.StringIO())


def test_moved_samples_come_back_from_the_bucket_when_a_chart_asks(bucket: Any) -> None:
    run = a_full_run()
    before = held(run)
    assert archive.archive(run_id=run.pk, now=timezone.now())
    assert archive.move(run_id=run.pk, now=timezone.now())
    (series,) = queries.load_series(run_ids=[run.pk], metrics=["mysql.status.Com_commit"])
    assert len(series.values) == 19
    assert held(run) == before


def test_a_store_that_does_not_answer_is_said_and_nothing_is_lost(bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run = a_full_run()
    assert archive.archive(run_id=run.pk, now=timezone.now())
    assert archive.move(run_id=run.pk, now=timezone.now())
    away = store_at(f"s3://{bucket.name}/{PREFIX}", endpoint_url="http://127.0.0.1:1")
    with override_settings(STORAGES=settings.STORAGES | {"archive": away}):
        with pytest.raises(archive.StoreUnreachable, match="does not answer"):
            archive.fetch([run.pk])
        (series,) = queries.load_series(run_ids=[run.pk], metrics=["mysql.status.Com_commit"])
        assert f"samples of run {run.pk} are in the archive and could not be fetched" in series.problem
        assert not len(series.values)
        known = ArchivedRun.objects.get()
        assert known.moved_at is not None
    assert archive.fetch([run.pk]) == 1
