"""`manage.py fetch_runs 12 13`"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.runs import archive
from apps.runs.management.progress import with_progress


class Command(BaseCommand):
    help = (
        "Brings samples from the archive back into the database: of runs whose samples were moved, and, replacing "
        "the stored ones, of runs whose samples are damaged."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("runs", nargs="+", type=int, help="ids of runs")

    def handle(self, *_: Any, **options: Any) -> None:
        fetched, problems = 0, 0
        for pk in with_progress(options["runs"], noun="runs", out=self.stdout):
            try:
                fetched += archive.fetch([pk], held_too=True)
            except archive.ArchiveTrouble as error:
                problems += 1
                self.stderr.write(f"run {pk}: {error}")
        self.stdout.write(f"samples of {fetched:,} of {len(options['runs']):,} runs fetched")
        if fetched < len(options["runs"]):
            raise CommandError("the others are not in the archive" if not problems else "the reasons are above")
