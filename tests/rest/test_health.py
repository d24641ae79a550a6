"""Health says which part is missing, and is 503 then; so do the probes, without the reason."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client, override_settings
from rest_framework.test import APIClient

from apps.operations.health import services
from tests.support.waiting import LIMIT

ADDRESS = "/api/v1/health/"


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine's broker is none that is away."""
    monkeypatch.setattr(services, "BROKER_ANSWERS_WITHIN", timedelta(seconds=LIMIT))


@pytest.fixture
def no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError(f"connection to {settings.DATABASES['default']['HOST']} refused")

    monkeypatch.setattr(services, "database_answers", refuse)


def test_it_is_well_when_database_and_broker_answer(anyone: APIClient) -> None:
    answer = anyone.get(ADDRESS)
    assert (answer.status_code, answer.json()["ok"]) == (200, True)
    assert answer["Cache-Control"] == "no-store"


def test_a_broker_that_is_away_is_named(anyone: APIClient) -> None:
    with override_settings(REDIS_URL="redis://127.0.0.1:1/0"):
        answer = anyone.get(ADDRESS)
        assert (anyone.get("/readyz").status_code, anyone.get("/readyz").content) == (503, b"missing: Valkey\n")
    assert answer.status_code == 503
    assert (answer.json()["broker"]["ok"], answer.json()["database"]["ok"]) == (False, True)
    assert "REDIS_URL" in answer.json()["broker"]["message"]


@pytest.mark.usefixtures("no_database")
def test_a_database_that_is_away_is_named_without_its_address(anyone: APIClient) -> None:
    answer = anyone.get(ADDRESS)
    assert (answer.status_code, answer.json()["database"]["ok"]) == (503, False)
    assert settings.DATABASES["default"]["HOST"] not in answer.content.decode()


@pytest.mark.usefixtures("no_database")
def test_a_process_lives_without_its_database_and_is_not_ready(anyone: APIClient) -> None:
    assert (anyone.get("/livez").status_code, anyone.get("/livez").content) == (200, b"ok\n")
    answer = anyone.get("/readyz")
    assert (answer.status_code, answer.content) == (503, b"missing: database and migrations\n")


def test_a_missing_migration_is_named_as_such(anyone: APIClient) -> None:
    MigrationRecorder(connection).record_unapplied("operations", "0001_initial")
    assert anyone.get("/readyz").content == b"missing: migrations\n"
    answer = anyone.get(ADDRESS)
    assert (answer.status_code, answer.json()["migrations"]["ok"]) == (503, False)
    assert (answer.json()["database"]["ok"], answer.json()["broker"]["ok"]) == (True, True)


def test_it_needs_no_account_even_where_reading_does(anyone: APIClient, client: Client) -> None:
    with override_settings(SPLASHBOARD_PUBLIC_READ=False):
        assert anyone.get(ADDRESS).status_code == 200
        assert anyone.get("/api/v1/platforms/").status_code == 401
        assert (client.get("/livez").status_code, client.get("/readyz").content) == (200, b"ok\n")
    assert "no-store" in client.get("/readyz")["Cache-Control"]
