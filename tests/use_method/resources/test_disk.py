"""Disks: what says that they are full, and what does not. Rows of "Looking at Disk Utilization and Saturation"
(Percona, August 2017): sysbench fileio, random reads past the page cache, on an NVMe disk."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from apps.runs.samples.columns import SampledNode
from apps.runs.storage.codec import Column
from apps.use_method import engine
from apps.use_method.panels import response_times
from apps.use_method.resources import disk
from apps.use_method.values import Floats, NodeFacts, Panel, RunFacts, ServerError, UseLevel
from tests.use_method.builders import a_node, facts, of_sampled, reading, steady

# threads: reads/s, requests in flight, ms for each, % of the time with one in flight; all by iostat.
PUBLISHED = {
    1: (7113.16, 0.97, 0.13, 93.68),
    4: (26248.44, 4.05, 0.14, 99.92),
    16: (76845.96, 16.33, 0.20, 100.00),
    64: (127840.59, 65.99, 0.48, 100.24),
    256: (131558.79, 268.30, 1.89, 100.00),
}
TICK = 0.004  # s: of the kernel's clock, which counts the time with a request in flight


def uneven(seconds: int = 30) -> Floats:
    """When samples were taken: never quite a second apart."""
    clock: Floats = np.cumsum(1 + 0.05 * np.sin(np.arange(seconds, dtype=np.float64)))
    return clock


def of_counters(threads: int) -> NodeFacts:
    """A disk's counters as /proc/diskstats would have had them in that row."""
    reads, queue, await_ms, utilization = PUBLISHED[threads]
    clock = uneven()
    ticks = np.ceil(clock * min(utilization, 100.0) / 100 / TICK) * TICK
    counters = {
        "reads": np.round(reads * clock),
        "read_time": reads * clock * await_ms / 1000,
        "io_time": ticks,
        "io_weighted_time": queue * clock,
    }
    columns = {
        f"host.disk.nvme0n1.{name}": Column(values, np.ones(len(clock), np.bool_)) for name, values in counters.items()
    }
    constants = {f"host.disk.nvme0n1.{name}": 0 for name in ("writes", "write_time", "read_bytes", "write_bytes")}
    return of_sampled(SampledNode("db1", "writer", clock, columns, constants), (0.0, 60.0))


@cache
def judged(threads: int) -> Panel:
    return engine.panel(facts(of_counters(threads), threads=threads), [disk.RESOURCE])


def over_one_thread(threads: int) -> Panel:
    first = response_times.of_runs(1, None, {1: judged(1).readings})
    return response_times.against(judged(threads), threads, first)


def test_a_single_thread_that_keeps_a_disk_busy_all_the_time_saturates_nothing() -> None:
    alone = over_one_thread(1)
    assert reading(alone, "disk.utilization", "db1").value == pytest.approx(93.68, abs=0.2)
    assert {one.level for one in alone.readings} <= {UseLevel.OK, UseLevel.NOT_OBSERVABLE}
    assert "the lowest load" in reading(alone, "disk.over_baseline", "db1").words


@pytest.mark.parametrize(
    ("threads", "times", "level", "of_queue"),
    [
        (4, 1.08, UseLevel.OK, UseLevel.OK),
        (16, 1.54, UseLevel.OK, UseLevel.WATCH),
        (64, 3.69, UseLevel.SATURATED, UseLevel.SATURATED),
        (256, 14.5, UseLevel.SATURATED, UseLevel.SATURATED),
    ],
)
def test_the_disk_is_saturated_from_64_threads_on_by_response_time_and_queue(
    threads: int, times: float, level: UseLevel, of_queue: UseLevel
) -> None:
    found = reading(over_one_thread(threads), "disk.over_baseline", "db1")
    assert found.value == pytest.approx(times, rel=0.02)
    assert found.level is level
    assert "× its value at 1 thread" in found.words
    assert reading(judged(threads), "disk.queue", "db1").level is of_queue


@pytest.mark.parametrize("threads", PUBLISHED)
def test_uneven_seconds_and_a_coarse_kernel_clock_show_no_utilization_beyond_all_of_the_time(threads: int) -> None:
    samples = of_counters(threads).series["derived.disk.nvme0n1.utilization"]
    assert float(np.nanmax(samples.values)) <= 100.0
    assert float(np.nanmean(samples.values)) == pytest.approx(min(PUBLISHED[threads][3], 100.0), abs=0.3)


