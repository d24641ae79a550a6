"""Retention: which old runs are deleted, and why the others stay."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum, Window
from django.db.models.functions import RowNumber
from django.urls import Resolver404, resolve

from apps.accounts import shared_links
from apps.comparison.models import PinnedBaseline, Snapshot
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid
from apps.core.text import counted
from apps.regressions.api import CLOSED
from apps.regressions.models import Change, CheckedRelease, SignOff
from apps.runs.api import archive, deletion
from apps.runs.models import COUNTED, ArchivedRun, Artifact, Run

# Examples have a removal of their own, and so do runs of the scale rig.
KINDS = (Run.Provenance.AGENT, Run.Provenance.SUBMITTED)


@dataclass(frozen=True)
class RetentionPlan:
    """What a clean-up would do: `old` complete runs ended before `before`. `kept`: the reasons to keep some, each with
    the number of runs for which it is the first. `systems`: runs to be deleted by system, most first. `files`: size of
    their raw files, bytes. `archived`: how many of them the archive has; None: there is no archive."""

    before: datetime
    old: int
    kept: tuple[tuple[str, int], ...]
    runs: tuple[int, ...]
    systems: tuple[tuple[str, int], ...]
    files: int
    archived: int | None


def plan(*, now: datetime, days: int, newest: int, unarchived: bool = False) -> RetentionPlan:
    """`days`: since the end of a run. `newest`: runs that stay of each system, workload and load level. `unarchived`:
    also runs that the archive, if there is one, does not have. Raises ValueError when `days` or `newest` is below 1,
    Invalid when runs were archived but no archive is configured here."""
    if days < 1 or newest < 1:
        raise ValueError("days and newest must be at least 1")
    has_archive = archive.configured() is not None
    if not has_archive and not unarchived and ArchivedRun.objects.exists():
        message = "it is not set here, but runs of this installation are archived"
        remedy = "set it as for the server; --unarchived deletes runs whether the archive has them or not"
        raise Invalid([FieldProblem("SPLASHBOARD_ARCHIVE", message, remedy)])
    before = now - timedelta(days=days)
    old = Run.objects.filter(state=Run.State.SEALED, ended_at__lt=before, provenance__in=KINDS).order_by()
    left = set(old.values_list("pk", flat=True))
    number, kept = len(left), []
    for reason, holds in _reasons(old, newest, is_archive_required=has_archive and not unarchived, now=now):
        found = left.intersection(holds)
        left -= found
        if found:
            kept.append((reason, len(found)))
    going = tuple(sorted(left))
    of_systems = Counter(Run.objects.filter(pk__in=going).order_by().values_list("system__slug", flat=True))
    return RetentionPlan(
        before=before,
        old=number,
        kept=tuple(kept),
        runs=going,
        systems=tuple(sorted(of_systems.items(), key=lambda one: (-one[1], one[0]))),
        files=Artifact.objects.filter(run__in=going).aggregate(size=Sum("size"))["size"] or 0,
        archived=len(left.intersection(_archived(old))) if has_archive else None,
    )


def carry_out(planned: RetentionPlan) -> Iterator[int]:
    """Deletes the runs of the plan; yields how many so far. Raises as deletion.delete_runs; what was deleted until then
    stays so, and is in the audit log."""
    done = 0
    try:
        for done in deletion.delete_runs(Run.objects.filter(pk__in=planned.runs)):
            yield done
    finally:
        if done:
            with transaction.atomic():
                subject = f"{counted(done, 'run')} that ended before {planned.before:%Y-%m-%d %H:%M} UTC"
                record(Action.RUN_DELETE, subject, before=", ".join(f"{slug}: {n}" for slug, n in planned.systems))


Found = Iterable[int]


# Platform, version, and hardware class of a release's runs; None: any.
Place = tuple[str, str, str | None]


def _reasons(
    old: "QuerySet[Run]", newest: int, *, is_archive_required: bool, now: datetime
) -> Iterator[tuple[str, Found]]:
    """Each with all runs that it keeps, among others. Computed one after another."""
    yield f"the {newest} newest of their system, workload and load level", _newest(newest)
    yield "named by a finding", _of_findings()
    yield "in a saved comparison", chain.from_iterable(Snapshot.objects.values_list("runs", flat=True))
    yield "of a pinned baseline", _of_baselines()
    yield "of a signed-off release", _at(_signed_off())
    yield "of a shared page", _of_shared_pages(now)
    if is_archive_required:
        yield "not in the archive", set(old.values_list("pk", flat=True)).difference(_archived(old))


def _newest(newest: int) -> Found:
    """Only runs that count: of the others, none is needed for a comparison."""
    place = [F("system"), F("workload"), F("load_level")]
    rank = Window(RowNumber(), partition_by=place, order_by=[F("started_at").desc(), F("id").desc()])
    return Run.objects.filter(COUNTED).annotate(rank=rank).filter(rank__lte=newest).values_list("pk", flat=True)


def _of_findings() -> Found:
    """The evidence of open and accepted findings, and of closed ones the run at which the change began."""
    changes = Change.objects.order_by()
    evidence = changes.exclude(finding__state__in=CLOSED).values_list("runs_before", "runs_after")
    firsts = changes.filter(first_run__isnull=False).values_list("first_run", flat=True)
    return chain(firsts, chain.from_iterable(before + after for before, after in evidence))


def _of_baselines() -> Found:
    of_this_run = PinnedBaseline.objects.filter(workload=OuterRef("workload"), system=OuterRef("system"))
    return Run.objects.filter(Exists(of_this_run)).values_list("pk", flat=True)


def _signed_off() -> Iterator[Place]:
    """Releases whose sign-off stands, and what they were compared with."""
    for each in SignOff.objects.filter(withdrawn_at=None).select_related("release__platform", "hardware_class"):
        platform, hardware = each.release.platform.slug, each.hardware_class.slug
        yield platform, each.release.version, hardware
        yield platform, each.seen.get("baseline", ""), hardware


def _at(places: Iterable[Place]) -> Found:
    """Only runs that count: a release is judged by no others."""
    asked = Q()
    for platform, version, hardware in set(places):
        of_hardware = {} if hardware is None else {"system__hardware_class__slug": hardware}
        of_release = {"system__release__platform__slug": platform, "system__release__version": version}
        asked |= Q(**of_release, **of_hardware)
    return Run.objects.filter(COUNTED, asked).values_list("pk", flat=True) if asked else ()


def _of_shared_pages(now: datetime) -> Found:
    """Of releases and findings; snapshots keep theirs whether they are shared or not."""
    findings, places = set[int](), set[Place]()
    for link in shared_links.live(now):
        try:
            named = resolve(link.path).kwargs
        except Resolver404:
            continue  # of an older version's page
        if link.view == "finding":
            findings.add(named["finding_id"])
        elif link.view == "release":
            places.update(_shared_release(named["platform"], named["version"], link.pinned))
    evidence = Change.objects.filter(finding__in=findings).order_by().values_list("runs_before", "runs_after")
    return chain(_at(places), chain.from_iterable(before + after for before, after in evidence))


def _shared_release(platform: str, version: str, pinned: Mapping[str, str]) -> Iterator[Place]:
    """With the baselines that its page shows."""
    hardware = pinned.get("hardware")
    checks = CheckedRelease.objects.filter(release__platform__slug=platform, release__version=version)
    if hardware:
        checks = checks.filter(hardware_class__slug=hardware)
    yield platform, version, hardware
    if baseline := pinned.get("baseline"):
        yield platform, baseline, hardware
        return
    for of_check in checks.exclude(baseline=None).values_list("baseline__version", "hardware_class__slug"):
        yield platform, *of_check


def _archived(old: "QuerySet[Run]") -> Found:
    return old.filter(archived__is_outdated=False).values_list("pk", flat=True)
