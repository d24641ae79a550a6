"""Reads of the warehouse: small frozen values, in a constant number of queries whatever is asked for."""

from apps.runs.queries.detail import (
    ArtifactDetail,
    EventDetail,
    MeasurementDetail,
    NodeDetail,
    RunDetail,
    SystemDetail,
    load_run,
)
from apps.runs.queries.distributions import DistributionDetail, distributions
from apps.runs.queries.listing import RunFilter, RunRow, list_runs
from apps.runs.queries.measured import MeasuredValue, measurements
from apps.runs.queries.series import SeriesInfo, SeriesValues, load_series, series_index

__all__ = [
    "ArtifactDetail",
    "DistributionDetail",
    "EventDetail",
    "MeasuredValue",
    "MeasurementDetail",
    "NodeDetail",
    "RunDetail",
    "RunFilter",
    "RunRow",
    "SeriesInfo",
    "SeriesValues",
    "SystemDetail",
    "distributions",
    "list_runs",
    "load_run",
    "load_series",
    "measurements",
    "series_index",
]
