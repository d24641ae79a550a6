"""Statistics of many series on one clock at once; each row equals the result of apps.runs.samples.rates. Pure."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
PERCENTILES = (1, 5, 50, 95, 99)


@dataclass(frozen=True)
class Statistics:
    """Series x statistics, in the order of the columns of Series from `count` to `resets`; `increase` of counters."""

    count: int
    columns: Floats  # mean, stddev, minimum, maximum, p1, p5, p50, p95, p99, first, last
    increase: Floats | None

    def text(self, row: int) -> bytes:
        """Columns of one series as text for COPY."""
        numbers = "\t".join(map(repr, self.columns[row].tolist()))
        increase = r"\N" if self.increase is None else repr(float(self.increase[row]))
        return f"{self.count}\t{numbers}\t{increase}\t0".encode()


def of_counters(clock: Floats, steps: Floats, start: float, end: float) -> Statistics:
    """Statistics of the rates in [start, end). `steps`: series x intervals between the samples of `clock`, not
    negative."""
    inside = _inside((clock[:-1] + clock[1:]) / 2, start, end)
    seconds = np.diff(clock)[inside]
    return _statistics(steps[:, inside] / seconds, seconds, steps[:, inside].sum(axis=1))


def of_gauges(at: Floats, values: Floats, start: float, end: float) -> Statistics:
    """`at`: times that decide whether a sample is in [start, end)."""
    inside = _inside(at, start, end)
    return _statistics(values[:, inside], None, None)


def _inside(at: Floats, start: float, end: float) -> NDArray[np.bool_]:
    return (at >= start) & (at < end)


def _statistics(values: Floats, weights: Floats | None, increase: Floats | None) -> Statistics:
    mean = np.average(values, axis=1, weights=weights)
    deviation = np.sqrt(np.average((values - mean[:, None]) ** 2, axis=1, weights=weights))
    spread = np.percentile(values, PERCENTILES, axis=1)
    columns = [mean, deviation, values.min(axis=1), values.max(axis=1), *spread, values[:, 0], values[:, -1]]
    return Statistics(values.shape[1], np.stack(columns, axis=1), increase)
