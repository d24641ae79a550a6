"""Takes back systems that were submitted by mistake, for example below a misspelt platform, with their results."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from django.db import transaction

from apps.catalog.api import removal
from apps.catalog.models import System
from apps.comparison.models import PinnedBaseline, Snapshot
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid
from apps.core.text import counted
from apps.dispatch.models import Job
from apps.regressions.api import synthetic
from apps.regressions.models import Change, SignOff
from apps.runs.api import deletion
from apps.runs.models import Run

REMEDY = "the page Catalog lists them; give each by its slug"


@dataclass(frozen=True)
class Mistake:
    """A system that would go, with so many `runs`. `kept`: why it stays, each with what to do first; none: it goes."""

    system: System
    runs: int
    kept: tuple[str, ...]


def look(slugs: Collection[str]) -> list[Mistake]:
    """Raises Invalid where one of the slugs is not in the catalog."""
    systems = {system.slug: system for system in System.objects.filter(slug__in=slugs)}
    if unknown := [slug for slug in slugs if slug not in systems]:
        raise Invalid([FieldProblem("system", f"{slug!r} is not in the catalog", REMEDY) for slug in unknown])
    return [_mistake(systems[slug]) for slug in dict.fromkeys(slugs)]


def take_back(mistakes: Collection[Mistake]) -> list[str]:
    """Deletes their runs, findings about nothing else, and catalog entries that nothing else needs. Returns the names
    of what is gone. Raises Invalid where one of them must stay, and while a backup is made."""
    if kept := [mistake for mistake in mistakes if mistake.kept]:
        raise Invalid([FieldProblem("system", f"{each.system.slug}: {each.kept[0]}") for each in kept])
    systems = [mistake.system for mistake in mistakes]
    keys = [system.pk for system in systems]
    runs = Run.objects.filter(system__in=keys)
    workloads = set(runs.order_by().values_list("workload", flat=True).distinct())
    findings = synthetic.delete_findings(keys)
    done = max(deletion.delete_runs(runs), default=0)
    synthetic.delete_findings(keys)  # trends and comparisons of releases, of which no run is left now
    with transaction.atomic():
        gone = removal.delete_unused(systems, workloads)
        what = f"{counted(done, 'run')}, {counted(findings, 'finding')}"
        record(Action.SYSTEM_DELETE, ", ".join(f"system {system.slug}" for system in systems), before=what)
    return gone


def _mistake(system: System) -> Mistake:
    runs = Run.objects.filter(system=system).order_by()
    return Mistake(system, runs.count(), tuple(_reasons(system, list(runs.values_list("pk", flat=True)))))


def _reasons(system: System, runs: list[int]) -> Iterator[str]:
    if jobs := Job.objects.filter(system=system).count():
        yield f"an agent measured it, in {counted(jobs, 'job')}: only what was submitted is taken back"
    if Run.objects.filter(system=system, provenance__in=(Run.Provenance.EXAMPLE, Run.Provenance.RIG)).exists():
        yield "it is an example, which has a removal of its own (Home)"
    saved = Snapshot.objects.filter(runs__overlap=runs).values_list("comparison__title", flat=True).distinct()
    for title in saved.order_by("comparison__title"):
        yield f"the saved comparison {title!r} rests on its runs: delete that first, on its page"
    for pinned in PinnedBaseline.objects.filter(system=system).select_related("workload"):
        yield f"it is the pinned baseline of {pinned.workload}: pin another one first"
    if SignOff.objects.filter(release=system.release_id, withdrawn_at=None).exists():
        yield f"{system.release} is signed off: withdraw that first"
    if others := Change.objects.filter(first_run__in=runs).exclude(system=system).count():
        yield f"{counted(others, 'change')} of other systems began at one of its runs"
