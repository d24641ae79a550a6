"""All readings: what is kept with a saved comparison. A part that shows more than the comparison adds its own here."""

from typing import Any

from apps.comparison import (
    climbs,
    clocks,
    corroboration,
    cost,
    everything,
    finishing,
    growing,
    latency,
    memory,
    steadiness,
    work,
)
from apps.comparison.reading import Reading

READINGS: tuple[Reading[Any], ...] = (
    latency.READING,
    clocks.READING,
    climbs.READING,
    finishing.READING,
    growing.READING,
    memory.READING,
    corroboration.READING,
    cost.READING,
    everything.READING,
    steadiness.READING,
    work.READING,
)
