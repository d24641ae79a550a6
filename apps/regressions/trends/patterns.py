"""Drift, weekdays, machines, the host's speed, sessions and bursts of a series, as answered."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from apps.core.answers import Hidden, Rounded
from apps.regressions import detection
from apps.regressions.detection import Burst, Drift, Effect, ResultSeries, Season, SessionSpread
from apps.regressions.findings import reconcile

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


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
class TrendEffect:
    """Of a weekday, of a load generator of a pool, or of what was measured of the host; it is taken out before changes
    are looked for."""

    name: Annotated[str, "“Monday”, the load generator's name, or “canary” or “stolen”"]
    effect: Annotated[Rounded, "share of the value, around 0, or for a step of what was measured"]
    low: Annotated[Rounded, "lower end of the 95 % interval"]
    high: Rounded


@dataclass(frozen=True)
class TrendSeason:
    """A week's pattern."""

    weekdays: Annotated[tuple[TrendEffect, ...], "those with three runs or more, Monday first"]
    range: Annotated[Rounded, "between the highest and the lowest weekday"]
    p: Rounded


@dataclass(frozen=True)
class TrendBurst:
    """Runs in a row that are off, after which the level returned."""

    place: Annotated[int, "index in the points, from 0"]
    runs: int
    effect: Annotated[Rounded, "share of the level"]
    low: Annotated[Rounded, "lower end of the 95 % interval"]
    high: Rounded


@dataclass(frozen=True)
class TrendSessions:
    """How much sessions differ, as standard deviations; changes are judged by it."""

    between: Annotated[Rounded, "from session to session, share of the value"]
    low: Annotated[Rounded, "lower end of the 95 % interval"]
    high: Rounded
    within: Annotated[Rounded, "from run to run of a session, share of the value"]
    sessions: int


@dataclass(frozen=True)
class TrendPatterns:
    """What the series does besides changes of level, since the last reset. `slope`: of the logarithm, per run."""

    drift: Annotated[TrendDrift | None, "null: none found"] = None
    season: Annotated[TrendSeason | None, "null: none found"] = None
    machines: Annotated[tuple[TrendEffect, ...], "empty: one, or not known apart"] = ()
    bursts: tuple[TrendBurst, ...] = ()
    host: Annotated[
        tuple[TrendEffect, ...],
        "“canary”: for 10 % more CPU time of the agent's fixed work; “stolen”: for a percentage point of CPU time; "
        "empty: no effect is sure",
    ] = ()
    sessions: Annotated[TrendSessions | None, "null: they do not surely differ"] = None
    slope: Hidden[float] = 0.0


def of(series: ResultSeries, places: Sequence[int], *, direction: str) -> TrendPatterns:
    """`places`: of the changes that hold; `direction`: of the metric, not neutral."""
    found = detection.patterns(series, places)
    return TrendPatterns(
        drift=_drift(found.drift, direction) if found.drift else None,
        season=_season(found.season) if found.season else None,
        machines=tuple(_effect(name, effect) for name, effect in found.machines),
        bursts=tuple(_burst(burst) for burst in found.bursts),
        host=tuple(_effect(name, effect) for name, effect in found.host),
        sessions=_sessions(found.sessions) if found.sessions else None,
        slope=math.log1p(found.drift.change.value) / found.drift.runs if found.drift else 0.0,
    )


def _drift(found: Drift, direction: str) -> TrendDrift:
    per = "week" if found.by_week else f"{found.runs:.0f} runs"
    change = found.change
    verdict = str(reconcile.verdict_of(1 + change.value, direction))
    return TrendDrift(change.value, change.low, change.high, per, found.total, verdict)


def _season(found: Season) -> TrendSeason:
    named = zip(WEEKDAYS, found.effects, strict=True)
    return TrendSeason(tuple(_effect(day, effect) for day, effect in named if effect), found.range, found.p)


def _sessions(found: SessionSpread) -> TrendSessions:
    return TrendSessions(found.between, found.low, found.high, found.within, found.sessions)


def _effect(name: str, effect: Effect) -> TrendEffect:
    return TrendEffect(name, effect.value, effect.low, effect.high)


def _burst(found: Burst) -> TrendBurst:
    return TrendBurst(found.start, found.end - found.start, found.size.value, found.size.low, found.size.high)
