"""Health says which part is down, and is 503 then."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import override_settings
from rest_framework.test import APIClient

from apps.rest import health
from tests.support.waiting import LIMIT

ADDRESS = "/api/v1/health/"


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine's broker is none that is away."""
    monkeypatch.setattr(health, "BROKER_ANSWERS_WITHIN", timedelta(seconds=LIMIT))


def test_it_is_well_when_database_and_broker_answer(anyone: APIClient) -> None:
    answer = anyone.get(ADDRESS)
    assert (answer.status_code, answer.json()["ok"]) == (200, True)
    assert answer["Cache-Control"] == "no-store"


def test_a_broker_that_is_away_is_named(anyone: APIClient) -> None:
    with override_settings(REDIS_URL="redis://127.0.0.1:1/0"):
        answer = anyone.get(ADDRESS)
    assert answer.status_code == 503
    assert (answer.json()["broker"]["ok"], answer.json()["database"]["ok"]) == (False, True)
    assert "REDIS_URL" in answer.json()["broker"]["message"]


def test_a_database_that_is_away_is_named_without_its_address(
    anyone: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise OperationalError(f"connection to {settings.DATABASES['default']['HOST']} refused")

    monkeypatch.setattr(health, "database_answers", refuse)
    answer = anyone.get(ADDRESS)
    assert (answer.status_code, answer.json()["database"]["ok"]) == (503, False)
    assert settings.DATABASES["default"]["HOST"] not in answer.content.decode()


def test_it_needs_no_account_even_where_reading_does(anyone: APIClient) -> None:
    with override_settings(SPLASHBOARD_PUBLIC_READ=False):
        assert anyone.get(ADDRESS).status_code == 200
        assert anyone.get("/api/v1/platforms/").status_code == 401
