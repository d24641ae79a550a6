"""`manage.py load_example`: imports the shipped example runs, so that a new installation is not empty."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from apps.runs.archive.bundle import read_bundle
from apps.runs.models import Run

EXAMPLE = Path(__file__).resolve().parents[2] / "data" / "example.zip"


class Command(BaseCommand):
    help = "Imports the shipped example runs; those that are here already stay as they are."

    def handle(self, *_: Any, **__: Any) -> None:
        runs = read_bundle(EXAMPLE, provenance=Run.Provenance.EXAMPLE)
        self.stdout.write(f"{len(runs)} example runs imported")
