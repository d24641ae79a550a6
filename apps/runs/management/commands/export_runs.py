"""`manage.py export_runs 12 13 14 --output runs.zip`"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.runs import archive
from apps.runs.archive.bundle import write_bundle
from apps.runs.models import Run
from apps.runs.storage import artifacts, blocks

# Errors for which nothing is written.
REASONS = (Run.DoesNotExist, OSError, artifacts.DamagedArtifact, blocks.DamagedSeries, archive.ArchiveTrouble)


class Command(BaseCommand):
    help = "Writes complete runs with their samples and raw files into one zip file."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("runs", nargs="+", type=int, help="ids of runs")
        parser.add_argument("--output", type=Path, required=True, help="zip file to write")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            count = write_bundle(runs=options["runs"], path=options["output"])
        except REASONS as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{count} runs written to {options['output']}")
