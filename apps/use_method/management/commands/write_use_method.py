"""Writes the table of resources into docs/reference/use-method.md, between its markers."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from apps.use_method import documentation


class Command(BaseCommand):
    help = "Write every resource with its indicators into docs/reference/use-method.md."

    def handle(self, *_args: Any, **_options: Any) -> None:
        path = settings.BASE_DIR / "docs" / "reference" / "use-method.md"
        path.write_text(documentation.with_entries(path.read_text(encoding="utf-8")), encoding="utf-8")
        self.stdout.write(f"Wrote {path}")
