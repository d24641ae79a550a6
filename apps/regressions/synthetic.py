"""Deletes the findings and stored comparisons of synthetic and example systems, before their runs are deleted."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import Q

from apps.catalog.models import System
from apps.regressions.findings import reconcile
from apps.regressions.models import Change, CheckedRelease, Finding, SignOff, Trend
from apps.regressions.releases.pairs import MEASURED
from apps.runs.models import Run


@transaction.atomic
def delete_findings(systems: Collection[int]) -> int:
    """Deletes findings that concern only these systems, with their notes, and trends and stored comparisons without
    measured runs. Returns the number of deleted findings."""
    reconcile.lock()
    own = Q(system__in=systems) | Q(baseline_system__in=systems)
    touched = set(Change.objects.filter(own).values_list("finding", flat=True))
    Change.objects.filter(own).delete()
    gone = set(Finding.objects.filter(pk__in=touched, changes=None).values_list("pk", flat=True))
    merged = gone
    while merged:
        merged = set(Finding.objects.filter(merged_into__in=merged).values_list("pk", flat=True)) - gone
        gone |= merged
    # A finding is protected from being deleted before those merged into it.
    Finding.objects.filter(pk__in=gone).update(merged_into=None)
    Finding.objects.filter(pk__in=gone).delete()
    places = System.objects.filter(pk__in=systems).values_list("release_id", "hardware_class_id", "settings_hash")
    for release, hardware, settings in set(places):
        measured = Run.objects.filter(system__release=release, system__hardware_class=hardware)
        if measured.filter(provenance__in=MEASURED).exists():
            continue
        for model in (CheckedRelease, SignOff):
            model.objects.filter(release=release, hardware_class=hardware).delete()
        Trend.objects.filter(
            platform__releases=release, hardware_class=hardware, settings_hash=settings, changes=None
        ).delete()
    Trend.objects.filter(last_run__system__in=systems).update(last_run=None)
    return len(gone)
