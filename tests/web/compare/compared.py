"""Two sides with runs, and their page: what tests of Compare share."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from apps.catalog.models import System, Workload
from apps.web.compare.view import CompareAddress
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_workload

TPS, P95, ERRORS = "client.throughput", "client.latency.p95", "client.errors"
A = (1000.0, 1012.0, 991.0)
B = (1302.0, 1318.0, 1287.0)


@pytest.fixture
def workload() -> Workload:
    return a_workload()


@pytest.fixture
def sides(workload: Workload) -> tuple[System, System]:
    """Three runs per side at 4 threads; at 8 threads one run of the second only."""
    a, b = a_system("a", name="Alpha"), a_system("b", name="Beta", settings={"sync_binlog": "0"})
    for system, values, threads in ((a, A, 4), (b, B, 4), (a, A, 8), (b, B[:1], 8)):
        for number, value in enumerate(values):
            a_measured_run(
                {TPS: value, P95: 20_000 / value, ERRORS: 0.0},
                system=system,
                load_level=a_load_level(threads),
                repetition=number + 1,
                started_at=START + timedelta(minutes=number),
            )
    return a, b


def address(workload: Workload, **changes: Any) -> str:
    return CompareAddress(**{"sides": ("a", "b"), "workload": workload.pk, **changes}).url()


def page(client: Client, url: str, status: int = 200) -> str:
    response = client.get(url)
    assert response.status_code == status, response.content[:500]
    return response.content.decode()
