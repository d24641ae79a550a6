"""A comparison, as the server judges it, with its pairs of sides as rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Optional

from splashboard.answers.comparisons import Cell, Compared, ComparedMetric, Level, Side, SideSummary
from splashboard.frames import AsFrame, FrameColumn, columns_of


@dataclass(frozen=True)
class ComparedPair:
    """A side against the baseline at one load level in one metric. Nothing of it is computed by the client.

    `value`, `minimum`, `maximum`: of the side's runs, in `unit`. `ratio`: of value to baseline_value, with the ends of
    its 95 % interval.
    """

    side: str  # as in the request
    system: str  # slug
    workload: str
    baseline: str
    baseline_system: str
    baseline_workload: str
    threads: int
    rate: Optional[float]  # 1/s; None: unthrottled
    metric: str  # key
    metric_name: str
    unit: str
    direction: str  # higher, lower or neutral: what is better
    primary: bool  # the workload's headline metric
    baseline_value: Optional[float]
    baseline_minimum: Optional[float]
    baseline_maximum: Optional[float]
    value: Optional[float]
    minimum: Optional[float]
    maximum: Optional[float]
    ratio: Optional[float]
    ratio_low: Optional[float]
    ratio_high: Optional[float]
    p: Optional[float]
    adjusted_p: Optional[float]  # Benjamini-Hochberg over the table
    verdict: str  # better, worse, inconclusive, …
    reason: str  # why there is no ratio or interval
    needed: Optional[int]  # repetitions per side for a conclusive result; 1001: more than 1,000
    replicates: str  # what the interval takes as one repetition
    baseline_repetitions: Optional[int]
    repetitions: Optional[int]
    baseline_runs: list[int]
    runs: list[int]
    baseline_sessions: list[int]
    sessions: list[int]
    limits: list[str]  # what failed quality checks make of the verdict


@dataclass(frozen=True)
class ComparisonAnswer(Compared, AsFrame):
    def pairs(self) -> list[ComparedPair]:
        """A row per load level, metric and side other than the baseline."""
        return list(self._pairs())

    def columns(self) -> dict[str, FrameColumn]:
        return columns_of(ComparedPair, self.pairs())

    def _pairs(self) -> Iterator[ComparedPair]:
        cells = {(cell.level, cell.metric, cell.side): cell for cell in self.cells}
        baseline, *others = self.sides
        for level in self.levels:
            for metric in self.metrics:
                base = cells.get((level.id, metric.key, baseline.slug))
                for side in others:
                    cell = cells.get((level.id, metric.key, side.slug))
                    if base and cell:
                        yield self._pair(level, metric, (baseline, base), (side, cell))

    def _pair(
        self, level: Level, metric: ComparedMetric, baseline: tuple[Side, Cell], other: tuple[Side, Cell]
    ) -> ComparedPair:
        (base, base_cell), (side, cell), ratio = baseline, other, other[1].ratio
        counts = ratio.counts if ratio and ratio.counts else (None, None)
        base_value, base_minimum, base_maximum = _spread(base_cell.summary)
        value, minimum, maximum = _spread(cell.summary)
        return ComparedPair(
            side=side.slug,
            system=side.system,
            workload=side.workload.name,
            baseline=base.slug,
            baseline_system=base.system,
            baseline_workload=base.workload.name,
            threads=level.threads,
            rate=level.rate,
            metric=metric.key,
            metric_name=metric.name,
            unit=metric.unit,
            direction=metric.direction,
            primary=metric.primary,
            baseline_value=base_value,
            baseline_minimum=base_minimum,
            baseline_maximum=base_maximum,
            value=value,
            minimum=minimum,
            maximum=maximum,
            ratio=ratio.value if ratio else None,
            ratio_low=ratio.low if ratio else None,
            ratio_high=ratio.high if ratio else None,
            p=ratio.p if ratio else None,
            adjusted_p=ratio.adjusted_p if ratio else None,
            verdict=cell.words,
            reason=ratio.reason if ratio else "",
            needed=ratio.needed if ratio else None,
            replicates=ratio.replicates if ratio else "",
            baseline_repetitions=counts[0],
            repetitions=counts[1],
            baseline_runs=[each.run for each in base_cell.replicates],
            runs=[each.run for each in cell.replicates],
            baseline_sessions=self._sessions(base_cell),
            sessions=self._sessions(cell),
            limits=[
                limit.words
                for claims in self.claim_limits
                if (claims.level, claims.metric) == (level.id, metric.key)
                for limit in claims.limits
                if side.slug in limit.sides
            ],
        )

    def _sessions(self, cell: Cell) -> list[int]:
        counted = {each.run for each in cell.replicates}
        return sorted({run.session for run in self.runs if run.id in counted and run.session is not None})


def _spread(summary: Optional[SideSummary]) -> tuple[Optional[float], Optional[float], Optional[float]]:
    return (summary.value, summary.minimum, summary.maximum) if summary else (None, None, None)
