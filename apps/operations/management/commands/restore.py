"""`manage.py restore /mnt/backups/splashboard-20260131T100000Z`"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.stores import BucketProblem
from apps.operations.backup.manifest import BadBackup
from apps.operations.backup.programs import ProgramProblem
from apps.operations.backup.restore import HasData, restore
from apps.operations.backup.verify import verify


class Command(BaseCommand):
    help = "Restores a backup into an installation without data; with --verify it only reads the backup."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="the backup")
        parser.add_argument(
            "--verify", action="store_true", help="compare the backup with its manifest, change nothing"
        )
        parser.add_argument(
            "--create-bucket", action="store_true", help="create the artifacts' bucket if it is missing"
        )
        parser.add_argument("--programs", type=Path, help="folder of pg_restore (default: PATH)")

    def handle(self, *_: Any, **options: Any) -> None:
        folder = options["folder"].expanduser().absolute()
        try:
            if options["verify"]:
                found, done = verify(folder), "is whole"
            else:
                found = restore(folder, folder_of_programs=options["programs"], create_bucket=options["create_bucket"])
                done = "is restored"
        except (HasData, BadBackup, BucketProblem, ProgramProblem, OSError) as error:
            raise CommandError(str(error)) from error
        rows = sum(found.rows.values())
        self.stdout.write(f"{folder} {done}: taken at {found.taken_at}, {rows} rows, {found.artifacts} artifacts")
        if found.damaged:
            self.stderr.write(f"{len(found.damaged)} artifacts were damaged when it was made and are not in it.")
