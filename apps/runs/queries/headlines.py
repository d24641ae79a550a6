"""Headline values of many runs at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.runs.models import Measurement

THROUGHPUT, P95 = "client.throughput", "client.latency.p95"


@dataclass(frozen=True)
class MeasuredValue:
    run_id: int
    metric: str
    name: str
    unit: str
    direction: str
    value: float


def measurements(run_ids: Sequence[int], metrics: Sequence[str]) -> list[MeasuredValue]:
    """Headline values of `metrics` (keys) in `run_ids`, without entries for missing ones. One query."""
    rows = Measurement.objects.filter(run_id__in=list(run_ids), metric__key__in=list(metrics))
    return [
        MeasuredValue(run_id=run_id, metric=key, name=name, unit=unit, direction=direction, value=value)
        for run_id, key, name, unit, direction, value in rows.order_by("run_id", "metric__key").values_list(
            "run_id", "metric__key", "metric__name", "metric__unit", "metric__direction", "value"
        )
    ]
