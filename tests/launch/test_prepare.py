"""`manage.py prepare`: from an empty database to one that can be used, and again without harm."""

import io
import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import boto3
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test.utils import override_settings
from django.urls import reverse
from django.utils import timezone
from moto.server import ThreadedMotoServer

from apps.accounts.models import ApiToken
from apps.accounts.services import use_sign_in_link
from apps.catalog.models import Platform
from apps.core.server import measures
from apps.dispatch.api import agent_of_secret
from apps.dispatch.models import Agent
from apps.operations.api import missing_services
from apps.runs.models import Run
from apps.web.management.commands import prepare
from tests.paths import EXAMPLES
from tests.support.builders import owner_of_token

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _static(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(prepare, "LOADERS", ("seed_catalog",))
    with override_settings(STATIC_ROOT=tmp_path / "static", SPLASHBOARD_EXAMPLES=False):
        yield


def prepared(folder: Path, *options: str) -> str:
    """Runs it; answers the sign-in link's path."""
    arguments = ["--agent-config", str(folder / "agent.toml"), "--server", "http://127.0.0.1:81"]
    call_command("prepare", *arguments, "--result", str(folder / "result"), *options, stdout=io.StringIO())
    return str(json.loads((folder / "result").read_text())["link"])


def test_empty_database_gets_catalog_static_files_agent_and_link(tmp_path: Path) -> None:
    link = prepared(tmp_path)
    assert Platform.objects.filter(slug="aurora").exists()
    assert list((tmp_path / "static").rglob("*.css"))
    config = tomllib.loads((tmp_path / "agent.toml").read_text())
    assert config["server"]["url"] == "http://127.0.0.1:81"
    agent = agent_of_secret(secret=(tmp_path / "agent.token").read_text(), now=timezone.now())
    assert agent is not None
    assert agent.name == config["agent"]["name"]
    secret = link.split("/")[2]
    assert link == reverse("web:sign-in-link", kwargs={"secret": secret})
    user = use_sign_in_link(secret=secret, now=timezone.now())
    assert user is not None
    assert user.role == "administrator"


def test_unchanged_loads_nothing_again_but_gives_a_new_link(tmp_path: Path) -> None:
    first = prepared(tmp_path)
    token = (tmp_path / "agent.token").read_text()
    Platform.objects.filter(slug="aurora").update(name="renamed by hand")
    assert prepared(tmp_path, "--unchanged") != first
    assert Platform.objects.get(slug="aurora").name == "renamed by hand"
    assert (tmp_path / "agent.token").read_text() == token


def test_counts_of_ended_processes_are_removed_and_those_of_running_ones_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "metrics"
    folder.mkdir()
    monkeypatch.setenv(measures.FOLDER, str(folder))
    for name, hours in (("counter_web-7.db", 25), ("counter_web-8.db", 1)):
        (folder / name).touch()
        at = timezone.now().timestamp() - 3600 * hours
        os.utime(folder / name, (at, at))
    prepared(tmp_path)
    assert [file.name for file in folder.iterdir()] == ["counter_web-8.db"]


def recorded(*migrations: tuple[str, str]) -> None:
    """As a database whose squashed migrations were applied one by one; of them only these are."""
    known = MigrationRecorder(connection)
    for each, migration in SQUASHED.items():
        known.record_unapplied(*each)
        for part in migration.replaces:
            known.record_unapplied(*part)
            if not migrations or part in migrations:
                known.record_applied(*part)


SQUASHED = {key: each for key, each in MigrationLoader(None).disk_migrations.items() if each.replaces}


def test_a_database_in_which_the_squashed_migrations_were_applied_one_by_one_needs_nothing(tmp_path: Path) -> None:
    recorded()
    assert len(missing_services()) == 1
    prepared(tmp_path, "--unchanged")
    assert missing_services() == {}
    assert SQUASHED.keys() <= MigrationRecorder(connection).applied_migrations().keys()


def test_a_database_of_a_release_between_is_told_which_release_it_needs_first(tmp_path: Path) -> None:
    recorded(("runs", "0001_initial"))
    with pytest.raises(CommandError, match=r"without the migration runs\.0018_series_lock_no_metric"):
        prepared(tmp_path)


@pytest.mark.parametrize(("options", "has_runs"), [((), True), (("--without-example",), False)])
def test_example_runs_are_loaded_unless_they_are_not_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], has_runs: bool
) -> None:
    monkeypatch.setattr(prepare, "EXAMPLES", ("examples", "load", "--at-start"))
    with override_settings(SPLASHBOARD_EXAMPLES=True, SPLASHBOARD_EXAMPLES_FOLDER=str(EXAMPLES)):
        prepared(tmp_path, *options)
    assert Run.objects.exists() is has_runs
    assert Platform.objects.filter(slug="aurora").exists()


def test_lost_token_is_made_anew(tmp_path: Path) -> None:
    prepared(tmp_path)
    lost = (tmp_path / "agent.token").read_text()
    (tmp_path / "agent.token").unlink()
    prepared(tmp_path)
    assert agent_of_secret(secret=lost, now=timezone.now()) is None
    assert agent_of_secret(secret=(tmp_path / "agent.token").read_text(), now=timezone.now()) is not None
    assert (tmp_path / "agent.token").stat().st_mode & 0o777 == 0o600


def test_token_for_the_api_is_an_administrators_and_stays_as_long_as_it_works(tmp_path: Path) -> None:
    file = tmp_path / "token"
    prepared(tmp_path, "--token", str(file))
    first = file.read_text()
    owner = owner_of_token(first, timezone.now())
    assert owner is not None
    assert owner.role == "administrator"
    assert file.stat().st_mode & 0o777 == 0o600
    prepared(tmp_path, "--token", str(file))
    assert file.read_text() == first
    ApiToken.objects.update(revoked_at=timezone.now())
    prepared(tmp_path, "--token", str(file))
    assert owner_of_token(file.read_text(), timezone.now()) == owner


def test_revoked_agent_stays_revoked(tmp_path: Path) -> None:
    prepared(tmp_path)
    Agent.objects.update(revoked_at=timezone.now())
    (tmp_path / "agent.token").write_text("something else")
    prepared(tmp_path)
    assert Agent.objects.get().revoked_at is not None


def test_bucket_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    try:
        _, port = server.get_host_and_port()
        endpoint = f"http://127.0.0.1:{port}"
        name = f"artifacts-{uuid4().hex[:8]}"  # moto's servers of a process share their buckets
        with s3(endpoint, name):
            prepared(tmp_path, "--create-bucket")
            prepared(tmp_path, "--create-bucket", "--unchanged")
        client = boto3.client("s3", endpoint_url=endpoint)
        assert name in [bucket["Name"] for bucket in client.list_buckets()["Buckets"]]
        client.close()
    finally:
        server.stop()


def test_object_store_that_does_not_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with s3("http://127.0.0.1:1"), pytest.raises(CommandError, match="object store of S3_ENDPOINT_URL does not answer"):
        prepared(tmp_path, "--create-bucket")


def s3(endpoint: str, bucket: str = "splashboard") -> override_settings:
    options = {"bucket_name": bucket, "endpoint_url": endpoint}
    return override_settings(
        STORAGES={
            "default": {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options},
            "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
        }
    )
