"""Restores the example study into this installation: runs, what the analysis finds in them, a schedule's history."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.accounts import services as accounts
from apps.catalog.api import set_short_name
from apps.catalog.models import HardwareClass, LoadLevel, Release, System
from apps.core.problems import Invalid
from apps.core.text import counted
from apps.dispatch.models import Campaign, Entry, Job, JobRun, Schedule, ScheduledRun
from apps.regressions import api as regressions
from apps.regressions.models import Change, Finding
from apps.rig.examples import restore
from apps.rig.examples.data import FOLDER, HISTORY, archives
from apps.rig.examples.restore import RestoredExample
from apps.rig.models import StudyState
from apps.runs.api import archive, places
from apps.runs.models import Run

LABEL = "example"
# Of what follows the last run: another one is done by the next start where the archives are known already.
RULES = 2
READ_AT_ONCE = 50  # runs of which samples are read
# Restored runs from one note of the progress to the next; without a note for so long, the restoring has ended.
NOTED_EVERY, ENDED_AFTER = 5, timedelta(seconds=60)
# Of systems that would be named after their slugs beside each other.
SHORT_NAMES = {
    "example-single": "single",
    "example-release-old": "MariaDB 10.11",
    "example-release-new": "MariaDB 11.8",
}

# Runs restored, of how many.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Loaded:
    """`restored` of `runs` were not here yet; `findings` of the analysis. `removed`: nothing was loaded, because a user
    removed the examples; `unchanged`: because these archives were loaded before."""

    runs: int = 0
    restored: int = 0
    findings: int = 0
    problems: tuple[str, ...] = ()
    removed: bool = False
    unchanged: bool = False

    def sentence(self) -> str:
        if self.removed:
            return "The examples were removed here; `manage.py examples load` brings them back."
        if self.unchanged:
            return "These examples were loaded before."
        done = f"{self.restored:,} of {counted(self.runs, 'example run')} restored, {counted(self.findings, 'finding')}"
        return "\n".join([done, *self.problems])


def load(
    *, folder: Path = FOLDER, at_start: bool = False, processes: int = 1, progress: Progress = lambda *_: None
) -> Loaded:
    """Runs that exist here are not changed. A run that cannot be restored is a problem of the result. `at_start`: not
    what a user removed, nor archives that were loaded before."""
    state, sha256 = StudyState.objects.first() or StudyState(), _sha256(folder)
    if state.removed_at and at_start:
        return Loaded(removed=True)
    if state.sha256 == sha256 and state.loaded_at and at_start:
        return Loaded(unchanged=True)
    # What follows the last run was never done for those that an interrupted load restored, or done by older rules.
    again = state.wanted > 0 and (state.loaded_at is None or state.sha256 not in ("", sha256))
    # The processes end before the files that they read are removed, and start before there are any.
    with ExitStack() as stack, restore.pool(processes) as pool:
        sources = [stack.enter_context(archive.unpacked(file)) for file in archives(folder)]
        wanted = [(source, path) for source in sources for path in archive.chosen(source)]
        found: list[RestoredExample] = []
        state.loaded_at, state.removed_at, state.wanted = None, None, len(wanted)
        _note(state, 0)
        for each in restore.restored(wanted, pool):
            found.append(each)
            progress(len(found), len(wanted))
            if len(found) % NOTED_EVERY == 0:
                _note(state, len(found))
    new = [each.run for each in found if each.run is not None]
    complete = _ids(path for _, path in wanted) if again else new
    if again:
        _derive_server_starts(complete)
    if complete:
        archive.compare_siblings(complete)
        _name()
        _restore_history(folder / HISTORY)
        _analyse()
    problems = tuple(each.problem for each in found if each.problem)
    state.loaded_at, state.sha256 = timezone.now(), "" if problems else sha256
    _note(state, len(found))
    return Loaded(len(found), len(new), Finding.objects.filter(labels__contains=[LABEL]).count(), problems)


def _derive_server_starts(runs: Collection[int]) -> None:
    """Of those restored by older rules. Runs of which the samples were moved stay as they are."""
    lacking = Run.objects.filter(pk__in=runs, server_started_at=None).exclude(archived__moved_at__isnull=False)
    ordered = list(lacking.order_by("pk"))
    for start in range(0, len(ordered), READ_AT_ONCE):
        archive.derive_server_starts(ordered[start : start + READ_AT_ONCE])


def _ids(manifests: Iterable[str]) -> list[int]:
    """Of the runs with these manifests that are here."""
    uids = [archive.uid_of(path) for path in manifests]
    return list(Run.objects.filter(uid__in=uids).values_list("pk", flat=True))


def _note(state: StudyState, done: int) -> None:
    state.restored, state.changed_at = done, timezone.now()
    state.save()


@dataclass(frozen=True)
class Restoring:
    """`done` of `of` runs."""

    done: int
    of: int


def restoring(now: datetime) -> Restoring | None:
    """How far the study is restored; None: nobody restores it. One query."""
    state = StudyState.objects.first()
    if state is None or state.loaded_at is not None or state.changed_at is None:
        return None
    return Restoring(state.restored, state.wanted) if now - state.changed_at < ENDED_AFTER else None


def _name() -> None:
    for slug, text in SHORT_NAMES.items():
        with suppress(Invalid):  # a user's system has that name
            set_short_name(slug=slug, text=text)


def _sha256(folder: Path) -> str:
    digest = hashlib.sha256(b"%d" % RULES)
    for file in (*archives(folder), folder / HISTORY):
        digest.update(file.read_bytes() if file.exists() else b"")
    return digest.hexdigest()


def are_loaded() -> bool:
    return Run.objects.filter(provenance=Run.Provenance.EXAMPLE).exists()


def systems() -> list[System]:
    """Those of which all runs are examples."""
    own = System.objects.filter(runs__provenance=Run.Provenance.EXAMPLE).distinct()
    others = Run.objects.exclude(provenance=Run.Provenance.EXAMPLE).values("system")
    return list(own.exclude(pk__in=others).select_related("release__platform", "hardware_class"))


def _analyse() -> None:
    """Compares each example release with the one before it, and follows the trends of those that have two."""
    sides: dict[tuple[int, int], set[int]] = {}
    for system in systems():
        platform = system.release.platform_id
        sides.setdefault((platform, system.hardware_class_id), set()).add(system.release_id)
    before = set(Finding.objects.values_list("pk", flat=True))
    for (_, hardware), releases in sides.items():
        if len(releases) < 2:
            continue
        for release in Release.objects.filter(pk__in=releases).select_related("platform"):
            regressions.look.compare(release, HardwareClass.objects.get(pk=hardware), synthetic=True)
        own = {system.pk for system in systems() if system.release_id in releases}
        for place in places.counted(systems=own, newest=1):
            regressions.trend_follow.follow_run(place.newest[0])
    # Workers find changes of other systems meanwhile.
    examples = systems()
    is_own = Q(system__in=examples) & (Q(baseline_system=None) | Q(baseline_system__in=examples))
    found = Finding.objects.filter(pk__in=Change.objects.filter(is_own).values("finding")).exclude(pk__in=before)
    _review(found.exclude(pk__in=Change.objects.exclude(is_own).values("finding")))


def _review(found: Any) -> None:
    """Labels the findings; the largest is under review, so that a visitor sees how one is worked on."""
    by = accounts.first_administrator()
    worst = found.filter(verdict=Finding.Verdict.WORSE).order_by("-largest").first()
    for finding in found:
        regressions.review.set_labels(finding_id=finding.pk, by=by, labels=[*finding.labels, LABEL])
    if worst is not None:
        regressions.review.set_state(finding_id=worst.pk, by=by, state=Finding.State.UNDER_REVIEW)


@transaction.atomic
def _restore_history(file: Path) -> None:
    """The schedule and its campaigns, as they were when it was recorded; switched off."""
    if not file.exists():
        return
    told = json.loads(file.read_text())
    by = accounts.first_administrator()
    schedule, is_new = Schedule.objects.get_or_create(
        name=told["name"],
        defaults={"plan": json.dumps(told["plan"], indent=1), "cron": told["cron"], "created_by": by},
    )
    if not is_new:
        return
    for slot in told["runs"]:
        runs = list(Run.objects.filter(uid__in=slot["runs"]).select_related("system", "workload", "load_level"))
        if runs:
            due = datetime.fromisoformat(slot["due_at"])
            campaign = _campaign(told["name"], runs)
            made = ScheduledRun.objects.create(
                schedule=schedule,
                due_at=due,
                state=ScheduledRun.State.COMPLETE,
                campaign=campaign,
                settled_at=_end(runs),
            )
            ScheduledRun.objects.filter(pk=made.pk).update(begun_at=due)


def _campaign(name: str, runs: list[Run]) -> Campaign:
    """The campaign whose jobs gave these runs: one job a workload and system."""
    campaign = Campaign.objects.create(name=name, repetitions=1)
    Campaign.objects.filter(pk=campaign.pk).update(created_at=min(run.started_at for run in runs))
    campaign.systems.set({run.system for run in runs})
    for place, (workload, own) in enumerate(_by_workload(runs)):
        entry = Entry.objects.create(
            campaign=campaign, place=place, workload=workload, warmup=own[0].warmup, duration=own[0].duration or 1
        )
        entry.load_levels.set(LoadLevel.objects.filter(pk__in={run.load_level_id for run in own}))
        for position, system in enumerate(sorted({run.system_id for run in own})):
            measured = [run for run in own if run.system_id == system]
            job = Job.objects.create(
                campaign=campaign,
                entry=entry,
                system_id=system,
                workload=workload,
                repetition=1,
                position=place * len(runs) + position,
                state=Job.State.SUCCEEDED,
                attempt=1,
                started_at=min(run.started_at for run in measured),
                finished_at=_end(measured),
            )
            JobRun.objects.bulk_create(JobRun(run=run, job=job, attempt=1) for run in measured)
    return campaign


def _by_workload(runs: list[Run]) -> Iterator[tuple[Any, list[Run]]]:
    ordered = sorted(runs, key=lambda run: run.started_at)
    for workload in dict.fromkeys(run.workload for run in ordered):
        yield workload, [run for run in ordered if run.workload_id == workload.pk]


def _end(runs: list[Run]) -> datetime:
    return max(run.ended_at or run.started_at for run in runs)
