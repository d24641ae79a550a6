"""What the catalog says of metrics, also of those that only a live run has so far."""

from collections.abc import Collection, Iterable

from django.db.models import Q

from apps.catalog import derived, rules
from apps.catalog.models import Metric
from apps.catalog.rules import MetricSpec
from apps.runs.summary import COUNTER

RATE, GAUGE = "rate", "gauge"
_FIELDS = ("key", "name", "unit", "kind", "direction", "resource", "aspect")


def described(keys: Collection[str], patterns: Iterable[str] = ()) -> dict[str, MetricSpec]:
    """The catalog's word for each key, else what its rules say; also for what it has of keys with a `*`. One query."""
    wanted = Q(key__in=list(keys))
    for pattern in patterns:
        start, _, end = pattern.partition("*")
        wanted |= Q(key__startswith=start, key__endswith=end)
    known = {row[0]: MetricSpec(*row) for row in Metric.objects.filter(wanted).order_by().values_list(*_FIELDS)}
    return known | {key: derived.describe(key)[0] for key in keys if key not in known or derived.find(key)}


def kind_of(metric: MetricSpec) -> str:
    return RATE if metric.kind == COUNTER else GAUGE


def unit_of(metric: MetricSpec) -> str:
    """Of its values; of a counter's, that of its rate."""
    return rules.rate_unit(metric.unit) if metric.kind == COUNTER else metric.unit
