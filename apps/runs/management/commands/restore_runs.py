"""`manage.py restore_runs --from s3://bucket/prefix --platform mariadb --month 2026-11`"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.storage import Storage
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.audit.api import Action, record
from apps.core.stores import BadAddress
from apps.core.text import counted
from apps.runs import archive
from apps.runs.management.memory import bounded
from apps.runs.management.progress import with_progress

GIB = 2**30


class Command(BaseCommand):
    help = (
        "Restores archived runs into this installation, with system, workload and raw files. Runs that exist "
        "already are not changed; damaged ones are reported and skipped."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        places = "a folder, s3://bucket/prefix, or a file of export_runs; else SPLASHBOARD_ARCHIVE"
        parser.add_argument("--from", dest="source", help=places)
        parser.add_argument("--run", nargs="+", type=UUID, default=[], metavar="UID", help="only these runs")
        parser.add_argument("--platform", default="", help="only runs of this platform, for example mariadb")
        parser.add_argument("--workload", default="", help="only runs of the workload of this name")
        parser.add_argument("--month", default="", help="only runs that began in this month (UTC), for example 2026-11")
        memory = "GiB that a run may need before it is refused; default: 4"
        parser.add_argument("--memory", type=float, default=4, metavar="GIB", help=memory)

    def handle(self, *_: Any, **options: Any) -> None:
        if not 0 < options["memory"] < math.inf:
            raise CommandError("--memory is a number of GiB above 0, for example 4")
        try:
            with bounded(int(options["memory"] * GIB)), _opened(options["source"]) as source:
                self._restore(source, self._chosen(source, options), options["source"])
        except (BadAddress, OSError, archive.ArchiveTrouble) as error:
            raise CommandError(str(error)) from error

    def _chosen(self, source: Storage, options: dict[str, Any]) -> list[str]:
        wanted = {name: options[name] for name in ("platform", "workload", "month")}
        paths = archive.chosen(source, uids=options["run"], **wanted)
        if not paths:
            raise CommandError("there is no such archived run: check the archive and the options")
        return paths

    def _restore(self, source: Storage, paths: list[str], place: str | None) -> None:
        restored, problems = 0, 0
        try:
            for path in with_progress(paths, noun="runs", out=self.stdout):
                found = archive.restore(source, path=path)
                restored += found.run is not None
                if found.problem:
                    problems += 1
                    self.stderr.write(found.problem)
        finally:  # each restored run is here, whatever ended the rest
            if restored:
                record(Action.RUN_RESTORE, counted(restored, "run"), after=f"from {place or 'the archive'}")
        here = len(paths) - restored - problems
        self.stdout.write(f"{restored:,} of {len(paths):,} archived runs restored, {here:,} were here already")
        if problems:
            raise CommandError(f"{problems:,} could not be restored, for the reasons above")


@contextmanager
def _opened(place: str | None) -> Iterator[Storage]:
    if not place:
        yield archive.archive_storage()
    elif place.endswith(archive.FILE_SUFFIXES):
        with archive.unpacked(Path(place)) as source:
            yield source
    else:
        yield archive.storage_at(place, endpoint_url=settings.S3_ENDPOINT_URL or None)
