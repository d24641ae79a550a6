"""Interface of this app for other apps. pure has what needs no database, models the tables; the rest is internal."""

from apps.runs import archive, deletion, queries
from apps.runs.ingest import accept, seal_queue, streams, submit, submitted_samples
from apps.runs.ingest.accept import Refused
from apps.runs.ingest.prometheus import attach as prometheus
from apps.runs.ingest.prometheus.attach import AttachedSeries
from apps.runs.ingest.quota import QuotaExceeded
from apps.runs.ingest.seal_queue import SealWait
from apps.runs.ingest.submit import why_not_started
from apps.runs.quality import exclusion
from apps.runs.quality.exclusion import ExclusionDetail, why_excluded
from apps.runs.queries import (
    MEASURED_PHASE,
    CheckDetail,
    DistributionDetail,
    EventDetail,
    MeasurementDetail,
    RunDetail,
    RunFilter,
    RunRow,
    SeriesInfo,
    SeriesValues,
    SystemDetail,
    metric_descriptions,
    nodes,
    places,
)
from apps.runs.queries.detail import ArtifactDetail
from apps.runs.queries.metric_descriptions import RATE, described
from apps.runs.queries.places import RunPlace
from apps.runs.queries.run_list import EXCLUDED, FAILED_CHECK, NEWEST_FIRST, QUALITIES, rows_of
from apps.runs.queries.search import newest_left_out, word_conditions
from apps.runs.queries.statistics import statistics_of
from apps.runs.queries.timelines import Timeline
from apps.runs.seal import DERIVATION, RAW_BATCHES, UNREAD_BATCHES
from apps.runs.storage import artifacts
from apps.runs.storage.blocks import STATISTICS
from apps.runs.tool_output import attachments
from apps.runs.tool_output.attachments import AttachedTable
from apps.runs.tool_output.once import reading_once

__all__ = [
    "DERIVATION",
    "EXCLUDED",
    "FAILED_CHECK",
    "MEASURED_PHASE",
    "NEWEST_FIRST",
    "QUALITIES",
    "RATE",
    "RAW_BATCHES",
    "STATISTICS",
    "UNREAD_BATCHES",
    "ArtifactDetail",
    "AttachedSeries",
    "AttachedTable",
    "CheckDetail",
    "DistributionDetail",
    "EventDetail",
    "ExclusionDetail",
    "MeasurementDetail",
    "QuotaExceeded",
    "Refused",
    "RunDetail",
    "RunFilter",
    "RunPlace",
    "RunRow",
    "SealWait",
    "SeriesInfo",
    "SeriesValues",
    "SystemDetail",
    "Timeline",
    "accept",
    "archive",
    "artifacts",
    "attachments",
    "deletion",
    "described",
    "exclusion",
    "metric_descriptions",
    "newest_left_out",
    "nodes",
    "places",
    "prometheus",
    "queries",
    "reading_once",
    "rows_of",
    "seal_queue",
    "statistics_of",
    "streams",
    "submit",
    "submitted_samples",
    "why_excluded",
    "why_not_started",
    "word_conditions",
]
