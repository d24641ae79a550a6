"""Evaluates the supported part of PromQL over series of runs. Pure but for the reader that it is given."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from apps.rest.prometheus.labels import NAME
from apps.rest.prometheus.promql import Aggregation, Arithmetic, BadQuery, Expression, Number, Selection

Floats = NDArray[np.float64]
# A sample counts until so many intervals after it; then its series has ended, or has a gap.
STALE_AFTER = 2.5
LEAST_STALE = 2.5  # s


@dataclass(frozen=True)
class SelectedSeries:
    """Samples of a series. `is_counter`: its values are totals."""

    labels: Mapping[str, str]
    at: Floats
    values: Floats
    is_counter: bool = False


@dataclass(frozen=True)
class Row:
    """Values at the times of the evaluation; NaN: none."""

    labels: dict[str, str]
    values: Floats


@dataclass(frozen=True)
class Evaluated:
    """`number`: of a scalar; None: `rows` hold the result."""

    rows: list[Row] = field(default_factory=list)
    number: float | None = None


Reader = Callable[[Selection], Sequence[SelectedSeries]]


def evaluate(expression: Expression, times: Floats, read: Reader) -> Evaluated:
    """Raises BadQuery."""
    if isinstance(expression, Number):
        return Evaluated(number=expression.value)
    if isinstance(expression, Selection):
        rows = (_row(expression, each, times) for each in read(expression))
        return Evaluated([row for row in rows if not np.isnan(row.values).all()])
    if isinstance(expression, Aggregation):
        return Evaluated(_aggregated(expression, evaluate(expression.of, times, read).rows, times))
    return _computed(expression, evaluate(expression.left, times, read), evaluate(expression.right, times, read))


def _row(selection: Selection, series: SelectedSeries, times: Floats) -> Row:
    labels = dict(series.labels)
    if not selection.function:
        return Row(labels, _last(series, times))
    if not series.is_counter:
        raise BadQuery(f"{labels[NAME]} is a gauge: {selection.function}() is for counters")
    labels.pop(NAME)
    return Row(labels, _increase(series, times, selection))


def _last(series: SelectedSeries, times: Floats) -> Floats:
    """The last sample at or before each time, unless it is stale."""
    if not len(series.at):
        return np.full(len(times), np.nan)
    step = float(np.median(np.diff(series.at))) if len(series.at) > 1 else 0.0
    places = np.searchsorted(series.at, times, "right") - 1
    old = times - series.at[places.clip(0)] > max(STALE_AFTER * step, LEAST_STALE)
    return np.where((places < 0) | old, np.nan, series.values[places.clip(0)])


def _increase(series: SelectedSeries, times: Floats, selection: Selection) -> Floats:
    """Of a counter within the window before each time, from its first sample there to the last: nothing is estimated
    for the time beside them. A counter that fell began at zero."""
    if len(series.at) < 2:
        return np.full(len(times), np.nan)
    steps = np.diff(series.values)
    total = np.concatenate(([0.0], np.cumsum(np.where(steps < 0, series.values[1:], steps))))
    last = np.searchsorted(series.at, times, "right") - 1
    first = np.searchsorted(series.at, times - selection.window, "right")
    known = last > first
    if selection.function == "irate":
        first = last - 1
    first, last = first.clip(0, len(series.at) - 1), last.clip(0)
    gained = total[last] - total[first]
    if selection.function == "increase":
        return np.where(known, gained, np.nan)
    seconds = series.at[last] - series.at[first]
    found = np.full(len(times), np.nan)
    np.divide(gained, seconds, out=found, where=known & (seconds > 0))
    return found


_FUNCTIONS: dict[str, Callable[[Floats], Floats]] = {
    "sum": lambda rows: np.nansum(rows, axis=0),
    "avg": lambda rows: np.nanmean(rows, axis=0),
    "min": lambda rows: np.nanmin(rows, axis=0),
    "max": lambda rows: np.nanmax(rows, axis=0),
    "count": lambda rows: np.sum(~np.isnan(rows), axis=0).astype(np.float64),
}


def _aggregated(aggregation: Aggregation, rows: Sequence[Row], times: Floats) -> list[Row]:
    groups: dict[tuple[tuple[str, str], ...], list[Floats]] = {}
    for row in rows:
        groups.setdefault(tuple(sorted(_kept(aggregation, row.labels).items())), []).append(row.values)
    found = []
    for labels, values in groups.items():
        stacked = np.stack(values)
        seen = ~np.isnan(stacked).all(axis=0)
        result = np.full(len(times), np.nan)
        result[seen] = _FUNCTIONS[aggregation.how](stacked[:, seen])
        found.append(Row(dict(labels), result))
    return found


def _kept(aggregation: Aggregation, labels: Mapping[str, str]) -> dict[str, str]:
    if aggregation.without:
        return {label: value for label, value in labels.items() if label not in (*aggregation.labels, NAME)}
    return {label: labels[label] for label in aggregation.labels if label in labels}


_OPERATORS: dict[str, Callable[[Floats | float, Floats | float], Floats]] = {
    "+": lambda left, right: np.asarray(left + right),
    "-": lambda left, right: np.asarray(left - right),
    "*": lambda left, right: np.asarray(left * right),
    "/": np.divide,
}


def _computed(expression: Arithmetic, left: Evaluated, right: Evaluated) -> Evaluated:
    operate = _OPERATORS[expression.op]
    with np.errstate(all="ignore"):
        if left.number is not None and right.number is not None:
            return Evaluated(number=float(operate(np.float64(left.number), np.float64(right.number))))
        if left.number is not None:
            number = left.number
            return Evaluated([_changed(row, operate(number, row.values)) for row in right.rows])
        if right.number is not None:
            number = right.number
            return Evaluated([_changed(row, operate(row.values, number)) for row in left.rows])
    raise BadQuery("an operation between two vectors is not supported: a number and a vector is")


def _changed(row: Row, values: Floats) -> Row:
    return Row({label: value for label, value in row.labels.items() if label != NAME}, values)
