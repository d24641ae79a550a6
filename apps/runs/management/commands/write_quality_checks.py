"""Writes the table of checks into docs/reference/quality-checks.md, between its markers."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from apps.runs.quality import documentation


class Command(BaseCommand):
    help = "Write every quality check with its limits into docs/reference/quality-checks.md."

    def handle(self, *_args: Any, **_options: Any) -> None:
        path = settings.BASE_DIR / "docs" / "reference" / "quality-checks.md"
        path.write_text(documentation.with_entries(path.read_text(encoding="utf-8")), encoding="utf-8")
        self.stdout.write(f"Wrote {path}")
