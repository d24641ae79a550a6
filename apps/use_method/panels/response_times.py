"""Response times relative to those at the lowest load, added when a panel is displayed. Pure.

Judging one run never depends on another: its panel stores the response times of its disks, and their ratio to the
lowest load of the same system and workload is computed on display.
"""

import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from apps.core.units import format_number, with_unit
from apps.use_method.resources.disk import LEAST_QUEUE, OVER_LIMITS
from apps.use_method.values import Panel, Reading, UseLevel

OVER, QUEUE = "disk.over_baseline", "disk.queue"
TIMES = {"disk.await_read": "read", "disk.await_write": "write"}
# Readings needed of the runs at the lowest load.
NEEDED = frozenset(TIMES)
# (node, indicator, series): each disk is compared with itself.
Place = tuple[str, str, str]


@dataclass(frozen=True)
class Baseline:
    """Response times at the lowest load, `threads` (or `rate`), of `run_ids`: ms by place, one value per run."""

    threads: int
    rate: float | None
    run_ids: tuple[int, ...]
    times: Mapping[Place, Sequence[float]]

    @property
    def words(self) -> str:
        if self.rate is not None:
            return f"at {with_unit(self.rate, 'transactions/s')}"
        return f"at {self.threads} {'thread' if self.threads == 1 else 'threads'}"


def of_runs(threads: int, rate: float | None, readings: Mapping[int, Iterable[Reading]]) -> Baseline:
    """`readings`: the NEEDED ones of the runs at the lowest load, by run."""
    times: dict[Place, list[float]] = {}
    for of_run in readings.values():
        for one in of_run:
            if one.indicator in TIMES and one.value:
                times.setdefault((one.node, one.indicator, one.metric), []).append(one.value)
    return Baseline(threads, rate, tuple(readings), times)


def against(panel: Panel, run_id: int, baseline: Baseline | None) -> Panel:
    """The panel with its response times relative to the baseline's; unchanged without a baseline."""
    if baseline is None or not any(one.indicator == OVER for one in panel.readings):
        return panel
    readings = tuple(
        _over(one, panel.readings, baseline, is_it=run_id in baseline.run_ids) if one.indicator == OVER else one
        for one in panel.readings
    )
    return replace(panel, readings=readings)


def _over(reading: Reading, readings: Collection[Reading], baseline: Baseline, *, is_it: bool) -> Reading:
    own = [one for one in readings if one.node == reading.node and one.indicator in TIMES and one.value]
    if is_it:
        return replace(reading, words=f"this run is {baseline.words}, the lowest load: the baseline of other runs")
    ratios = [
        (one.value / usual, one, usual) for one in own if one.value and (usual := _usual(baseline, one)) is not None
    ]
    if not ratios:
        return replace(reading, words=f"response times of its disks {baseline.words} were not observed")
    ratio, one, usual = max(ratios, key=lambda found: found[0])
    queue = next((each for each in readings if (each.node, each.indicator) == (reading.node, QUEUE)), None)
    waiting = queue.value if queue is not None else None
    words = (
        f"{format_number(ratio, 2)} × its value {baseline.words}: a {TIMES[one.indicator]} took "
        f"{with_unit(one.value, 'ms')}, not {with_unit(usual, 'ms')}"
    )
    level = _level(ratio)
    if waiting is not None:
        words += f"; queue {format_number(waiting, 2)}"
        if level is not UseLevel.OK and waiting < LEAST_QUEUE:
            level, words = UseLevel.OK, f"{words}: too few in flight to wait for each other"
    return replace(reading, level=level, value=ratio, words=words, metric=one.metric, peak=ratio, spans=one.spans)


def _usual(baseline: Baseline, one: Reading) -> float | None:
    found = baseline.times.get((one.node, one.indicator, one.metric))
    return statistics.median(found) if found else None


def _level(ratio: float) -> UseLevel:
    if OVER_LIMITS.saturated is not None and ratio >= OVER_LIMITS.saturated:
        return UseLevel.SATURATED
    return UseLevel.WATCH if OVER_LIMITS.watch is not None and ratio >= OVER_LIMITS.watch else UseLevel.OK
