"""Memory against data, and the buffer pool's state while the sides were measured; shown even where unknown."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from django.db.models.fields.json import KT

from apps.catalog.models import Node, System
from apps.comparison.sections.section import Section
from apps.comparison.values import Comparison, Level
from apps.core.answers import Shown
from apps.runs.models import Configuration, Run, RunNode, Series

USED, DIRTY, MISSED = (f"derived.buffer_pool.{name}" for name in ("used", "dirty", "miss_ratio"))
SIZE = "innodb_buffer_pool_size"


@dataclass(frozen=True)
class RunSpread:
    """Median, minimum and maximum over `runs`, the number of runs with a value."""

    median: float
    minimum: float
    maximum: float
    runs: Annotated[int, "number of runs with a value"]


@dataclass(frozen=True)
class Pool:
    """Writers' buffer pools at one load level, at the first and the last sample of the measured phase, %: share of
    pages filled, share of pages dirty, share of reads served from the pool; None: unknown."""

    level: Annotated[int, "id of a load level"]
    runs: Annotated[int, "number of runs that count at this level"]
    filled_first: Annotated[RunSpread | None, "%, at the first sample of the measured phase"]
    filled_last: Annotated[RunSpread | None, "%, at its last sample"]
    dirty_first: RunSpread | None
    dirty_last: RunSpread | None
    hits_first: Annotated[RunSpread | None, "% of reads that found their page in the pool"]
    hits_last: RunSpread | None


@dataclass(frozen=True)
class SideMemory:
    """Bytes: `memory` of the writer's machine, `data` of the workload's tables with indexes when the runs began, `pool`
    the buffer pool's size; None: unknown."""

    side: str
    memory: Annotated[float | None, "of the writer's machine, bytes; null: not known"]
    data: Annotated[RunSpread | None, "the workload's tables with their indexes when the runs began, bytes"]
    pool: Annotated[RunSpread | None, "size of the writer's buffer pool, bytes"]
    pools: tuple[Pool, ...]

    @property
    def memory_ratio(self) -> Annotated[Shown[float | None], "memory / data"]:
        return _over(self.memory, self.data)

    @property
    def pool_ratio(self) -> Annotated[Shown[float | None], "buffer pool / data; from 1 on, all of the data fits"]:
        return _over(self.pool.median if self.pool else None, self.data)

    def at(self, level: int) -> Pool | None:
        return next((each for each in self.pools if each.level == level), None)


def memory_of(comparison: Comparison) -> tuple[SideMemory, ...]:
    """One value for each side; five queries."""
    counted = comparison.counted
    machines = _machines([side.system for side in comparison.sides])
    ids = [run.id for run in counted]
    sizes = dict(Run.objects.filter(pk__in=ids, data_bytes__gt=0).order_by().values_list("pk", "data_bytes"))
    writers = _writers(ids)
    states = _states(writers)
    return tuple(
        SideMemory(
            side=side.slug,
            memory=machines.get(side.system),
            data=_spread(sizes.get(run.id) for run in counted if run.side == side.slug),
            pool=_spread(_largest(writers.get(run.id, {})) for run in counted if run.side == side.slug),
            pools=tuple(
                _pool(level.id, [run.id for run in counted if (run.side, run.level) == (side.slug, level.id)], states)
                for level in comparison.levels
            ),
        )
        for side in comparison.sides
    )


def _machines(slugs: Sequence[str]) -> dict[str, float | None]:
    """Slug -> memory of the system's hardware class, bytes."""
    known = System.objects.filter(slug__in=slugs).values_list("slug", "hardware_class__memory_bytes")
    return dict(known)


def _writers(runs: Sequence[int]) -> dict[int, dict[int, float | None]]:
    """Run -> writer's node number -> size of its buffer pool, bytes."""
    asked = RunNode.objects.filter(run_id__in=runs, configuration__isnull=False).order_by()
    rows = list(asked.values_list("run_id", "number", "role", "configuration_id"))
    sizes = dict(
        Configuration.objects.filter(pk__in={row[-1] for row in rows}).values_list("pk", KT(f"variables__{SIZE}"))
    )
    found: dict[int, dict[int, float | None]] = defaultdict(dict)
    others: dict[int, dict[int, float | None]] = defaultdict(dict)
    for run, number, role, configuration in rows:
        size = sizes[configuration]
        chosen = found if role == Node.Role.WRITER else others
        chosen[run][number] = float(size) if size and size.isdecimal() else None
    # Without a writer role in the run, all its nodes count.
    return {run: found.get(run) or others[run] for run in {*found, *others}}


def _states(writers: Mapping[int, Mapping[int, object]]) -> dict[tuple[int, str, str], float]:
    """(run, metric, "first" or "last") -> mean over the run's writers."""
    stored = Series.objects.filter(run_id__in=writers, metric__key__in=(USED, DIRTY, MISSED)).order_by()
    seen: dict[tuple[int, str, str], list[float]] = defaultdict(list)
    for run, node, key, first, last in stored.values_list("run_id", "node", "metric__key", "first", "last"):
        if node in writers[run]:
            for moment, value in (("first", first), ("last", last)):
                if value is not None:
                    seen[run, key, moment].append(value)
    return {place: statistics.fmean(values) for place, values in seen.items()}


def _pool(level: int, runs: Sequence[int], states: Mapping[tuple[int, str, str], float]) -> Pool:
    def of(key: str, moment: str) -> RunSpread | None:
        values = [states.get((run, key, moment)) for run in runs]
        return _spread(100 - value if key == MISSED and value is not None else value for value in values)

    return Pool(
        level=level,
        runs=len(runs),
        filled_first=of(USED, "first"),
        filled_last=of(USED, "last"),
        dirty_first=of(DIRTY, "first"),
        dirty_last=of(DIRTY, "last"),
        hits_first=of(MISSED, "first"),
        hits_last=of(MISSED, "last"),
    )


def _largest(sizes: Mapping[int, float | None]) -> float | None:
    return max((size for size in sizes.values() if size is not None), default=None)


def _spread(values: Iterable[float | None]) -> RunSpread | None:
    known = [float(value) for value in values if value is not None]
    if not known:
        return None
    return RunSpread(statistics.median(known), min(known), max(known), len(known))


def _over(size: float | None, data: RunSpread | None) -> float | None:
    return size / data.median if size and data and data.median else None


def _read(comparison: Comparison, _level: Level | None) -> tuple[SideMemory, ...]:
    return memory_of(comparison)


SECTION = Section("memory", tuple[SideMemory, ...], _read)
