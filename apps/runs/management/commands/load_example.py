"""`manage.py load_example`: restores the shipped example runs, so that a new installation is not empty."""

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

EXAMPLE = Path(__file__).resolve().parents[2] / "data" / "example.zip"


class Command(BaseCommand):
    help = "Restores the shipped example runs; existing runs are not changed."

    def handle(self, *_: Any, **__: Any) -> None:
        call_command("restore_runs", "--from", str(EXAMPLE), stdout=self.stdout, stderr=self.stderr)
