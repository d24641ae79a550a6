"""All sections stored with a saved comparison. A section with data beyond the comparison is added here."""

from typing import Any

from apps.comparison.api import (
    all_metrics,
    claims,
    cost,
    latency,
    load_level_data,
    memory,
    percentiles,
    steadiness,
    table_growth,
    time_to_finish,
    timelines,
    work,
)
from apps.comparison.pure import Section
from apps.use_method.api import limits

READINGS: tuple[Section[Any], ...] = (
    latency.SECTION,
    percentiles.SECTION,
    timelines.SECTION,
    load_level_data.SECTION,
    time_to_finish.SECTION,
    table_growth.SECTION,
    memory.SECTION,
    claims.SECTION,
    cost.SECTION,
    all_metrics.SECTION,
    steadiness.SECTION,
    work.SECTION,
    limits.SECTION,
)
