"""Releases queued to be compared again: their own runs changed, or those of the previous release changed."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.catalog.models import System
from apps.comparison.models import Acknowledgement
from apps.regressions.models import CheckedRelease, Pending
from apps.regressions.releases.pairs import after, with_runs


def add(systems: Iterable[System]) -> int:
    """Queue the systems' releases and those compared with them; returns their number."""
    found: set[tuple[int, int]] = set()
    for system in systems:
        known = with_runs(system.release.platform_id, system.hardware_class)
        newer = after(system.release, known)
        found |= {(each.pk, system.hardware_class_id) for each in (system.release, newer) if each}
    return add_releases(found)


def add_all() -> int:
    """Queue every release compared so far: the thresholds have changed."""
    return add_releases(CheckedRelease.objects.values_list("release_id", "hardware_class_id"))


def add_acknowledged(*, since: datetime) -> int:
    """Queue compared releases whose systems' differences were accepted, or acceptances withdrawn, after `since`;
    returns their number."""
    decided = Acknowledgement.objects.filter(Q(acknowledged_at__gte=since) | Q(withdrawn_at__gte=since))
    found: set[tuple[int, int]] = set()
    for each in decided:
        older = CheckedRelease.objects.filter(
            release__systems__slug__in=[side["system"] for side in each.said["sides"]],
            checked_at__lt=each.withdrawn_at or each.acknowledged_at,
        )
        found |= set(older.values_list("release_id", "hardware_class_id"))
    return add_releases(found)


@transaction.atomic
def add_releases(found: Iterable[tuple[int, int]]) -> int:
    """Queue by ids of release and hardware class; returns their number. Waits for a running comparison, which may not
    include the change: the release is compared again afterwards."""
    now = timezone.now()
    # Sorted, so that two transactions that queue the same rows do not deadlock.
    rows = [Pending(release_id=release, hardware_class_id=hardware, since=now) for release, hardware in sorted(found)]
    Pending.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["release", "hardware_class"], update_fields=["since"]
    )
    return len(rows)