def test_utilization_alone_is_never_called_saturated_and_says_why() -> None:
    found = reading(judged(256), "disk.utilization", "db1")
    assert found.level is UseLevel.WATCH
    assert "not that the disk is full" in found.words


def a_disk(**series: float) -> NodeFacts:
    shown = {"requests": 50.0} | series
    return a_node(series={f"derived.disk.vda.{name}": steady(value) for name, value in shown.items()})


def panel(node: NodeFacts, **more: object) -> Panel:
    return engine.panel(facts(node, **more), [disk.RESOURCE])


def test_a_slow_disk_at_which_nothing_waits_is_not_the_trouble() -> None:
    fast, slow = a_disk(await_write=0.5, queue=0.1), a_disk(await_write=2.5, queue=0.2)
    first = response_times.of_runs(1, None, {1: panel(fast).readings})
    found = reading(response_times.against(panel(slow), 2, first), "disk.over_baseline", "db1")
    assert (found.level, found.value) == (UseLevel.OK, 5.0)
    assert "too few in flight" in found.words


def test_a_ladder_that_begins_with_many_threads_says_so() -> None:
    first = response_times.of_runs(8, None, {1: panel(a_disk(await_read=1.0, queue=4.0)).readings})
    alone = reading(response_times.against(panel(a_disk(await_read=1.0)), 1, first), "disk.over_baseline", "db1")
    assert alone.level is UseLevel.NOT_OBSERVABLE
    found = reading(
        response_times.against(panel(a_disk(await_read=4.0, queue=9.0)), 2, first), "disk.over_baseline", "db1"
    )
    assert found.level is UseLevel.SATURATED
    assert "4.0 × its value at 8 threads: a read took 4.00" in found.words.replace("\u00a0", " ")


def test_the_worst_disk_is_told_of_and_swap_in_memory_is_none() -> None:
    keys = ("requests", "queue")
    of_disks = {"vda": (10.0, 1.0), "vdb": (90.0, 70.0), "zram0": (900.0, 900.0)}
    series = {
        f"derived.disk.{name}.{key}": steady(value)
        for name, values in of_disks.items()
        for key, value in zip(keys, values, strict=True)
    }
    found = reading(panel(a_node(series=series)), "disk.queue", "db1")
    assert (found.level, found.value, found.metric) == (UseLevel.SATURATED, 70.0, "derived.disk.vdb.queue")
    assert found.words.startswith("vdb: at least 64 requests all the time".replace(" r", "\u00a0r"))


def test_requests_are_measured_by_what_the_hardware_class_has() -> None:
    node = a_disk(requests=2940.0)
    assert "states no IOPS" in reading(panel(node), "disk.iops", "db1").words
    stated = replace(node, hardware_iops=3000, hardware_class="gp3 small")
    found = reading(panel(stated), "disk.iops", "db1")
    assert (found.level, found.value) == (UseLevel.SATURATED, 98.0)
    assert "3,000 requests/s that gp3 small has" in found.words


def test_without_a_read_the_time_of_reads_is_not_observable() -> None:
    node = a_disk(await_write=1.0)
    node = replace(node, series={**node.series, "host.disk.vda.reads": steady(0.0)})
    found = reading(panel(node), "disk.await_read", "db1")
    assert (found.level, found.words) == (UseLevel.NOT_OBSERVABLE, "no read reached a disk")


def test_a_full_disk_that_the_client_was_told_of_is_an_error_of_the_disk() -> None:
    error = ServerError(None, "Error writing file (Errcode: 28 No space left on device)", 3, 12.0)
    other = ServerError(1213, "Deadlock found", 7, 5.0)
    found = reading(panel(a_disk(), complaints=(other, error)), "disk.errors", "db1")
    assert (found.level, found.value, found.spans) == (UseLevel.ERROR, 3.0, ((12.0, 12.0),))
    assert reading(panel(a_disk(), complaints=(other,)), "disk.errors", "db1").level is UseLevel.NOT_OBSERVABLE


def test_a_disk_of_aurora_is_the_volume_service_that_no_guest_sees() -> None:
    shown = a_node(series={"aws.rds.ReadLatency": steady(0.0312, seconds=5)})
    found: RunFacts = facts(shown, aws="cluster")
    seen = engine.panel(found, [disk.RESOURCE])
    assert reading(seen, "disk.await_read", "db1").value == pytest.approx(31.2)
    assert reading(seen, "disk.queue", "db1").level is UseLevel.NOT_OBSERVABLE
    assert "AWS does not show its disks" in reading(seen, "disk.utilization", "db1").words
