"""Regenerates the entries between the markers of docs/reference/metrics.md and docs/reference/workloads.md."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from apps.catalog import glossary, workload_docs

WRITTEN = {"reference/metrics.md": glossary.with_entries, "reference/workloads.md": workload_docs.with_entries}


class Command(BaseCommand):
    help = "Write every metric into docs/reference/metrics.md and every workload into docs/reference/workloads.md."

    def handle(self, *_args: Any, **_options: Any) -> None:
        for name, with_entries in WRITTEN.items():
            path = settings.BASE_DIR / "docs" / name
            path.write_text(with_entries(path.read_text(encoding="utf-8")), encoding="utf-8")
            self.stdout.write(f"Wrote {path}")
