"""Reads of the warehouse: small frozen values, in a constant number of queries."""

from apps.runs.queries.alignment import MEASURED_PHASE, RUN_CLOCK, Alignment
from apps.runs.queries.detail import (
    ArtifactDetail,
    CheckDetail,
    EventDetail,
    MeasurementDetail,
    NodeDetail,
    RunDetail,
    SystemDetail,
    load_run,
)
from apps.runs.queries.headlines import MeasuredValue, measurements
from apps.runs.queries.histograms import DistributionDetail, distributions
from apps.runs.queries.rates import NodeRates, Rate, rates_of
from apps.runs.queries.run_list import RunFilter, RunRow, list_runs
from apps.runs.queries.run_order import NEWEST, ORDERS
from apps.runs.queries.series import SeriesValues, load_series
from apps.runs.queries.series_index import SeriesInfo, series_index, series_indexes
from apps.runs.queries.statistics import MetricStatistics, statistics_of
from apps.runs.queries.timelines import Timeline, timelines

__all__ = [
    "MEASURED_PHASE",
    "NEWEST",
    "ORDERS",
    "RUN_CLOCK",
    "Alignment",
    "ArtifactDetail",
    "CheckDetail",
    "DistributionDetail",
    "EventDetail",
    "MeasuredValue",
    "MeasurementDetail",
    "MetricStatistics",
    "NodeDetail",
    "NodeRates",
    "Rate",
    "RunDetail",
    "RunFilter",
    "RunRow",
    "SeriesInfo",
    "SeriesValues",
    "SystemDetail",
    "Timeline",
    "distributions",
    "list_runs",
    "load_run",
    "load_series",
    "measurements",
    "rates_of",
    "series_index",
    "series_indexes",
    "statistics_of",
    "timelines",
]
