"""All sections kept with a saved comparison. One that shows more than the comparison adds its own here."""

from typing import Any

from apps.comparison.agreement import claims
from apps.comparison.comparability import memory
from apps.comparison.sections import (
    all_metrics,
    cost,
    latency,
    load_level_data,
    steadiness,
    table_growth,
    time_to_finish,
    timelines,
    work,
)
from apps.comparison.sections.section import Section
from apps.use_method.bottlenecks import limits

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
