"""Two sides with runs: what tests of comparisons share."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.catalog.models import System, Workload
from apps.comparison import compare as comparison_compare
from apps.comparison.values import Comparison
from apps.runs.models import Run
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_workload

TPS, P95, P99, ERRORS = "client.throughput", "client.latency.p95", "client.latency.p99", "client.errors"
A = (1000.0, 1012.0, 991.0)
B = (1302.0, 1318.0, 1287.0)


def measure(system: System, values: tuple[float, ...], *, threads: int = 4, at: int = 0, **fields: Any) -> list[Run]:
    """One run per value of throughput, `at` hours and a minute each after the others; p95 is 20,000 / throughput."""
    return [
        a_measured_run(
            {TPS: value, P95: 20_000 / value, ERRORS: 0.0},
            system=system,
            load_level=a_load_level(threads),
            repetition=number + 1,
            started_at=START + timedelta(hours=at, minutes=number),
            ended_at=START + timedelta(hours=at + 1),
            **fields,
        )
        for number, value in enumerate(values)
    ]


@pytest.fixture
def workload() -> Workload:
    return a_workload()


@pytest.fixture
def a(workload: Workload) -> System:
    return a_system("a")


@pytest.fixture
def b(workload: Workload) -> System:
    return a_system("b", settings={"innodb_flush_log_at_trx_commit": "2"})


def compare(workload: Workload, **fields: Any) -> Comparison:
    return comparison_compare.compare(**{"sides": ["a", "b"], "workload_id": workload.pk, **fields})


def level_of(comparison: Comparison, threads: int = 4) -> int:
    return next(level.id for level in comparison.levels if level.threads == threads)


def counting(call: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as context:
        call()
    return len(context)
