"""`manage.py examples record|load|remove`: the example study, measured on the lab."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.core.problems import Invalid
from apps.core.text import counted
from apps.rig.examples import load, record, remove, study
from apps.rig.examples.data import FOLDER

EVERY = 10  # restored runs between two lines of progress


class Command(BaseCommand):
    help = "Measure the example study on the lab, load the one that comes with the product, or remove it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True, metavar="record|load|remove")
        one = commands.add_parser("record", help="measure it, or parts of it, and write its archives")
        names = ", ".join(part.name for part in study.PARTS)
        one.add_argument("parts", nargs="*", metavar="PART", help=f"of {names}; default: all")
        one.add_argument("--sessions", type=int, help="fewer or more than planned")
        one.add_argument("--folder", type=Path, default=FOLDER, help="for the archives; default: those of the product")
        one.add_argument("--plan", action="store_true", help="print what would be measured, and how long it takes")
        two = commands.add_parser("load", help="restore its runs; what is here already is not changed")
        two.add_argument("--at-start", action="store_true", help="not what a user removed, or was loaded before")
        two.add_argument("--processes", type=int, default=1, help="that restore at once; default: 1")
        own = Path(settings.SPLASHBOARD_EXAMPLES_FOLDER) if settings.SPLASHBOARD_EXAMPLES_FOLDER else FOLDER
        two.add_argument("--folder", type=Path, default=own, help="of the archives")
        commands.add_parser("remove", help="delete all its runs, systems, findings and the schedule")

    def handle(self, *_args: Any, command: str, **options: Any) -> None:
        if command == "record":
            self._record(options)
        elif command == "load":
            self.stdout.write(self._load(options).sentence())
        else:
            self._remove()

    def _remove(self) -> None:
        try:
            self.stdout.write(f"{counted(remove.remove(), 'example run')} removed.")
        except Invalid as error:
            raise CommandError(str(error)) from error

    def _load(self, options: dict[str, Any]) -> load.Loaded:
        return load.load(
            folder=options["folder"],
            at_start=options["at_start"],
            processes=options["processes"],
            progress=self._progress,
        )

    def _progress(self, done: int, of: int) -> None:
        if done % EVERY == 0:
            self._say(f"progress: {done} of {of} example runs")

    def _record(self, options: dict[str, Any]) -> None:
        try:
            parts = [study.part_named(name) for name in options["parts"]] or list(study.PARTS)
        except LookupError as error:
            raise CommandError(str(error)) from error
        sessions = options["sessions"]
        if sessions is not None and sessions < 1:
            raise CommandError(f"--sessions {sessions}: use at least 1")
        about = record.planned_time(parts, sessions)
        self.stdout.write(f"{', '.join(part.name for part in parts)}: about {about.total_seconds() / 60:.0f} minutes")
        if options["plan"]:
            return
        for part in parts:
            try:
                runs = record.record(part, sessions=sessions, folder=options["folder"], say=self._say)
            except record.CannotRecord as error:
                raise CommandError(str(error)) from error
            self._say(f"{part.name}: {runs} runs written")

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
