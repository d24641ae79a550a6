"""`manage.py export_runs 12 13 14 --output runs.zip`"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.runs import archive
from apps.runs.models import Run


class Command(BaseCommand):
    help = "Writes complete runs with their samples and raw files into one file, for `restore_runs --from`."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("runs", nargs="+", type=int, help="ids of runs")
        kinds = "file to write: runs.zip, or runs.tar.xz, which is smaller"
        parser.add_argument("--output", type=Path, required=True, help=kinds)

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            count = archive.export(run_ids=options["runs"], path=options["output"])
        except (Run.DoesNotExist, OSError, archive.ArchiveTrouble) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{count} runs written to {options['output']}")
