"""Repetitions of a finding's measurements: both sides again, with the same parameters, alternating."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from apps.accounts.models import User
from apps.catalog.models import LoadLevel, System, Workload
from apps.core.answers import Hidden, Inline, component
from apps.core.problems import FieldProblem, Invalid
from apps.dispatch.api import MAX_REPETITIONS, PlannedWorkload, PlanSize, create_campaign, loads_itself, size_of
from apps.dispatch.models import FINAL, Campaign, Entry, Job
from apps.regressions.findings.locking import NoSuchFinding, changing, note
from apps.regressions.models import Change, Finding, Repetition
from apps.regressions.releases import stored_checks
from apps.regressions.releases.values import CheckRow, lacks_sessions
from apps.runs.models import Run

# An interval needs three; people decide about more than ten at once.
FEWEST, MOST = 3, 10


@dataclass(frozen=True)
class _Load:
    """How a change was measured, besides its load levels; `entry`: id of its campaign's, 0: known from a run alone."""

    warmup: float
    duration: float
    entry: int = 0
    ends_when_refused: bool = False
    least_gain: float | None = None


@component(text="Plan of a repeated, interleaved measurement.")
@dataclass(frozen=True)
class RepeatPlan:
    """A campaign that would measure a finding's sides again. `repetitions` and the reason for their number (`why`);
    `under_way`: id of an unfinished campaign of this kind."""

    systems: Hidden[tuple[System, ...]]
    entries: tuple[PlannedWorkload, ...]
    repetitions: int
    why: Annotated[str, "why so many"]
    size: Annotated[PlanSize, Inline()]
    under_way: Annotated[int | None, "id of the campaign that does so already"]


def plan_of(finding_id: int, *, repetitions: int | None = None) -> RepeatPlan:
    """The campaign that `repeat` would create. Raises NoSuchFinding, and Invalid if nothing can be measured again."""
    finding = Finding.objects.filter(pk=finding_id).first()
    if finding is None:
        raise NoSuchFinding(f"There is no finding {finding_id}.")
    return _plan(finding, repetitions)


def repeat(*, finding_id: int, by: User, repetitions: int | None = None, seen: datetime | None = None) -> Campaign:
    """Schedules a campaign of both sides of the changes that hold (or, if none, of all): the same systems, workloads,
    load levels and their ends, warm-up and duration, alternating. The finding is updated as its runs arrive.

    `repetitions` None: as many as the side with fewer runs has, 3 to 10. Raises Invalid if such a campaign is
    unfinished, or nothing can be measured again.
    """
    with changing(finding_id, seen) as finding:
        plan = _plan(finding, repetitions)
        if plan.under_way is not None:
            problem = f"campaign {plan.under_way} is already measuring them again"
            raise Invalid([FieldProblem("repetitions", problem, "wait for it, or cancel it first")])
        campaign = create_campaign(
            name=f"Finding {finding.pk}, measured again",
            systems=plan.systems,
            entries=plan.entries,
            repetitions=plan.repetitions,
            created_by=by,
        )
        Repetition.objects.create(finding=finding, campaign=campaign, asked_by=by)
        found = {"campaign": campaign.pk, "repetitions": plan.repetitions}
        note(finding, by=by, what="repetitions", detail=found)
    return campaign


