"""`manage.py import_runs runs.zip`"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.runs.archive.bundle import MalformedBundle, read_bundle


class Command(BaseCommand):
    help = "Reads the runs of a zip file that `export_runs` wrote; those that are here already stay as they are."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="zip file to read")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            runs = read_bundle(options["file"])
        except (MalformedBundle, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{len(runs)} runs imported from {options['file'].name}")
