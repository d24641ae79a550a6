from collections.abc import Iterator

import pytest

from tests.cloud import aws_server, lead_to


@pytest.fixture(scope="package")
def endpoint() -> Iterator[str]:
    with aws_server() as address:
        yield address


@pytest.fixture
def aws(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty AWS, by moto."""
    lead_to(endpoint, monkeypatch)
    return endpoint
