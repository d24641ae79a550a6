"""Callers of the REST API: anyone, a reader, an engineer, an agent."""

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from rest_framework.test import APIClient

from tests.rest.talk import Talk
from tests.support.builders import a_user
from workers import tasks


@pytest.fixture
def anyone(db: None) -> APIClient:
    return APIClient()


@pytest.fixture
def reader(db: None) -> APIClient:
    client = APIClient()
    client.force_authenticate(a_user(role="reader"))
    return client


@pytest.fixture
def engineer(db: None) -> APIClient:
    client = APIClient()
    client.force_authenticate(a_user(role="engineer"))
    return client


@pytest.fixture
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    calls: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(tasks, "enqueue", lambda task, **arguments: calls.append((task.name.split(".")[-1], arguments)))
    return calls


@pytest.fixture
def talk(db: None, client: Client, enqueued: object) -> Talk:
    cache.clear()
    return Talk(client)
