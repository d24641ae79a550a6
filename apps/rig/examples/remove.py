"""Deletes the example study: runs, findings, schedule, and catalog entries that nothing else uses."""

from django.db import transaction
from django.utils import timezone

from apps.catalog.api import removal
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid
from apps.core.text import counted
from apps.dispatch.models import Campaign, Schedule
from apps.regressions import api as regressions
from apps.rig.examples import load
from apps.rig.examples.study import PARTS
from apps.rig.models import StudyState
from apps.runs.api import deletion
from apps.runs.models import Run


def remove() -> int:
    """Returns the number of deleted runs. What others refer to is kept. A later start does not load them again. Raises
    Invalid while they are being restored."""
    if load.restoring(timezone.now()):
        raise Invalid([FieldProblem("examples", "they are still being restored", "try again in a minute")])
    systems = load.systems()
    regressions.synthetic.delete_findings([system.pk for system in systems])
    names = [part.nightly for part in PARTS if part.nightly]
    with transaction.atomic():
        own = Campaign.objects.filter(slot__schedule__name__in=names)
        Campaign.objects.filter(pk__in=list(own.values_list("pk", flat=True))).delete()
        Schedule.objects.filter(name__in=names).delete()
    runs = Run.objects.filter(provenance=Run.Provenance.EXAMPLE)
    workloads = set(runs.order_by().values_list("workload", flat=True).distinct())
    done = max(deletion.delete_runs(runs), default=0)
    removal.delete_unused(systems, workloads)
    with transaction.atomic():
        state, _ = StudyState.objects.get_or_create()
        StudyState.objects.filter(pk=state.pk).update(removed_at=timezone.now())
        record(Action.EXAMPLES_REMOVE, "the example study", before=counted(done, "run"))
    return done
