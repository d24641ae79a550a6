"""All sections stored with a saved comparison. A section with data beyond the comparison is added here."""

from typing import Any

from apps.comparison.api import (
    all_metrics,
    claims,
    cost,
    latency,
    load_level_data,
    memory,
    steadiness,
    table_growth,
    time_to_finish,
    timelines,
    work,
)
from apps.comparison.pure import Section
from apps.use_method.api import limits

READINGS: tuple[Section[Any], ...] = (
    latency.READING,
    timelines.READING,
    load_level_data.READING,
    time_to_finish.READING,
    table_growth.READING,
    memory.READING,
    claims.READING,
    cost.READING,
    all_metrics.READING,
    steadiness.READING,
    work.READING,
    limits.READING,
)
