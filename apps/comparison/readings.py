"""All readings: what is kept with a saved comparison. A part that shows more than the comparison adds its own here.

An app that builds on comparisons, which they know nothing of, adds its reading when it is loaded.
"""

from typing import Any, TypeVar

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

T = TypeVar("T")

READINGS: list[Reading[Any]] = [
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
]


def add(reading: Reading[T]) -> Reading[T]:
    READINGS.append(reading)
    return reading
