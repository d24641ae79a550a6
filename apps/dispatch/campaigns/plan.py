"""Turns a plan into the jobs of a campaign, in execution order."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, Any, TypeVar

from django.db import transaction

from apps.accounts.models import User
from apps.catalog.api import services as catalog
from apps.catalog.models import LoadLevel, System, Workload
from apps.core.answers import Hidden, Name, Shown
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid
from apps.core.text import counted
from apps.dispatch.campaigns.durations import Durations
from apps.dispatch.jobs.agents import never_restarted
from apps.dispatch.models import Campaign, Entry, Job
from workers.protocol.workloads import WORKLOADS

T = TypeVar("T")

MAX_NAME = 120
MAX_REPETITIONS = MAX_SESSIONS = 100
# With fewer there is nothing to save: an interval needs three.
FEWEST_TO_STOP = 4
VERDICT = "verdict"
# Of an interval's half width, a share, after which a load level needs no more repetitions.
LEAST_WIDTH, MOST_WIDTH = 0.001, 1.0
MAX_WARMUP = 3600.0  # s
MAX_DURATION = 24 * 3600.0  # s
UNTIMED = 1.0  # s, planned for a workload that lasts as long as its work
MAX_JOBS = 10_000
MAX_RUNS = 100_000
# Overhead besides measuring, assumed before any measurement: table preparation and clean-up of a job, start and end of
# the load tool of a run.
JOB_OVERHEAD = 10.0  # s
RUN_OVERHEAD = 2.0  # s
# Assumed for a server that was not started anew yet.
RESTART = 30.0  # s


@dataclass(frozen=True)
class PlannedWorkload:
    """One workload of a plan with its load levels; `warmup` and `duration` in s.

    `workload` None: none was chosen, an error; an unsaved workload can be checked and counted. Load levels are stored
    ones or numbers of threads; a workload that makes its own load has one alone, whatever is stated.
    `systems` empty: all of the plan's. `ends_when_refused` and `least_gain` as in models.Entry.
    """

    workload: Hidden[Workload | None]
    load_levels: Hidden[Sequence[Any]]
    warmup: Annotated[float, "s"]
    duration: Annotated[float, "s"]
    systems: Hidden[Sequence[System]] = ()
    ends_when_refused: Hidden[bool] = False
    least_gain: Hidden[float | None] = None

    def __post_init__(self) -> None:
        if self.workload and loads_itself(self.workload):
            are_numbers = any(isinstance(level, int) for level in self.load_levels)
            object.__setattr__(self, "load_levels", [1] if are_numbers else [LoadLevel(threads=1)])

    @property
    def workload_name(self) -> Annotated[Shown[str], Name("workload")]:
        return self.workload.name if self.workload else ""

    @property
    def system_slugs(self) -> Annotated[Shown[list[str]], Name("systems"), "slugs"]:
        return [system.slug for system in self.systems]

    @property
    def levels(self) -> Annotated[Shown[list[str]], Name("load_levels")]:
        return [str(level) for level in self.load_levels]


@dataclass(frozen=True)
class PlanSize:
    """Size of a plan; `seconds` assumes sequential jobs in which every load level is measured."""

    jobs: int
    runs: int
    seconds: Annotated[float, "when its jobs run one after another"]


def loads_itself(workload: Workload) -> bool:
    """Whether threads mean nothing to it: equal runs must not lie at different load levels."""
    spec = WORKLOADS.get(workload.tool)
    return spec is not None and spec.load == "none"


def alike(
    *, workloads: Sequence[Workload], load_levels: Sequence[Any], warmup: float, duration: float
) -> list[PlannedWorkload]:
    """Entries that share one list of load levels and their times; without workloads, one invalid entry."""
    once: list[Workload | None] = [each for place, each in enumerate(workloads) if each not in workloads[:place]]
    return [PlannedWorkload(workload, _once(load_levels), warmup, duration) for workload in once or [None]]


def plainly(problems: Iterable[FieldProblem]) -> list[FieldProblem]:
    """Problems of a plan made by `alike`, with the field names that its entries share."""
    return _once([replace(problem, field=_plain(problem.field)) for problem in problems])


def _plain(field: str) -> str:
    plain = re.sub(r"^entries\.\d+\.", "", field)
    return "workloads" if plain == "workload" else plain


def canonical_until(stated: str) -> str | None:
    """As stored in models.Campaign: a width has four digits. None: it is none of what `until` may be."""
    if stated in ("", VERDICT):
        return stated
    try:
        width = float(stated)
    except ValueError:
        return None
    return f"{width:.4g}" if LEAST_WIDTH <= width <= MOST_WIDTH else None


def job_seconds(*, load_levels: int, warmup: float, duration: float, overhead: float | None = None) -> float:
    """Planned duration of a job with this many load levels, s; `overhead` None: assumed."""
    beside = JOB_OVERHEAD + load_levels * RUN_OVERHEAD if overhead is None else overhead
    return beside + load_levels * (warmup + duration)


def size_of(
    *,
    systems: Sequence[System],
    entries: Sequence[PlannedWorkload],
    repetitions: int,
    sessions: int = 1,
    durations: Durations | None = None,
) -> PlanSize:
    """`repetitions` of each session; `durations` None: as assumed."""
    known = durations or Durations()
    jobs = runs = 0
    seconds = (sessions - 1) * sum(known.restarts.get(system.pk, RESTART) for system in systems)
    for entry in entries:
        levels, workload = len(entry.load_levels), entry.workload.pk if entry.workload else None
        for system in entry.systems or systems:
            overhead = known.overheads.get((system.pk, workload or 0))
            jobs += sessions * repetitions
            runs += sessions * repetitions * levels
            seconds += (sessions * repetitions) * job_seconds(
                load_levels=levels, warmup=entry.warmup, duration=entry.duration, overhead=overhead
            )
    return PlanSize(jobs=jobs, runs=runs, seconds=seconds)


def interleaved(
    *, systems: Sequence[System], entries: Sequence[PlannedWorkload], repetitions: int, sessions: int = 1
) -> Iterator[tuple[int, int, int, System]]:
    """Yield (session, repetition, index of the entry, system): of odd sessions forward in odd rounds, backward in even
    ones (A B, B A, …), of even sessions the reverse. Repetitions are counted through.

    A drift over time, or within a session, thus affects all systems alike.
    """
    for session, round_ in product(range(1, sessions + 1), range(1, repetitions + 1)):
        for place, entry in enumerate(entries):
            taking_part = [system for system in systems if not entry.systems or system in entry.systems]
            for system in taking_part[::-1] if (session + round_) % 2 else taking_part:
                yield session, (session - 1) * repetitions + round_, place, system


def problems_of(
    *,
    name: str,
    systems: Sequence[System],
    entries: Sequence[PlannedWorkload],
    repetitions: int,
    sessions: int = 1,
    until: str = "",
) -> list[FieldProblem]:
    """All problems of a plan, by field; fields of an entry begin with `entries.` and its index."""
    systems = _once(systems)
    errors = [*_check_name(name.strip()), *_check_systems(systems), *_check_entries(entries, systems)]
    errors += [*_check_sessions(sessions, systems), *_check_until(until)]
    units = "sessions" if sessions > 1 else "repetitions"
    if not 1 <= repetitions <= MAX_REPETITIONS:
        message = f"{repetitions} is out of range"
        errors.append(FieldProblem("repetitions", message, f"use 1 to {MAX_REPETITIONS}; three give an interval"))
    elif until and ((sessions if sessions > 1 else repetitions) < FEWEST_TO_STOP or len(systems) < 2):
        message = f"needs two systems and {FEWEST_TO_STOP} {units}, of which some may be left out"
        errors.append(FieldProblem("until", message, f"plan at least {FEWEST_TO_STOP} {units}, or leave it out"))
    elif until and any(entry.ends_when_refused for entry in entries):
        message = "leaves out load levels, all of which a ramp or a storm needs"
        errors.append(FieldProblem("until", message, "give load_levels instead, or leave it out"))
    size = size_of(systems=systems, entries=entries, repetitions=repetitions, sessions=sessions)
    return errors or _check_size(size)


@transaction.atomic
def create_campaign(
    *,
    name: str,
    systems: Sequence[System],
    entries: Sequence[PlannedWorkload],
    repetitions: int,
    created_by: User | None,
    sessions: int = 1,
    until: str = "",
) -> Campaign:
    """`sessions` and `until`: as of models.Campaign. Raises Invalid with every invalid field."""
    systems, name = _once(systems), name.strip()
    counts = {"repetitions": repetitions, "sessions": sessions}
    errors = problems_of(name=name, systems=systems, entries=entries, until=until, **counts)
    if errors:
        raise Invalid(errors)
    campaign = Campaign.objects.create(name=name, created_by=created_by, until=canonical_until(until) or "", **counts)
    campaign.systems.set(systems)
    made = [_entry(campaign, planned, place=place) for place, planned in enumerate(entries)]
    order = interleaved(systems=systems, entries=entries, **counts)
    Job.objects.bulk_create(
        Job(
            campaign=campaign,
            entry=made[place],
            system=system,
            workload=made[place].workload,
            repetition=repetition,
            session=session,
            position=position,
        )
        for position, (session, repetition, place, system) in enumerate(order)
    )
    record(Action.CAMPAIGN_CREATE, f"campaign {campaign.pk} {name}", after=counted(campaign.jobs.count(), "job"))
    return campaign


def _entry(campaign: Campaign, planned: PlannedWorkload, *, place: int) -> Entry:
    assert planned.workload is not None, "a plan without a workload was accepted"  # noqa: S101
    entry = Entry.objects.create(
        campaign=campaign,
        place=place,
        workload=planned.workload,
        warmup=planned.warmup,
        duration=planned.duration,
        ends_when_refused=planned.ends_when_refused,
        least_gain=planned.least_gain,
    )
    own = [catalog.load_level_for(threads=1)] if loads_itself(planned.workload) else planned.load_levels
    entry.load_levels.set(own)
    return entry


def _once(things: Sequence[T]) -> list[T]:
    return list(dict.fromkeys(things))


def _check_name(name: str) -> Iterator[FieldProblem]:
    if not name:
        yield FieldProblem("name", "is empty", "state the campaign's question")
    elif len(name) > MAX_NAME:
        yield FieldProblem("name", f"has {len(name)} characters", f"use at most {MAX_NAME}")


def _check_systems(systems: Sequence[System]) -> Iterator[FieldProblem]:
    if not systems:
        yield FieldProblem("systems", "none is chosen", "choose at least one; two or more can be compared")
    for system in systems:
        if system.archived_at is not None:
            yield FieldProblem("systems", f"{system.slug} is archived", "choose a system that is in use")


def _check_sessions(sessions: int, systems: Sequence[System]) -> Iterator[FieldProblem]:
    if not 1 <= sessions <= MAX_SESSIONS:
        yield FieldProblem("sessions", f"{sessions} is out of range", f"use 1 to {MAX_SESSIONS}")
    for system in never_restarted(systems) if sessions > 1 else ():
        message = f"no agent can start {system.slug} anew between sessions"
        remedy = (
            "name the command as `restart` in [systems.controls] of its agent's file (docs/howto/agent.md), or plan "
            "one session and repeat the campaign on a schedule: each day is a session"
        )
        yield FieldProblem("sessions", message, remedy)


def _check_until(until: str) -> Iterator[FieldProblem]:
    if canonical_until(until) is None:
        remedy = f"use {VERDICT}, or the half width of an interval as a share from {LEAST_WIDTH:g} to {MOST_WIDTH:g}"
        yield FieldProblem("until", f"is {until[:40]!r}", remedy)


def _check_entries(entries: Sequence[PlannedWorkload], systems: Sequence[System]) -> Iterator[FieldProblem]:
    if not entries:
        yield FieldProblem("entries", "none is chosen", "choose at least one")
    for place, entry in enumerate(entries):
        for system in entry.systems:
            if system not in systems:
                message = f"{system.slug} is not among the campaign's systems"
                yield FieldProblem(f"entries.{place}.systems", message, "choose it for the campaign as well")
        for problem in _check_entry(entry):
            yield replace(problem, field=f"entries.{place}.{problem.field}")


def _check_entry(entry: PlannedWorkload) -> Iterator[FieldProblem]:
    if entry.workload is None:
        yield FieldProblem("workload", "none is chosen", "choose at least one")
    elif entry.workload.tool and entry.workload.tool not in WORKLOADS:
        message = f"no agent runs {entry.workload.tool}, whose results are submitted"
        yield FieldProblem("workload", message, f"choose one of {', '.join(sorted(WORKLOADS))}")
    elif entry.ends_when_refused and loads_itself(entry.workload):
        message = f"{entry.workload.tool} makes its own load, which has no levels"
        yield FieldProblem("load_levels", message, "leave climb and storm out of this workload")
    if not entry.load_levels:
        yield FieldProblem("load_levels", "none is given", "give at least one number of threads, for example 4")
    if not (math.isfinite(entry.warmup) and 0 <= entry.warmup <= MAX_WARMUP):
        yield FieldProblem("warmup", f"{entry.warmup:g} s is out of range", f"use 0 to {MAX_WARMUP:g} s")
    if not (math.isfinite(entry.duration) and 0 < entry.duration <= MAX_DURATION):
        remedy = f"use more than 0, at most {MAX_DURATION:g} s"
        yield FieldProblem("duration", f"{entry.duration:g} s is out of range", remedy)
    if entry.least_gain is not None and not 0 < entry.least_gain < 1:
        yield FieldProblem("least_gain", f"{entry.least_gain:g} is not a share", "use more than 0, less than 1")


def _check_size(size: PlanSize) -> list[FieldProblem]:
    if size.jobs > MAX_JOBS or size.runs > MAX_RUNS:
        message = f"the plan makes {size.jobs:,} jobs with {size.runs:,} runs"
        return [FieldProblem("", message, f"plan at most {MAX_JOBS:,} jobs and {MAX_RUNS:,} runs at once")]
    return []