def _plan(finding: Finding, repetitions: int | None) -> RepeatPlan:
    related = ("system", "baseline_system", "workload", "load_level", "slot__campaign")
    changes = list(finding.changes.select_related(*related).order_by("id"))
    changes = [change for change in changes if change.gone_at is None] or changes
    runs = _runs(changes)
    systems: dict[System, None] = {}
    entries: dict[tuple[Workload, tuple[System, ...], _Load], dict[LoadLevel, None]] = {}
    for change in changes:
        loads = _measured(change, runs)
        if not loads:
            continue
        ran = [runs[pk].system for pk in (*change.runs_before[-1:], *change.runs_after[-1:]) if pk in runs]
        before = [change.baseline_system] if change.baseline_system else []
        pair = tuple(dict.fromkeys([*before, *ran, change.system]))
        systems |= dict.fromkeys(pair)
        for load, levels in loads:
            entries.setdefault((change.workload, pair, load), {}).update(dict.fromkeys(levels))
    if not entries:
        problem = "the measurement parameters of these changes are unknown"
        raise Invalid([FieldProblem("repetitions", problem, "plan a campaign of both systems by hand")])
    planned = tuple(
        PlannedWorkload(
            workload,
            sorted(levels, key=lambda level: (level.rate or 0, level.threads)),
            load.warmup,
            load.duration,
            pair,
            load.ends_when_refused,
            load.least_gain,
        )
        for (workload, pair, load), levels in entries.items()
    )
    count, why = _count(changes, repetitions)
    return RepeatPlan(
        systems=tuple(systems),
        entries=planned,
        repetitions=count,
        why=why,
        size=size_of(systems=list(systems), entries=planned, repetitions=count),
        under_way=_under_way(finding),
    )


def _count(changes: Sequence[Change], wanted: int | None) -> tuple[int, str]:
    if wanted is not None:
        if not 1 <= wanted <= MAX_REPETITIONS:
            problem = f"{wanted} is out of range"
            raise Invalid([FieldProblem("repetitions", problem, f"use 1 to {MAX_REPETITIONS}")])
        return wanted, "as requested"
    there = max(min(len(change.runs_before), len(change.runs_after)) for change in changes)
    rows = stored_checks.rows_of(changes)
    count, why = max((FEWEST, f"{FEWEST} give an interval"), (there, "as many as the smaller side has"))
    if (needed := _needed(changes, rows)) > count:
        count, why = needed, "needed for a verdict"
    if count > MOST:
        count, why = MOST, f"at most {MOST} at once; {count} would be {why}"
    if any(lacks_sessions(row) for row in rows.values()):
        why += "; the comparison of the releases lacks sessions, not runs, and this campaign is one more of each side"
    return count, why


def _needed(changes: Sequence[Change], rows: Mapping[int, CheckRow]) -> int:
    """Further repetitions needed for a verdict on changes that newer runs do not confirm, by their own rows in the
    release's last comparison; 0: none. A change that holds has its verdict."""
    own = [rows[change.pk] for change in changes if change.gone_at is not None and change.pk in rows]
    missing = [
        row.needed - min(len(row.runs_before), len(row.runs_after)) for row in own if row.needed and not row.sessions
    ]
    return max([0, *missing])


def _runs(changes: Iterable[Change]) -> dict[int, Run]:
    wanted = {pk for change in changes for pk in (*change.runs_before[-1:], *change.runs_after[-1:])}
    return Run.objects.select_related("system").in_bulk(wanted)


def _measured(change: Change, runs: Mapping[int, Run]) -> list[tuple[_Load, list[LoadLevel]]]:
    """How a change's runs were measured, each with its load levels: a missing result by every entry of its workload;
    empty: unknown."""
    if change.slot and change.slot.campaign:
        taking_part = change.slot.campaign.entries.filter(workload=change.workload, jobs__system=change.system)
        return [(_load(entry), list(entry.load_levels.all())) for entry in taking_part.distinct()]
    known = [runs[pk] for pk in (*change.runs_after[-1:], *change.runs_before[-1:]) if pk in runs]
    for run in known:
        if run.duration is not None and change.load_level:
            return [(_Load(run.warmup, run.duration), [change.load_level])]
    return []


def _load(entry: Entry) -> _Load:
    # Of a workload with a load of its own, which earlier plans let climb, there is nothing to end.
    ends = entry.ends_when_refused and not loads_itself(entry.workload)
    return _Load(entry.warmup, entry.duration, entry.pk, ends, entry.least_gain if ends else None)


def _under_way(finding: Finding) -> int | None:
    unfinished = Job.objects.filter(campaign__repetition__finding=finding).exclude(state__in=FINAL)
    return unfinished.order_by("-campaign").values_list("campaign", flat=True).first()
