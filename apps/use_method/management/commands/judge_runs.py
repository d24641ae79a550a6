"""`manage.py judge_runs`: USE panels of complete runs, by the current rules."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.text import counted
from apps.runs.models import Run
from apps.use_method.panels import panels

PROGRESS_EVERY = 100


class Command(BaseCommand):
    help = "Judges utilization, saturation and errors of complete runs: those named, or all that are not up to date."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("runs", nargs="*", type=int, help="ids of runs; none: all that are not up to date")
        parser.add_argument("--all", action="store_true", help="all complete runs, also those that are up to date")

    def handle(self, *_: Any, **options: Any) -> None:
        sealed = Run.objects.filter(state=Run.State.SEALED).exclude(provenance=Run.Provenance.RIG)
        if options["runs"]:
            sealed = Run.objects.filter(state=Run.State.SEALED, pk__in=options["runs"])
        elif not options["all"]:
            sealed = sealed.exclude(panels.CURRENT)
        ids = list(sealed.order_by("started_at", "id").values_list("id", flat=True))
        missing = sorted(set(options["runs"]) - set(ids))
        if missing:
            raise CommandError(f"no complete run {', '.join(map(str, missing))}: nothing was done")
        for place, pk in enumerate(ids, start=1):
            panels.judge(run_id=pk)
            if place % PROGRESS_EVERY == 0:
                self.stdout.write(f"{place} of {len(ids)} runs")
        self.stdout.write(f"{counted(len(ids), 'run')} judged")
