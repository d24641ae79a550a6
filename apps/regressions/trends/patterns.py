"""Drift, weekdays and machines of a series, as answered."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from apps.core.answers import Rounded
from apps.regressions import detection
from apps.regressions.detection import Drift, ResultSeries, Season
from apps.regressions.findings import reconcile


@dataclass(frozen=True)
class TrendDrift:
    """A steady slope since the last reset, besides changes of level."""

    change: Annotated[Rounded, "share of the value, in a week or in 100 runs"]
    low: Annotated[Rounded, "lower end of the 95 % interval"]
    high: Rounded
    per: Annotated[str, "“week” or “100 runs”"]
    total: Annotated[Rounded, "over all runs since the last reset, share of the value"]
    verdict: Annotated[str, "better or worse"]


@dataclass(frozen=True)
class TrendSeason:
    """A week's pattern, taken out before changes are looked for."""

    weekdays: Annotated[tuple[float | None, ...], "Monday first: share of the value, around 0; null: no runs"]
    range: Annotated[Rounded, "between the highest and the lowest weekday"]
    p: Rounded


@dataclass(frozen=True)
class TrendMachine:
    """A load generator of a pool; its effect is taken out before changes are looked for."""

    name: str
    effect: Annotated[Rounded, "share of the value, around 0"]


@dataclass(frozen=True)
class TrendPatterns:
    """What the series does besides changes of level, since the last reset."""

    drift: Annotated[TrendDrift | None, "null: none found"] = None
    season: Annotated[TrendSeason | None, "null: none found"] = None
    machines: Annotated[tuple[TrendMachine, ...], "empty: one, or not known apart"] = ()


def of(series: ResultSeries, places: Sequence[int], *, direction: str) -> TrendPatterns:
    """`places`: of the changes that hold; `direction`: of the metric, not neutral."""
    found = detection.patterns(series, places)
    return TrendPatterns(
        drift=_drift(found.drift, direction) if found.drift else None,
        season=_season(found.season) if found.season else None,
        machines=tuple(TrendMachine(name, effect) for name, effect in found.machines),
    )


def _drift(found: Drift, direction: str) -> TrendDrift:
    per = "week" if found.by_week else f"{found.runs:.0f} runs"
    verdict = str(reconcile.verdict_of(1 + found.change, direction))
    return TrendDrift(found.change, found.low, found.high, per, found.total, verdict)


def _season(found: Season) -> TrendSeason:
    weekdays = tuple(None if math.isnan(each) else float(f"{each:.6g}") for each in found.effects)
    return TrendSeason(weekdays, found.range, found.p)
