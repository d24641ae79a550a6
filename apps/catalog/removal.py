"""Deletes catalog entries that nothing needs any more."""

from collections.abc import Collection, Iterable

from django.db import transaction
from django.db.models import Model, ProtectedError

from apps.catalog import seed_data
from apps.catalog.models import HardwareClass, Platform, Release, System, Workload
from apps.catalog.services import seed

COMES_WITH = frozenset(fields["slug"] for fields in (*seed_data.PLATFORMS, *seed_data.HARDWARE_CLASSES))


def delete_unused(systems: Collection[System], workloads: Iterable[int]) -> list[str]:
    """Deletes the systems and workloads (ids), and then their releases, platforms and hardware classes, as far as
    nothing else refers to them; what the catalog comes with stays. Returns what is gone, each with its kind."""
    releases = Release.objects.filter(systems__in=systems)
    named = [
        *systems,
        *releases.distinct(),
        *Platform.objects.filter(releases__in=releases).exclude(slug__in=COMES_WITH).distinct(),
        *HardwareClass.objects.filter(systems__in=systems).exclude(slug__in=COMES_WITH).distinct(),
        *Workload.objects.filter(pk__in=workloads),
    ]
    called = [(each, f"{each._meta.verbose_name} {each}") for each in named]
    gone = [(each, name) for each, name in called if _delete(each)]
    seed()  # workloads that the catalog offers may have been among them
    return [name for each, name in gone if not _is_back(each)]


def _delete(each: Model) -> bool:
    try:
        with transaction.atomic():
            each.delete()
    except ProtectedError:
        return False
    return True


def _is_back(each: Model) -> bool:
    return isinstance(each, Workload) and Workload.objects.filter(content_hash=each.content_hash).exists()
