"""Memory against data, and what the writers' buffer pools held at both ends of the measured phase."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.catalog.models import System
from apps.comparison import compare
from apps.comparison.comparability.memory import SideMemory, memory_of
from apps.core.canonical import canonical_hash
from apps.runs.models import Configuration, RunNode, Series
from tests.support.builders import a_measured_run, a_metric, a_system, a_workload

pytestmark = pytest.mark.django_db
STATES = {"used": (10.0, 90.0), "dirty": (1.0, 20.0), "miss_ratio": (5.0, 0.25)}


def measure(
    system: System, *, data: int | None = 4 * 2**30, pool: str = "1073741824", scale: float = 1.0, role: str = "writer"
) -> None:
    """A run with a writer's pool as in STATES, and a reader's that is empty."""
    run = a_measured_run({"client.throughput": 100.0}, system=system, data_bytes=data)
    content = {"innodb_buffer_pool_size": pool}
    configuration, _ = Configuration.objects.get_or_create(
        content_hash=canonical_hash(content), defaults={"variables": content}
    )
    for number, name, of, factor in ((1, "db1", role, scale), (2, "db2", "reader", 0.0)):
        RunNode.objects.create(run=run, number=number, name=name, role=of, configuration=configuration)
        for key, (first, last) in STATES.items():
            metric = a_metric(f"derived.buffer_pool.{key}")
            Series.objects.create(run=run, metric=metric, node=number, first=first * factor, last=last * factor)


def memories() -> tuple[SideMemory, ...]:
    return memory_of(compare.compare(sides=["a", "b"], workload_id=a_workload().pk))


def test_ratios_are_of_the_writers_memory_and_pool_to_the_prepared_data() -> None:
    measure(a_system("a"))
    measure(a_system("b"), data=None)
    a, b = memories()
    assert (a.memory, a.memory_ratio, a.pool_ratio) == (8 * 2**30, 2.0, 0.25)
    assert (b.data, b.memory_ratio, b.pool_ratio) == (None, None, None)
    assert b.pool is not None
    assert b.pool.median == 2**30


def test_the_pool_is_the_writers_at_both_ends_with_the_range_of_the_runs() -> None:
    a = a_system("a")
    for scale in (1.0, 0.5, 0.8):
        measure(a, scale=scale)
    measure(a_system("b"))
    level = compare.compare(sides=["a", "b"], workload_id=a_workload().pk).levels[0].id
    pool = memories()[0].at(level)
    assert pool is not None
    assert pool.filled_first
    assert pool.filled_last
    assert pool.hits_first
    assert pool.hits_last
    filled = pool.filled_last
    assert (filled.median, filled.minimum, filled.maximum, filled.runs) == (72.0, 45.0, 90.0, 3)
    assert pool.filled_first.median == 8.0
    assert pool.hits_first.median == pytest.approx(96.0)
    assert pool.hits_last.median == pytest.approx(99.8)


def test_runs_that_sampled_no_server_are_not_known_and_no_zero() -> None:
    for slug in ("a", "b"):
        a_measured_run({"client.throughput": 100.0}, system=a_system(slug))
    level = compare.compare(sides=["a", "b"], workload_id=a_workload().pk).levels[0].id
    side = memories()[0]
    pool = side.at(level)
    assert (side.data, side.pool) == (None, None)
    assert pool is not None
    assert (pool.runs, pool.filled_first, pool.hits_last) == (1, None, None)


def test_more_runs_cost_no_more_queries() -> None:
    a, b = a_system("a"), a_system("b")
    measure(a)
    measure(b)

    def counted() -> int:
        comparison = compare.compare(sides=["a", "b"], workload_id=a_workload().pk)
        with CaptureQueriesContext(connection) as context:
            memory_of(comparison)
        return len(context)

    few = counted()
    for _ in range(4):
        measure(a)
        measure(b)
    assert counted() == few <= 5
