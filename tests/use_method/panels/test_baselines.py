"""Panels are read with their baseline: the lowest load of the same system and workload."""

from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from apps.catalog.models import LoadLevel
from apps.runs.models import Run
from apps.use_method.panels import panels
from apps.use_method.values import Reading, UseLevel
from tests.comparison.sampled import a_node, a_sampled_run
from tests.use_method.builders import reading

SECONDS = np.arange(0.0, 71.0)
STILL = ("reads", "read_bytes", "read_time", "write_bytes", "io_time")


def at(threads: int, write_ms: float, **fields: Any) -> Run:
    """A judged run of one system whose disk took so long for each of 500 writes a second, twelve of them in flight."""
    counters = {"writes": 500 * SECONDS, "write_time": 0.5 * write_ms * SECONDS, "io_weighted_time": 12 * SECONDS}
    node = a_node(
        "db1",
        SECONDS,
        {f"host.disk.vda.{name}": values for name, values in counters.items()},
        {f"host.disk.vda.{name}": 0 for name in STILL},
    )
    before = Run.objects.first()
    place = {"system": before.system, "workload": before.workload} if before else {}
    level, _ = LoadLevel.objects.get_or_create(threads=threads, rate=fields.pop("rate", None))
    sealed = {"state": Run.State.SEALED, "sealed_at": timezone.now(), "load_level": level}
    run = a_sampled_run([node], {"client.throughput": 500.0}, **(sealed | place | fields))
    panels.judge(run_id=run.pk)
    return run


def over(run: Run) -> Reading:
    return reading(panels.kept_of([run.pk])[run.pk], "disk.over_baseline", "db1")


def test_a_disk_is_compared_with_the_median_of_the_runs_at_the_lowest_load(db: None) -> None:
    for write_ms in (0.9, 1.0, 9.0):
        at(1, write_ms)
    loaded = at(64, 9.0)
    found = over(loaded)
    assert found.level is UseLevel.SATURATED
    assert found.value == pytest.approx(9.0)
    assert found.words.replace("\u00a0", " ") == (
        "9.0 × its value at 1 thread: a write took 9.00 ms, not 1.00 ms; queue 12"
    )
    assert panels.panel_of(loaded.pk) == panels.kept_of([loaded.pk])[loaded.pk]


def test_a_run_judged_before_its_baseline_is_compared_with_it_all_the_same(db: None) -> None:
    loaded = at(64, 9.0)
    assert over(loaded).level is UseLevel.NOT_OBSERVABLE
    at(1, 1.0)
    assert over(loaded).value == pytest.approx(9.0)


def test_a_run_that_counts_not_and_one_at_a_fixed_rate_are_no_baseline(db: None) -> None:
    at(1, 1.0, is_excluded=True)
    at(1, 1.0, rate=20.0)
    loaded = at(64, 9.0)
    assert "this run is at 64 threads, the lowest load" in over(loaded).words


def test_panels_of_many_runs_are_read_with_their_baselines_in_two_queries(
    db: None, django_assert_num_queries: Any
) -> None:
    runs = [at(threads, float(threads)).pk for threads in (1, 2, 4)]
    for chosen in (runs[:1], runs):
        with django_assert_num_queries(2):
            assert len(panels.kept_of(chosen)) == len(chosen)
