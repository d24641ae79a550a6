"""`manage.py backup /mnt/backups`"""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from apps.core.units import format_bytes
from apps.operations.backup.programs import ProgramProblem
from apps.operations.backup.write import write


class Command(BaseCommand):
    help = "Writes a backup of rows, artifacts and the local agent's systems into a new folder, while everything runs."

    def add_arguments(self, parser: CommandParser) -> None:
        where = settings.VAR_DIR / "backups"
        parser.add_argument("parent", nargs="?", type=Path, default=where, help=f"where to make it (default: {where})")
        parser.add_argument("--programs", type=Path, help="folder of pg_dump (default: PATH)")

    def handle(self, *_: Any, **options: Any) -> None:
        parent = options["parent"].expanduser().absolute()
        try:
            made = write(parent=parent, now=timezone.now(), folder_of_programs=options["programs"])
        except (ProgramProblem, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{made.folder}: {format_bytes(made.size)}")
        if made.damaged:
            self.stderr.write(f"{made.damaged} artifacts are damaged or missing in their store and not in the backup.")
