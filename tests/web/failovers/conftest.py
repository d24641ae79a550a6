"""A cluster and a replicated pair that fail over."""

import pytest

from apps.catalog.models import System
from tests.support.failed_over import a_cluster, a_replicated_pair


@pytest.fixture
def galera(db: None) -> System:
    return a_cluster()


@pytest.fixture
def mha(db: None) -> System:
    return a_replicated_pair()
