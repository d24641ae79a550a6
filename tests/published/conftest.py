"""Published results need the catalog's platforms, machines and metrics."""

import pytest

from apps.catalog import services


@pytest.fixture
def catalog(db: None) -> None:
    services.seed()
