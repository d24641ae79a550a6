"""Loads the initial catalog; can be run again at any time."""

from typing import Any

from django.core.management.base import BaseCommand

from apps.catalog import seed_data, services
from apps.catalog.metrics import derived_metrics, standard
from workers.protocol.workloads import WORKLOADS


class Command(BaseCommand):
    help = "Load platforms, hardware classes, metrics and default workloads. A rerun updates them and deletes nothing."

    def handle(self, *_args: Any, **_options: Any) -> None:
        services.seed()
        self.stdout.write(
            f"Catalog: {len(seed_data.PLATFORMS)} platforms, {len(seed_data.HARDWARE_CLASSES)} hardware classes, "
            f"{len(standard.CURATED) + len(derived_metrics.DERIVED)} metrics, "
            f"{sum(len(spec.seeds) for spec in WORKLOADS.values())} workloads."
        )
