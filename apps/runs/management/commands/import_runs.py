"""`manage.py import_runs runs.zip`; `--example` marks them as shipped examples and reads the product's own file."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.runs.bundle import MalformedBundle, read_bundle
from apps.runs.models import Run

EXAMPLE = Path(__file__).resolve().parents[2] / "data" / "example.zip"


class Command(BaseCommand):
    help = "Reads the runs of a zip file that `export_runs` wrote; those that are here already stay as they are."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="zip file to read")
        parser.add_argument("--example", action="store_true", help="read the example that is part of the product")

    def handle(self, *args: Any, **options: Any) -> None:
        path = EXAMPLE if options["example"] else options["file"]
        if path is None:
            raise CommandError("file: name the zip file to read, or use --example")
        provenance = Run.Provenance.EXAMPLE.value if options["example"] else ""
        try:
            runs = read_bundle(path, provenance=provenance)
        except (MalformedBundle, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{len(runs)} runs imported from {path.name}")
