"""`manage.py delete_systems SLUG...`"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError

from apps.core.problems import Invalid
from apps.core.text import counted
from apps.operations import mistakes


class Command(BaseCommand):
    help = (
        "Says what would go with systems that were submitted by mistake, for example below a misspelt platform; with "
        "--apply deletes them: runs, findings about nothing else, and the release, platform, hardware class and "
        "workloads that nothing else needs."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("systems", nargs="+", metavar="SLUG")
        parser.add_argument("--apply", action="store_true", help="delete them; without it nothing is changed")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            found = mistakes.look(options["systems"])
            for each in found:
                self.stdout.write(f"system {each.system.slug} ({each.system.release}): {counted(each.runs, 'run')}")
                for reason in each.kept:
                    self.stdout.write(f"  stays: {reason}")
            if any(each.kept for each in found):
                raise CommandError("Nothing was changed. Leave out what stays, or do first what stands there.")
            if not options["apply"]:
                self.stdout.write("Nothing was changed. To delete them, add --apply.")
                return
            for name in mistakes.take_back(found):
                self.stdout.write(f"deleted: {name}")
        except Invalid as error:
            raise CommandError(str(error)) from error
        except IntegrityError as error:
            raise CommandError(f"something else needs one of the runs since; start again: {error}") from error
