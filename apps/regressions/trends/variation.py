"""Run-to-run variation of the trends in which a system's runs stand."""

from collections.abc import Collection, Sequence

from django.db.models import F

from apps.catalog.models import System
from apps.regressions.models import Trend


def variations(systems: Sequence[System], workloads: Collection[int]) -> dict[tuple[int, int, int], float]:
    """(system, workload, threads without a rate) -> coefficient of variation of the workload's primary metric, where
    the trend is long enough to know it. One query."""
    trends = Trend.objects.filter(
        workload__in=workloads,
        settings_hash__in={each.settings_hash for each in systems},
        metric=F("workload__primary_metric"),
        load_level__rate=None,
        variation__isnull=False,
    ).select_related("load_level")
    return {
        (system.pk, trend.workload_id, trend.load_level.threads): trend.variation
        for trend in trends
        for system in systems
        if trend.variation is not None
        and trend.settings_hash == system.settings_hash
        and (trend.platform_id, trend.hardware_class_id) == (system.release.platform_id, system.hardware_class_id)
    }
