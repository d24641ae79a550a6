"""`manage.py archive_runs`: archives all complete runs that are not in the archive yet, or the given ones."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import QuerySet
from django.utils import timezone

from apps.runs import archive
from apps.runs.management.progress import with_progress
from apps.runs.models import ArchivedRun, Run

MOST = 1_000_000


class Command(BaseCommand):
    help = (
        "Archives complete runs as Parquet in SPLASHBOARD_ARCHIVE: those given, or all that are not archived. "
        "Resumes after an interruption. Archived runs that are given are verified."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("runs", nargs="*", type=int, help="ids of runs; none: all that are not archived")
        parser.add_argument("--older-than", type=int, metavar="DAYS", help="only runs that ended this long ago")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--check", action="store_true", help="verify every file of archived runs instead")
        what.add_argument(
            "--move",
            action="store_true",
            help="move at once the samples that SPLASHBOARD_KEEP_SAMPLES_DAYS moves gradually",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        storage = archive.configured()
        if storage is None:
            raise CommandError(str(archive.NoArchive()))
        now = timezone.now()
        if options["move"]:
            movable = set(archive.movable(now=now, days=settings.KEEP_SAMPLES_DAYS, limit=MOST, waiting_too=True))
            ids = [pk for pk in self._chosen(options, Run.objects.filter(archived__isnull=False)) if pk in movable]
            self._each(ids, "moved to the archive", lambda pk: archive.move(run_id=pk, now=now))
        elif options["check"]:
            ids = self._chosen(options, Run.objects.filter(archived__isnull=False))
            known = ArchivedRun.objects.in_bulk(ids)
            self._each(ids, "whole in the archive", lambda pk: bool(archive.verify(storage, known[pk])))
        else:
            ids = self._chosen(options, Run.objects.all() if options["runs"] else archive.waiting())
            self._each(ids, "in the archive", lambda pk: archive.archive(run_id=pk, now=now))

    def _chosen(self, options: dict[str, Any], among: "QuerySet[Run]") -> list[int]:
        chosen = among.filter(state=Run.State.SEALED)
        if options["runs"]:
            chosen = chosen.filter(pk__in=options["runs"])
            missing = sorted(set(options["runs"]) - set(chosen.values_list("pk", flat=True)))
            if missing:
                raise CommandError(f"no such complete run: {', '.join(map(str, missing))}; nothing was done")
        if options["older_than"] is not None:
            chosen = chosen.filter(ended_at__lt=timezone.now() - timedelta(days=options["older_than"]))
        return list(chosen.order_by("pk").values_list("pk", flat=True))

    def _each(self, ids: list[int], done: str, act: Callable[[int], bool]) -> None:
        count, problems = 0, 0
        for pk in with_progress(ids, noun="runs", out=self.stdout):
            try:
                count += act(pk)
            except archive.ArchiveTrouble as error:
                problems += 1
                self.stderr.write(f"run {pk}: {error}")
        self.stdout.write(f"{count:,} of {len(ids):,} runs are {done}")
        if problems:
            raise CommandError(f"{problems:,} are not, for the reasons above")
