from typing import Any

import pytest
from django.test import Client

from tests.support.builders import a_user
from tests.web.compare.compared import sides, workload  # noqa: F401  fixtures of every test of Compare
from workers import tasks


@pytest.fixture
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the tasks that were given to the broker, which is not asked here."""
    names: list[str] = []

    def enqueue(task: Any, **_arguments: Any) -> bool:
        names.append(task.name)
        return True

    monkeypatch.setattr(tasks, "enqueue", enqueue)
    return names


@pytest.fixture
def engineer(db: None, client: Client) -> Client:
    client.force_login(a_user(username="ann"))
    return client
