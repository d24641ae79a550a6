"""How many sessions of how many repetitions a campaign needs to find a difference, and what they take."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from apps.catalog.models import System
from apps.comparison.api import session_noise
from apps.comparison.pure import SessionNoise, chance, least_effect, suffices
from apps.core.answers import Hidden, Shown
from apps.core.text import counted
from apps.core.units import format_estimate
from apps.dispatch.api import PlannedWorkload, measured_durations, never_restarted, size_of

POWERS = (0.8, 0.9)
REPETITIONS = (1, 2, 3, 5, 10)
MOST_SESSIONS = 30
LEAST_DIFFERENCE, MOST_DIFFERENCE = 0.005, 1.0
# Rows of each power.
SHOWN = 3


@dataclass(frozen=True)
class SessionSplit:
    sessions: int
    repetitions: Annotated[int, "of each session"]
    power: Annotated[float, "chance that the difference is found, at the noisiest load level"]
    seconds: Annotated[float, "one job after another, with preparation and restarts"]
    is_chosen: Annotated[bool, "the cheapest that is as sure as asked for"]

    @property
    def minutes(self) -> str:
        """Of ten minutes or more, whole ones: durations of before are no more exact."""
        return format_estimate(60 * round(self.seconds / 60) if self.seconds >= 600 else self.seconds)


@dataclass(frozen=True)
class SessionPlan:
    """`splits`: the cheapest of each power, by duration; none chosen: the difference is too small."""

    difference: Annotated[float, "a share: 0.05 is 5 %"]
    power: Annotated[float, "asked for"]
    splits: tuple[SessionSplit, ...]
    noise: Hidden[SessionNoise]
    is_restart_measured: Annotated[bool, "false: 30 s assumed"]
    cannot_restart: Annotated[tuple[str, ...], "slugs of systems that no agent can start anew"]
    smallest: Annotated[float, "difference that the largest split tried finds with the power asked for, a share"]
    as_typed: Hidden[float | None] = None

    @property
    def chosen(self) -> SessionSplit | None:
        return next((split for split in self.splits if split.is_chosen), None)

    @property
    def sentence(self) -> Shown[str]:
        found, share = self.chosen, f"{100 * self.difference:.3g}\u00a0%"
        cases = f"in {10 * self.power:.0f} of 10 cases"
        if found is None:
            most = f"of {REPETITIONS[-1]} repetitions each they find {100 * self.smallest:.3g}\u00a0%"
            remedy = "Choose a larger one, or measure longer runs."
            return f"{MOST_SESSIONS} sessions do not find a difference of {share} {cases}; {most}. {remedy}"
        split = f"{counted(found.sessions, 'session')} of {counted(found.repetitions, 'repetition')}"
        return f"{split}: a difference of {share} is found {cases}; takes {found.minutes}."

    @property
    def between(self) -> Annotated[Shown[float], "standard deviation from session to session, a share"]:
        return self.noise.between

    @property
    def within(self) -> Annotated[Shown[float], "standard deviation from run to run of a session, a share"]:
        return self.noise.within

    @property
    def sessions_seen(self) -> Annotated[Shown[int], "by how many sessions of before both are known; 0: assumed"]:
        return self.noise.sessions


def session_plan(
    systems: Sequence[System],
    entries: Sequence[PlannedWorkload],
    *,
    difference: float,
    power: float,
    typed: tuple[int, int] | None = None,
) -> SessionPlan | None:
    """`difference`: the smallest that is to be found, a share; `typed`: sessions and repetitions whose power is asked
    for too. Load levels of `entries` are numbers of threads. None: fewer than two systems are compared.

    The noisiest system, workload and load level counts; systems without history count as the others, or as assumed.
    """
    if len(systems) < 2 or not entries:
        return None
    known = _known(systems, entries)
    tables = [(len(each.load_levels), len(each.load_levels) * (len(each.systems or systems) - 1)) for each in entries]
    tables = [(levels, comparisons) for levels, comparisons in tables if comparisons]
    if not tables:
        return None
    workloads = [each.workload.pk for each in entries if each.workload and each.workload.pk]
    durations = measured_durations(systems, workloads)
    effect = math.log1p(difference)

    def split(wanted: float, repetitions: int) -> SessionSplit | None:
        noise = max(one.of_mean(repetitions) for one in known)
        count = _fewest(effect / noise, repetitions, wanted, tables)
        if count is None:
            return None
        reached = _chance(effect, noise, count, repetitions, tables)
        size = size_of(systems=systems, entries=entries, repetitions=repetitions, sessions=count, durations=durations)
        return SessionSplit(count, repetitions, reached, size.seconds, is_chosen=False)

    found: list[SessionSplit] = []
    for wanted in POWERS:
        of_power = sorted(filter(None, (split(wanted, each) for each in REPETITIONS)), key=_cost)
        if wanted == power and of_power:
            of_power[0] = replace(of_power[0], is_chosen=True)
        found += of_power[:SHOWN]
    return SessionPlan(
        difference=difference,
        power=power,
        splits=tuple(_once(found)),
        noise=max(known, key=lambda one: one.of_mean(3)),
        is_restart_measured=all(system.pk in durations.restarts for system in systems),
        cannot_restart=tuple(system.slug for system in never_restarted(systems)),
        smallest=_smallest(known, tables, power),
        as_typed=_of_typed(typed, effect, known, tables) if typed else None,
    )


def _known(systems: Sequence[System], entries: Sequence[PlannedWorkload]) -> list[SessionNoise]:
    workloads = {each.workload.pk for each in entries if each.workload and each.workload.pk}
    seen = session_noise([system.pk for system in systems], workloads) if workloads else {}
    wanted = {(each.workload.pk, threads) for each in entries if each.workload for threads in each.load_levels}
    return [noise for (_, workload, threads), noise in seen.items() if (workload, threads) in wanted] or [
        SessionNoise()
    ]


def _fewest(ratio: float, repetitions: int, power: float, tables: Sequence[tuple[int, int]]) -> int | None:
    """Sessions that find an effect of `ratio` standard deviations of a session's mean. None: too many."""

    def enough(sessions: int) -> bool:
        return suffices(sessions, repetitions) and all(
            least_effect(sessions=sessions, levels=levels, comparisons=comparisons, power=power) <= ratio
            for levels, comparisons in tables
        )

    low, high = 1, MOST_SESSIONS
    if not enough(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _chance(effect: float, noise: float, sessions: int, repetitions: int, tables: Sequence[tuple[int, int]]) -> float:
    return min(
        chance(
            effect=effect,
            noise=noise,
            sessions=sessions,
            repetitions=repetitions,
            levels=levels,
            comparisons=comparisons,
        )
        for levels, comparisons in tables
    )


def _smallest(known: Sequence[SessionNoise], tables: Sequence[tuple[int, int]], power: float) -> float:
    noise = max(one.of_mean(REPETITIONS[-1]) for one in known)
    least = (
        least_effect(sessions=MOST_SESSIONS, levels=levels, comparisons=comparisons, power=power)
        for levels, comparisons in tables
    )
    return math.expm1(max(least) * noise)


def _of_typed(
    typed: tuple[int, int], effect: float, known: Sequence[SessionNoise], tables: Sequence[tuple[int, int]]
) -> float | None:
    sessions, repetitions = typed
    if not suffices(sessions, repetitions) or sessions > MOST_SESSIONS:
        return None
    return _chance(effect, max(one.of_mean(repetitions) for one in known), sessions, repetitions, tables)


def _cost(split: SessionSplit) -> tuple[float, int]:
    return split.seconds, split.sessions


def _once(splits: Sequence[SessionSplit]) -> list[SessionSplit]:
    """By duration; one that is the cheapest of both powers once, chosen if it is of either."""
    own = {(each.sessions, each.repetitions): each for each in sorted(splits, key=lambda each: each.is_chosen)}
    return sorted(own.values(), key=_cost)
