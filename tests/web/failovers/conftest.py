"""A cluster and a replicated pair that fail over."""

import pytest

from apps.catalog.models import Platform, System
from tests.support.builders import a_system


@pytest.fixture
def galera(db: None) -> System:
    platform = Platform.objects.create(slug="galera", name="MariaDB Galera", color=4)
    settings = {"evs.suspect_timeout": "PT5S"}
    return a_system("cluster", name="three nodes", platform=platform, settings=settings)


@pytest.fixture
def mha(db: None) -> System:
    platform = Platform.objects.create(slug="mha", name="MHA", color=2)
    return a_system("replicas", name="one source", platform=platform, settings={"ping_interval": "1"})
