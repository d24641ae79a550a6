"""Writes the metrics' entries into docs/glossary.md, between its two marks."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from apps.catalog import glossary


class Command(BaseCommand):
    help = "Write every curated and derived metric's entry into docs/glossary.md."

    def handle(self, *_args: Any, **_options: Any) -> None:
        path = settings.BASE_DIR / "docs" / "glossary.md"
        path.write_text(glossary.with_entries(path.read_text(encoding="utf-8")), encoding="utf-8")
        self.stdout.write(f"Wrote {path}")
