"""Metrics that senders of results describe themselves."""

from collections.abc import Iterable

from apps.catalog.metrics.counter_rules import MetricSpec
from apps.catalog.models import Metric
from apps.catalog.services import InvalidField, metric_row


def state_metrics(specs: Iterable[MetricSpec]) -> None:
    """Creates missing metrics as their sender describes them. Raises InvalidField for one that is known with another
    unit or direction."""
    stated = {spec.key: spec for spec in specs}
    rows = [metric_row(spec, curated=False) for _, spec in sorted(stated.items())]
    Metric.objects.bulk_create(rows, ignore_conflicts=True)
    for known in Metric.objects.filter(key__in=stated):
        spec = stated[known.key]
        if (known.unit, known.direction) != (spec.unit, spec.direction):
            unit = known.unit or "plain numbers"
            message = f"is known in {unit}, {known.get_direction_display()}: state these, or another name"
            raise InvalidField(known.key, message)
