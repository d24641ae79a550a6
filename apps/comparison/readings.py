"""All readings: what is kept with a saved comparison. A part that shows more than the comparison adds its own here.

An app that builds on comparisons, which they know nothing of, names where its reading is when it is loaded.
"""

from importlib import import_module
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
from apps.comparison.elsewhere import ELSEWHERE
from apps.comparison.reading import Reading

_OWN: tuple[Reading[Any], ...] = (
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


def readings() -> tuple[Reading[Any], ...]:
    return (*_OWN, *(import_module(module).READING for module in ELSEWHERE))
