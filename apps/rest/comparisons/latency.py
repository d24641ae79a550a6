"""API: latencies of each side, with its runs' histograms merged."""

from dataclasses import dataclass
from typing import Annotated

from apps.comparison.api import LATENCY_SECTION, PERCENTILES_SECTION, ComparedPercentiles, SideLatency
from apps.comparison.pure import Level, NotKept, SectionSource


@dataclass(frozen=True)
class LevelLatency:
    level: Annotated[int, "id of a load level"]
    sides: list[SideLatency]
    compared: Annotated[
        ComparedPercentiles | None, "percentiles of all transactions against the baseline's; null: not in this snapshot"
    ]


def latencies(source: SectionSource) -> list[LevelLatency]:
    """One entry per load level; two queries each."""
    return [
        LevelLatency(level.id, source.read(LATENCY_SECTION, level), _compared(source, level))
        for level in source.comparison.levels
    ]


def _compared(source: SectionSource, level: Level) -> ComparedPercentiles | None:
    try:
        return source.read(PERCENTILES_SECTION, level)
    except NotKept:
        return None
