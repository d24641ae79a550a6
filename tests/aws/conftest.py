from collections.abc import Iterator

import pytest
from botocore import loaders, session

from tests.support.cloud import aws_server, lead_to


@pytest.fixture(scope="package")
def endpoint() -> Iterator[str]:
    """With the descriptions of AWS's services read once, not for every client: most of the tests' time."""
    loader = loaders.create_loader()
    with pytest.MonkeyPatch.context() as patch, aws_server() as address:
        patch.setattr(session, "create_loader", lambda *_: loader)
        yield address


@pytest.fixture
def aws(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty AWS, by moto."""
    lead_to(endpoint, monkeypatch)
    return endpoint
