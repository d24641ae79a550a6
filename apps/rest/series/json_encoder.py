"""Series as JSON, rounded and encoded series by series; and the dataclasses of its shape."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Annotated, Any
from uuid import UUID

import numpy as np
import orjson

from apps.core.answers import Omitted
from apps.rest.framework.digits import MILLISECONDS, Floats, all_significant, significant, to_milliseconds
from apps.rest.series.read import Absent, SeriesPass, as_float
from apps.runs.api import queries
from apps.runs.models import Run
from apps.runs.pure import COUNTER

# Number of thinned series that are rounded together.
TOGETHER = 16


@dataclass(frozen=True, kw_only=True)
class OneSeries:
    metric: str
    name: str
    unit: Annotated[str, "of the values: for a counter, that of its rate"]
    direction: Annotated[str, "higher, lower or neutral: what is better"]
    node: str
    kind: Annotated[str, "rate, gauge, or counter: its totals"]
    at: Annotated[Iterable[float], "s on the clock asked for, to 1 ms"]
    values: Annotated[Iterable[float | None], "six significant digits, of totals all; null: not observed"]
    resets: Annotated[list[float], "when a counter fell, s"]
    zero: Annotated[float, "where that clock begins, s on the run's"]
    nodes: Annotated[Omitted[tuple[str, ...]], "over nodes: those that have the metric"] = None
    parts: Annotated[Omitted[Iterable[int]], "over nodes: of how many each value is"] = None


@dataclass(frozen=True, kw_only=True)
class OneSeriesOfRuns(OneSeries):
    run: int


@dataclass(frozen=True, kw_only=True)
class Missing:
    metric: str
    node: Annotated[str, "empty: on none"]
    reason: str


@dataclass(frozen=True, kw_only=True)
class MissingInRun(Missing):
    run: int


@dataclass(frozen=True)
class RunSeries:
    """Written by `document`."""

    run: int
    measured: Annotated[tuple[float, float] | None, "[from, to), s; null: not known yet"]
    series: list[OneSeries]
    missing: Annotated[list[Missing], "what was asked for and is not there, or cannot be read"]


@dataclass(frozen=True)
class MeasuredRun:
    run: int
    uid: UUID
    measured: Annotated[tuple[float, float] | None, "[from, to), s"]


@dataclass(frozen=True)
class SeriesOfRuns:
    """Written by `document`."""

    runs: list[MeasuredRun]
    series: list[OneSeriesOfRuns]
    missing: list[MissingInRun]


@dataclass(frozen=True)
class SeriesEntry:
    metric: str
    name: str
    unit: str
    direction: str
    kind: str
    node: str
    resource: str
    aspect: Annotated[str, "utilization, saturation, errors, or empty"]
    constant: Annotated[bool, "it never changed"]
    mean: Annotated[float | None, "over the measured phase; null: not observed in it"]
    minimum: float | None
    maximum: float | None
    resets: Annotated[int, "how often a counter fell"]


@dataclass(frozen=True)
class SeriesIndex:
    run: int
    series: list[SeriesEntry]


def measured(run: Run) -> tuple[float, float] | None:
    """[from, to), s on the run's clock; None: not known yet."""
    return None if run.measured_from is None or run.measured_to is None else (run.measured_from, run.measured_to)


def described(run: Run) -> MeasuredRun:
    return MeasuredRun(run.pk, run.uid, measured(run))


def document(head: dict[str, Any], reading: SeriesPass, *, runs: bool) -> Iterator[bytes]:
    """`head`, `series` and `missing` as one object: a piece per chunk of series and a final one.

    `runs`: each entry includes its run.
    """
    before = orjson.dumps(head)[:-1] + b',"series":['
    for found in reading.stretches():
        if found:
            pieces = [piece for some in _few(found) for piece in _encoded(some, runs=runs)]
            pieces[0] = before + pieces[0]
            yield b",".join(pieces)
            before = b","
    absent = [_absent(one, runs=runs) for one in reading.absent()]
    yield before.removeprefix(b",") + b'],"missing":' + orjson.dumps(absent) + b"}"


def _absent(one: Absent, *, runs: bool) -> Missing:
    if runs:
        return MissingInRun(run=one.run_id, metric=one.metric, node=one.node, reason=one.reason)
    return Missing(metric=one.metric, node=one.node, reason=one.reason)


def _few(found: Sequence[queries.SeriesValues]) -> Iterator[Sequence[queries.SeriesValues]]:
    """Groups small enough that their intermediate results stay in the processor's cache."""
    return (found[start : start + TOGETHER] for start in range(0, len(found), TOGETHER))


def _encoded(found: Sequence[queries.SeriesValues], *, runs: bool) -> Iterator[bytes]:
    at = to_milliseconds(np.concatenate([series.at for series in found]))
    exact = np.concatenate([as_float(series) for series in found])
    rounded = all_significant(exact)
    edges = pairwise(accumulate((len(series.at) for series in found), initial=0))
    for series, (start, end) in zip(found, edges, strict=True):
        # The increase of a rounded total would be lost.
        values = exact if series.kind == COUNTER else rounded
        drawn = _drawn(series, at[start:end], values[start:end], runs=runs)
        # Non-finite numbers become null.
        yield orjson.dumps(drawn, option=orjson.OPT_SERIALIZE_NUMPY)


def _drawn(series: queries.SeriesValues, at: Floats, values: Floats, *, runs: bool) -> dict[str, Any]:
    is_over_nodes = series.parts is not None
    drawn = OneSeries(
        metric=series.metric,
        name=series.name,
        unit=series.unit,
        direction=series.direction,
        node=series.node,
        kind=series.kind,
        zero=round(series.zero, MILLISECONDS),
        at=at,
        values=values,
        resets=[round(reset, MILLISECONDS) for reset in series.resets],
        nodes=series.nodes if is_over_nodes else None,
        parts=np.ascontiguousarray(series.parts) if is_over_nodes else None,
    )
    written = {name: value for name, value in vars(drawn).items() if value is not None}
    return {"run": series.run_id, **written} if runs else written


def index(run: Run, found: Sequence[queries.SeriesInfo]) -> Iterator[bytes]:
    yield orjson.dumps(SeriesIndex(run.pk, [_listed(info) for info in found]))


def _listed(info: queries.SeriesInfo) -> SeriesEntry:
    return SeriesEntry(
        metric=info.metric,
        name=info.name,
        unit=info.unit,
        direction=info.direction,
        kind=info.kind,
        node=info.node,
        resource=info.resource,
        aspect=info.aspect,
        constant=info.constant,
        mean=significant(info.statistics.mean),
        minimum=significant(info.statistics.minimum),
        maximum=significant(info.statistics.maximum),
        resets=info.statistics.resets,
    )
