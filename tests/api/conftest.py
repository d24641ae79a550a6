"""Callers of the REST API: anyone, a reader, an engineer."""

import pytest
from rest_framework.test import APIClient

from tests.builders import a_user


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
