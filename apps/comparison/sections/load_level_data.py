"""Load levels of a comparison's sides: values and histograms of the runs at each level without a fixed rate."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from apps.comparison.compare import THROUGHPUT
from apps.comparison.sections.load_levels import PERCENTILES, LevelQuantile, LoadLevelData, SideLevels
from apps.comparison.sections.section import Section
from apps.comparison.stats.resolution import resolution
from apps.comparison.stats.welch import Direction
from apps.comparison.values import ComparedMetric, ComparedRun, Comparison, Level, Side
from apps.runs.api import queries
from apps.runs.models import Measurement
from apps.runs.pure import LATENCY, DifferentGrids, HistogramCounts, merge

MEAN = f"{LATENCY}.avg"
KEYS = {percent: f"{LATENCY}.p{percent:g}" for percent in PERCENTILES}

RunValues = Mapping[int, Mapping[str, float]]


@dataclass(frozen=True)
class Ramps:
    """Load levels of each side that has any; `metric` is its throughput. `rated`: number of levels at a fixed rate,
    which are left out. `notes` are sentences."""

    metric: ComparedMetric
    climbs: tuple[SideLevels, ...]
    rated: int
    notes: tuple[str, ...]


def ramps_of(comparison: Comparison) -> Ramps | None:
    """None: no run has a throughput. Two queries."""
    metric = throughput_metric(comparison.metrics)
    if metric is None or not any(metric.key in run.values for run in comparison.counted):
        return None
    levels = {level.id: level for level in comparison.levels if level.rate is None}
    runs = [run for run in comparison.counted if run.level in levels]
    values = _values([run.id for run in runs])
    histograms: dict[int, list[HistogramCounts]] = defaultdict(list)
    for one in queries.distributions([run.id for run in runs]):
        histograms[one.run_id].append(one.distribution)
    read = _Read(metric, values, histograms)
    ramps = [read.ramp(side, levels, [run for run in runs if run.side == side.slug]) for side in comparison.sides]
    return Ramps(
        metric=metric,
        climbs=tuple(ramp for ramp in ramps if ramp.levels),
        rated=sum(level.rate is not None for level in comparison.levels),
        notes=tuple(dict.fromkeys(read.notes)),
    )


def throughput_metric(metrics: Sequence[ComparedMetric]) -> ComparedMetric | None:
    """The metric of throughput that is compared first."""
    rates = [each for each in metrics if each.direction is Direction.HIGHER and each.unit.endswith("/s")]
    return next((each for each in rates if each.primary), None) or next(
        (each for each in rates if each.key == THROUGHPUT), None
    )


def _values(runs: Sequence[int]) -> dict[int, dict[str, float]]:
    found: dict[int, dict[str, float]] = defaultdict(dict)
    known = Measurement.objects.filter(run_id__in=runs, metric__key__in=[MEAN, *KEYS.values()])
    for run, key, value in known.order_by().values_list("run_id", "metric__key", "value"):
        found[run][key] = value
    return found


class _Read:
    """Data read for all sides; `notes` collects remarks about it."""

    def __init__(
        self, metric: ComparedMetric, values: RunValues, histograms: Mapping[int, list[HistogramCounts]]
    ) -> None:
        self.metric = metric
        self.values = values
        self.histograms = histograms
        self.notes: list[str] = []

    def ramp(self, side: Side, levels: Mapping[int, Level], runs: Sequence[ComparedRun]) -> SideLevels:
        known = [run for run in runs if self.metric.key in run.values]
        little = not all(self.values.get(run.id, {}).get(MEAN, 0) > 0 for run in known)
        # Little's law needs the throughput of requests; the compared metric may count something else.
        possible = not little or self.metric.key == THROUGHPUT
        found = []
        for level in sorted(levels.values(), key=lambda level: level.threads):
            own = [run for run in known if run.level == level.id]
            if own:
                found.append(self._level_data(side, level, own, little=little, possible=possible))
        return SideLevels(side.slug, tuple(found), by_littles_law=little and possible)

    def _level_data(
        self, side: Side, level: Level, runs: Sequence[ComparedRun], *, little: bool, possible: bool
    ) -> LoadLevelData:
        throughput = tuple(run.values[self.metric.key] for run in runs)
        response: tuple[float, ...] = ()
        if possible and not little:
            response = tuple(self.values[run.id][MEAN] for run in runs)
        elif possible and min(throughput) > 0:
            response = tuple(1000 * level.threads / value for value in throughput)
        return LoadLevelData(level.id, level.threads, throughput, response, self._quantiles(side, level, runs))

    def _quantiles(self, side: Side, level: Level, runs: Sequence[ComparedRun]) -> tuple[LevelQuantile, ...]:
        merged = self._merged(side, level, runs)
        found = []
        for percent, key in KEYS.items():
            known = [run for run in runs if key in self.values.get(run.id, {})]
            own = tuple(self.values[run.id][key] for run in known)
            sessions = tuple(run.session for run in known if run.session is not None)
            sessions = sessions if len(sessions) == len(known) else ()
            all_of_it = merged.percentile(percent) if merged else None
            if not own and all_of_it is None:
                continue
            grids = [merged.grid.id] if merged else []
            step = resolution(key, tool=side.workload.tool, grids=grids)
            quantile = LevelQuantile(percent, own, step=step, sessions=sessions)
            if all_of_it is not None:
                quantile = replace(quantile, value=all_of_it.value, low=all_of_it.low, high=all_of_it.high)
            found.append(quantile)
        return tuple(found)

    def _merged(self, side: Side, level: Level, runs: Sequence[ComparedRun]) -> HistogramCounts | None:
        """Merged histogram of the runs that have one."""
        have = [run.id for run in runs if run.id in self.histograms]
        if not have:
            return None
        if len(have) < len(runs):
            self.notes.append(
                f"{side.name} at {level.text}: {len(runs) - len(have)} of {len(runs)} runs have no histogram, so the "
                "percentiles of all requests leave theirs out."
            )
        try:
            return merge([each for run in have for each in self.histograms[run]])
        except DifferentGrids as error:
            self.notes.append(f"{side.name} at {level.text}: {error}.")
            return None


def _read(comparison: Comparison, _level: Level | None) -> Ramps | None:
    return ramps_of(comparison)


SECTION = Section("ladder", Ramps | None, _read)
