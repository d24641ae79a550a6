"""Deletes catalog entries that nothing needs any more."""

from collections.abc import Collection, Iterable

from django.db import transaction
from django.db.models import Model, ProtectedError, Q

from apps.catalog import seed_data
from apps.catalog.models import HardwareClass, Platform, Release, System, Workload
from apps.catalog.services import workload_for
from workers.protocol.workloads import WORKLOADS

COMES_WITH = frozenset(fields["slug"] for fields in (*seed_data.PLATFORMS, *seed_data.HARDWARE_CLASSES))


def delete_unused(systems: Collection[System], workloads: Iterable[int]) -> list[str]:
    """Deletes the systems and workloads (ids), and then their releases, platforms and hardware classes, as far as
    nothing else refers to them; what the catalog comes with stays, and workloads with thresholds or a pinned baseline.
    Returns what is gone, each with its kind."""
    releases = Release.objects.filter(systems__in=systems)
    offered = {
        workload_for(tool=spec.tool, parameters=parameters).pk
        for spec in WORKLOADS.values()
        for parameters in spec.seeds
    }
    named = [
        *systems,
        *releases.distinct(),
        *Platform.objects.filter(releases__in=releases).exclude(slug__in=COMES_WITH).distinct(),
        *HardwareClass.objects.filter(systems__in=systems).exclude(slug__in=COMES_WITH).distinct(),
        *Workload.objects.filter(pk__in=set(workloads) - offered),
    ]
    called = [(each, f"{each._meta.verbose_name} {each}") for each in named]
    return [name for each, name in called if _delete(each)]


def _delete(each: Model) -> bool:
    if isinstance(each, Workload) and _is_set(each):
        return False
    try:
        with transaction.atomic():
            each.delete()
    except ProtectedError:
        return False
    return True


def _is_set(workload: Workload) -> bool:
    """Whether a person has set something for it. Asked late: a baseline that is deleted takes its pin along."""
    named = Q(thresholds__isnull=False) | Q(pinned_baseline__isnull=False)
    return Workload.objects.filter(named, pk=workload.pk).exists()
