"""Interface of this app for other apps, as far as it needs no database. Pure."""

from apps.runs import timeline
from apps.runs.amounts import Amount
from apps.runs.ingest.clean_text import printable_value
from apps.runs.ingest.planned_sessions import planned_number, session_name
from apps.runs.ingest.prometheus.names import VARIABLES
from apps.runs.quality.checklist import CHECKS, title_of
from apps.runs.quality.rules import asked_rate
from apps.runs.quality.rules.errors import CODE, MOST_ERRORS
from apps.runs.quality.rules.generator import ALL_BUSY, MOST_BUSY, MOST_LATE, MOST_OF_AGENT, MOST_OF_ITS_CPU, MOST_TAKEN
from apps.runs.quality.rules.network import LEAST_OUTSIDE, MOST_LOST, MOST_USED
from apps.runs.quality.rules.noisy_neighbours import MOST_STOLEN
from apps.runs.quality.rules.work_done import LEAST_MATCHED
from apps.runs.quality.values import CANNOT_TELL, FAILED, PASSED
from apps.runs.samples import downsample
from apps.runs.samples.batches import decode
from apps.runs.samples.columns import CLIENT, KIND_LIMIT, LABEL_LIMIT, SampledNode
from apps.runs.samples.downsample import thin
from apps.runs.samples.histograms import (
    PERCENTILES,
    SYSBENCH,
    DifferentGrids,
    HistogramCounts,
    Percentile,
    Quantile,
    UnknownGrid,
    grid_of,
    merge,
)
from apps.runs.samples.rates import COUNTER, Phase, interval_middles
from apps.runs.storage import codec
from apps.runs.storage.codec import Column
from apps.runs.timeline import NO_MOMENT, RDS_CLOCK, RunEvent, TimelineEntry
from apps.runs.tool_output import LATENCY
from apps.runs.tool_output.file_map import OWN as OWN_METRICS
from apps.runs.tool_output.formats import ATTACHED, DEFAULT, SUBMITTED, Attached, Submitted, SubmittedOutput
from apps.runs.tool_output.parsers.attachments.statements import StatementCounts
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
    "FAILED",
    "KIND_LIMIT",
    "LABEL_LIMIT",
    "LATENCY",
    "LEAST_MATCHED",
    "LEAST_OUTSIDE",
    "MOST_BUSY",
    "MOST_ERRORS",
    "MOST_LATE",
    "MOST_LOST",
    "MOST_OF_AGENT",
    "MOST_OF_ITS_CPU",
    "MOST_STOLEN",
    "MOST_TAKEN",
    "MOST_USED",
    "NO_MOMENT",
    "OWN_METRICS",
    "PASSED",
    "PERCENTILES",
    "RDS_CLOCK",
    "SUBMITTED",
    "SYSBENCH",
    "VARIABLES",
    "Amount",
    "Attached",
    "Column",
    "DifferentGrids",
    "HistogramCounts",
    "OutputTable",
    "Percentile",
    "Phase",
    "Quantile",
    "RunEvent",
    "SampledNode",
    "StatementCounts",
    "Submitted",
    "SubmittedOutput",
    "TimelineEntry",
    "UnknownGrid",
    "asked_rate",
    "codec",
    "decode",
    "downsample",
    "grid_of",
    "interval_middles",
    "merge",
    "planned_number",
    "printable_value",
    "session_name",
    "thin",
    "timeline",
    "title_of",
]
