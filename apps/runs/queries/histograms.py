"""Histograms of many runs at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from apps.core.answers import Hidden, Inline, component
from apps.runs.models import Distribution as Row
from apps.runs.samples.histograms import HistogramCounts, grid_of
from apps.runs.tool_output import LATENCY


@component("Distribution", "Counts on a grid, read from bytes [byte_start, byte_end) of the artifact.")
@dataclass(frozen=True)
class DistributionDetail:
    """Histogram of a metric over [`starts_at`, `ends_at`) of the run's clock, s, with its provenance."""

    run_id: Hidden[int]
    metric: str
    name: str
    unit: Annotated[str, "of all values"]
    node: Hidden[int]
    starts_at: Annotated[float, "what it covers, s on the run's clock"]
    ends_at: float
    distribution: Annotated[HistogramCounts, Inline()]
    artifact: str
    sha256: str
    byte_start: int
    byte_end: int
    parser: str
    parser_version: str


def distributions(run_ids: Sequence[int], metric: str | None = LATENCY) -> list[DistributionDetail]:
    """Histograms by run, node and time, of all metrics for None, without entries for runs that have none. One query."""
    rows = Row.objects.filter(run_id__in=list(run_ids)).select_related("metric", "artifact")
    rows = rows if metric is None else rows.filter(metric__key=metric)
    return [
        DistributionDetail(
            run_id=row.run_id,
            metric=row.metric.key,
            name=row.metric.name,
            unit=row.metric.unit,
            node=row.node,
            starts_at=row.starts_at,
            ends_at=row.ends_at,
            distribution=HistogramCounts(grid_of(row.grid), tuple(row.buckets), tuple(row.counts)),
            artifact=row.artifact.name,
            sha256=row.artifact.sha256,
            byte_start=row.byte_start,
            byte_end=row.byte_end,
            parser=row.parser,
            parser_version=row.parser_version,
        )
        for row in rows.order_by("run_id", "node", "starts_at", "metric__key")
    ]
