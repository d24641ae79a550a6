"""The app's public interface; everything else is private. Tables are in models."""

from apps.runs import archive, queries, timeline
from apps.runs.ingest import accept, seal_queue, streams, submit
from apps.runs.ingest.accept import Refused
from apps.runs.ingest.seal_queue import SealWait
from apps.runs.ingest.submit import may_have_started
from apps.runs.quality import exclusion
from apps.runs.quality.checklist import CHECKS, title_of
from apps.runs.quality.errors import CODE, MOST_ERRORS
from apps.runs.quality.exclusion import ExclusionDetail, why_excluded
from apps.runs.quality.generator import ALL_BUSY, MOST_BUSY, MOST_LATE, MOST_OF_AGENT, MOST_OF_ITS_CPU, MOST_TAKEN
from apps.runs.quality.network import LEAST_OUTSIDE, MOST_LOST, MOST_USED
from apps.runs.quality.noisy_neighbours import MOST_STOLEN
from apps.runs.quality.values import CANNOT_TELL, FAILED, PASSED
from apps.runs.quality.work_done import LEAST_MATCHED
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
    metric_descriptions,
    nodes,
    places,
)
from apps.runs.queries.metric_descriptions import described
from apps.runs.queries.places import Amount, RunPlace, how_many
from apps.runs.queries.run_list import EXCLUDED, FAILED_CHECK, NEWEST_FIRST, QUALITIES, rows_of
from apps.runs.queries.search import newest_left_out, said_of
from apps.runs.queries.statistics import statistics_of
from apps.runs.samples import downsample
from apps.runs.samples.batches import decode
from apps.runs.samples.columns import CLIENT, KIND_LIMIT, LABEL_LIMIT, SampledNode
from apps.runs.samples.downsample import thin
from apps.runs.samples.histograms import (
    PERCENTILES,
    SYSBENCH,
    DifferentGrids,
    HistogramCounts,
    Quantile,
    UnknownGrid,
    grid_of,
    merge,
)
from apps.runs.samples.rates import COUNTER, Phase, interval_middles
from apps.runs.seal import DERIVATION
from apps.runs.storage import artifacts, binary_cursor, codec
from apps.runs.storage.blocks import STATISTICS
from apps.runs.storage.codec import Column
from apps.runs.timeline import LANES, NO_MOMENT, Happening
from apps.runs.tool_output import LATENCY, attachments
from apps.runs.tool_output.attachments import AttachedTable
from apps.runs.tool_output.formats import ATTACHED, DEFAULT, SUBMITTED, Attached, Submitted, SubmittedOutput
from apps.runs.tool_output.parsers.parsed_output import OutputTable

__all__ = [
    "ALL_BUSY",
    "ATTACHED",
    "CANNOT_TELL",
    "CHECKS",
    "CLIENT",
    "CODE",
    "COUNTER",
    "DEFAULT",
    "DERIVATION",
    "EXCLUDED",
    "FAILED",
    "FAILED_CHECK",
    "KIND_LIMIT",
    "LABEL_LIMIT",
    "LANES",
    "LATENCY",
    "LEAST_MATCHED",
    "LEAST_OUTSIDE",
    "MEASURED_PHASE",
    "MOST_BUSY",
    "MOST_ERRORS",
    "MOST_LATE",
    "MOST_LOST",
    "MOST_OF_AGENT",
    "MOST_OF_ITS_CPU",
    "MOST_STOLEN",
    "MOST_TAKEN",
    "MOST_USED",
    "NEWEST_FIRST",
    "NO_MOMENT",
    "PASSED",
    "PERCENTILES",
    "QUALITIES",
    "STATISTICS",
    "SUBMITTED",
    "SYSBENCH",
    "Amount",
    "Attached",
    "AttachedTable",
    "CheckDetail",
    "Column",
    "DifferentGrids",
    "DistributionDetail",
    "EventDetail",
    "ExclusionDetail",
    "Happening",
    "HistogramCounts",
    "MeasurementDetail",
    "OutputTable",
    "Phase",
    "Quantile",
    "Refused",
    "RunDetail",
    "RunFilter",
    "RunPlace",
    "RunRow",
    "SampledNode",
    "SealWait",
    "SeriesInfo",
    "SeriesValues",
    "Submitted",
    "SubmittedOutput",
    "UnknownGrid",
    "accept",
    "archive",
    "artifacts",
    "attachments",
    "binary_cursor",
    "codec",
    "decode",
    "described",
    "downsample",
    "exclusion",
    "grid_of",
    "how_many",
    "interval_middles",
    "may_have_started",
    "merge",
    "metric_descriptions",
    "newest_left_out",
    "nodes",
    "places",
    "queries",
    "rows_of",
    "said_of",
    "seal_queue",
    "statistics_of",
    "streams",
    "submit",
    "thin",
    "timeline",
    "title_of",
    "why_excluded",
]
