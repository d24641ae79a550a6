"""Writes the table of formats into docs/reference/formats.md, between its markers."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from apps.runs.tool_output import documentation


class Command(BaseCommand):
    help = "Write every format of a submitted output into docs/reference/formats.md."

    def handle(self, *_args: Any, **_options: Any) -> None:
        path = settings.BASE_DIR / "docs" / "reference" / "formats.md"
        path.write_text(documentation.with_entries(path.read_text(encoding="utf-8")), encoding="utf-8")
        self.stdout.write(f"Wrote {path}")
