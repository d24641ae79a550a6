"""`manage.py delete_runs --older-than 365`"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError
from django.utils import timezone

from apps.core.problems import Invalid
from apps.core.text import counted
from apps.core.units import format_bytes
from apps.operations.retention import RetentionPlan, carry_out, plan

NEWEST = 5
MOST_SYSTEMS = 20


class Command(BaseCommand):
    help = (
        "Says which old runs would be deleted and why others stay; with --apply deletes them. Runs named by findings, "
        "in saved comparisons or of pinned baselines stay, and so do the newest and, with an archive, those not in it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--older-than", type=int, metavar="DAYS", required=True, help="since the end of a run")
        parser.add_argument(
            "--newest",
            type=int,
            default=NEWEST,
            metavar="N",
            help=f"runs that stay of each system, workload and load level (default: {NEWEST})",
        )
        parser.add_argument("--unarchived", action="store_true", help="also runs that the archive does not have")
        parser.add_argument("--apply", action="store_true", help="delete them; without it nothing is changed")

    def handle(self, *_: Any, **options: Any) -> None:
        days, newest = options["older_than"], options["newest"]
        for name, value in (("--older-than", days), ("--newest", newest)):
            if value < 1:
                raise CommandError(f"{name} must be at least 1, not {value}")
        try:
            planned = plan(now=timezone.now(), days=days, newest=newest, unarchived=options["unarchived"])
        except Invalid as error:
            raise CommandError(str(error)) from error
        self._describe(planned)
        if not options["apply"]:
            self.stdout.write("Nothing was changed. To delete them, add --apply.")
            return
        done = 0
        try:
            for done in carry_out(planned):
                self.stdout.write(f"{done:,} of {len(planned.runs):,} deleted")
        except Invalid as error:
            raise CommandError(f"after {counted(done, 'run')}: {error}") from error
        except IntegrityError as error:
            raise CommandError(f"after {counted(done, 'run')}: a run is needed since; start again: {error}") from error

    def _describe(self, planned: RetentionPlan) -> None:
        write = self.stdout.write
        write(f"{counted(planned.old, 'complete run')} ended before {planned.before:%Y-%m-%d %H:%M} UTC.")
        for reason, number in planned.kept:
            write(f"  {number:>9,}  stay: {reason}")
        what = f"{format_bytes(planned.files)} of raw files"
        if planned.archived is not None:
            what += f"; {planned.archived:,} of them stay in the archive"
        write(f"  {len(planned.runs):>9,}  to be deleted ({what})")
        for slug, number in planned.systems[:MOST_SYSTEMS]:
            write(f"             {number:>9,}  {slug}")
        others = planned.systems[MOST_SYSTEMS:]
        if others:
            write(f"             {sum(number for _, number in others):>9,}  of {counted(len(others), 'other system')}")
