"""The warehouse: runs, their raw batches while live, their sealed series, headline measurements, events, artifacts.

A run is open while it is measured, ended once its agent reports the end, sealed once its series are stored and
verified.
"""

from apps.runs.models.archive import ArchiveAttempt, ArchivedRun
from apps.runs.models.ingest import Allowance, Batch, Stream, StreamBatch
from apps.runs.models.quality import Exclusion, RunCheck
from apps.runs.models.run import COUNTED, Configuration, Run
from apps.runs.models.series import Block, RunNode, Series
from apps.runs.models.tool_output import Artifact, Distribution, Event, Measurement

__all__ = [
    "COUNTED",
    "Allowance",
    "ArchiveAttempt",
    "ArchivedRun",
    "Artifact",
    "Batch",
    "Block",
    "Configuration",
    "Distribution",
    "Event",
    "Exclusion",
    "Measurement",
    "Run",
    "RunCheck",
    "RunNode",
    "Series",
    "Stream",
    "StreamBatch",
]
