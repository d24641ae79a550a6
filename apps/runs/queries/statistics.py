"""Statistics of a metric over many runs, stored by the seal: no samples are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet
from numpy.typing import NDArray

from apps.catalog.pure import derived_metrics
from apps.runs.models import Run
from apps.runs.queries.metric_descriptions import kind_of, unit_of
from apps.runs.samples.rates import COUNTER, SeriesStatistics

Floats = NDArray[np.float64]
MEASURED, WHOLE = "measured", "whole"
STATISTICS = SeriesStatistics._fields
# Statistics of a constant series that are its value; all statistics of a constant counter are those of the rate 0.
LEVELS = frozenset(("mean", "minimum", "maximum", "p1", "p5", "p50", "p95", "p99", "first", "last"))

# A constant series has no row but a value in its node's constants, which are decompressed only where a row is missing.
_QUERY = """
SELECT n.run_id, n.name, {columns},
  CASE WHEN s.run_id IS NULL THEN (n.constants ->> m.key)::float8 END
FROM catalog_metric m
CROSS JOIN runs_runnode n
LEFT JOIN runs_series s ON s.run_id = n.run_id AND s.metric_id = m.id AND s.node = n.number
WHERE m.key = %s AND n.run_id {runs} {nodes}
ORDER BY n.run_id, n.number
"""


@dataclass(frozen=True)
class MetricStatistics:
    """One entry per run and node on which the metric was observed, by run and number of the node; NaN: not observed in
    that phase. `values`: one array per requested statistic. `constant`: series that never changed, whose `count` is not
    stored (NaN).

    For a counter (`kind` is rate), statistics and `unit` are those of its rate; `increase` is in the unit of its total.
    """

    metric: str
    name: str
    unit: str
    direction: str
    kind: str
    run_ids: NDArray[np.int64]
    nodes: tuple[str, ...]
    constant: NDArray[np.bool_]
    values: dict[str, Floats]

    def __len__(self) -> int:
        return len(self.run_ids)


def statistics_of(
    metric: str,
    runs: "Sequence[int] | QuerySet[Run]",
    *,
    statistics: Sequence[str] = ("mean", "stddev", "minimum", "p50", "p95", "p99", "maximum"),
    nodes: Sequence[str] | None = None,
    phase: str = MEASURED,
) -> MetricStatistics:
    """`statistics` (see STATISTICS) of `metric` (key, also of a derived metric) on `nodes` (names; None: all) of the
    sealed runs among `runs` (ids or a query), over the "measured" phase or the "whole" run. One query.

    Raises ValueError for an unknown statistic or phase.
    """
    if phase not in (MEASURED, WHOLE) or not set(statistics) <= set(STATISTICS):
        raise ValueError(f"phases are {MEASURED} and {WHOLE}, statistics {', '.join(STATISTICS)}")
    spec, _ = derived_metrics.describe(metric)
    rows = _rows(metric, runs, [f"whole_{name}" if phase == WHOLE else name for name in statistics], nodes)
    kept = [row for row in rows if row[2] or row[-1] is not None]
    constant = np.array([not row[2] for row in kept], np.bool_)
    level = np.array([row[-1] for row in kept], np.float64)
    table = np.array([row[3:-1] for row in kept], np.float64).reshape(len(kept), len(statistics)).T
    still = {name: _of_constant(name, level, is_counter=spec.kind == COUNTER) for name in statistics}
    return MetricStatistics(
        metric=metric,
        name=spec.name,
        unit=unit_of(spec),
        direction=spec.direction,
        kind=kind_of(spec),
        run_ids=np.array([row[0] for row in kept], np.int64),
        nodes=tuple(row[1] for row in kept),
        constant=constant,
        values={name: np.where(constant, still[name], column) for name, column in zip(statistics, table, strict=True)},
    )


def _of_constant(name: str, level: Floats, *, is_counter: bool) -> Floats:
    if name == "count":
        return np.full(len(level), np.nan)
    if name in LEVELS and not is_counter:
        return level
    return np.full(len(level), np.nan if name == "increase" and not is_counter else 0.0)


def _rows(
    metric: str, runs: "Sequence[int] | QuerySet[Run]", columns: Sequence[str], nodes: Sequence[str] | None
) -> list[tuple[int, str, bool, float, float | None]]:
    """Rows of run, node, whether the series changed, `columns`, and the value of a constant series."""
    arguments: list[Any] = [metric]
    if isinstance(runs, QuerySet):
        unordered = runs if runs.query.is_sliced else runs.order_by()
        try:
            chosen, parameters = unordered.values("pk").query.sql_with_params()
        except EmptyResultSet:
            return []
        condition = f"IN ({chosen})"
        arguments += parameters
    else:
        condition = "= ANY(%s)"
        arguments.append(list(runs))
    if nodes is not None:
        arguments.append(list(nodes))
    names = ", ".join(("s.run_id IS NOT NULL", *(f"s.{name}" for name in columns)))
    with connection.cursor() as cursor:
        cursor.execute(
            _QUERY.format(columns=names, runs=condition, nodes="" if nodes is None else "AND n.name = ANY(%s)"),
            arguments,
        )
        rows: list[tuple[int, str, bool, float, float | None]] = cursor.fetchall()
    return rows
