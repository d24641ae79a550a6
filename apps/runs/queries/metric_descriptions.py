"""Descriptions of metrics from the catalog, and by rule for metrics that only a live run has so far."""

from collections.abc import Collection, Iterable

from apps.catalog.pure import MetricSpec, counter_rules, derived_metrics
from apps.core import binary_cursor
from apps.runs.samples.rates import COUNTER

RATE, GAUGE = "rate", "gauge"
_KNOWN = "SELECT key, name, unit, kind, direction, resource, aspect FROM catalog_metric WHERE key = ANY(%s)"
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\%_"} | {"*": "%"})


def described(keys: Collection[str], patterns: Iterable[str] = ()) -> dict[str, MetricSpec]:
    """Descriptions of `keys` from the catalog, else by its rules; and of the catalog's metrics that match `patterns`,
    keys with a `*`. One query."""
    alike = [like(pattern) for pattern in patterns]
    rows = binary_cursor.fetch(_KNOWN + " OR key LIKE %s" * len(alike), [list(keys), *alike], prepare=not alike)
    known = {row[0]: MetricSpec(*row) for row in rows}
    return known | {
        key: derived_metrics.describe(key)[0] for key in keys if key not in known or derived_metrics.find(key)
    }


def like(pattern: str) -> str:
    """A key with a `*` as a LIKE pattern."""
    return pattern.translate(_SPECIAL)


def kind_of(metric: MetricSpec) -> str:
    return RATE if metric.kind == COUNTER else GAUGE


def unit_of(metric: MetricSpec) -> str:
    """Unit of the metric's values; for a counter, that of its rate."""
    return counter_rules.rate_unit(metric.unit) if metric.kind == COUNTER else metric.unit
