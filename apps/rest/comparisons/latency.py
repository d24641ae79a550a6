"""API: latencies of each side, with its runs' histograms merged."""

from dataclasses import dataclass
from typing import Annotated

from apps.comparison.api import LATENCY_SECTION, SideLatency
from apps.comparison.pure import SectionSource


@dataclass(frozen=True)
class LevelLatency:
    level: Annotated[int, "id of a load level"]
    sides: list[SideLatency]


def latencies(source: SectionSource) -> list[LevelLatency]:
    """One entry per load level; one query each."""
    return [LevelLatency(level.id, source.read(LATENCY_SECTION, level)) for level in source.comparison.levels]
