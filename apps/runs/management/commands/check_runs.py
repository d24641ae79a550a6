"""`manage.py check_runs`: quality checks of complete runs that have none, such as runs sealed by older versions."""

from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from apps.core.text import counted
from apps.runs import archive
from apps.runs.models import Run
from apps.runs.quality import check

SAY_EVERY = 100


class Command(BaseCommand):
    help = "Checks the quality of complete runs: those given, or all without checks. Their values are not changed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("runs", nargs="*", type=int, help="ids of runs; none: all without checks")
        parser.add_argument("--all", action="store_true", help="all complete runs, including those with checks")

    def handle(self, *_: Any, **options: Any) -> None:
        # Runs of the scale rig are generated: they are not checked.
        sealed = Run.objects.filter(state=Run.State.SEALED).exclude(provenance=Run.Provenance.RIG)
        if options["runs"]:
            sealed = sealed.filter(pk__in=options["runs"])
        elif not options["all"]:
            sealed = sealed.filter(checks=None)
        ids = list(sealed.order_by("started_at", "id").values_list("id", flat=True))
        missing = sorted(set(options["runs"]) - set(ids))
        if missing:
            raise CommandError(f"no complete run {', '.join(map(str, missing))}: nothing was done")
        failed = doubted = 0
        for place, pk in enumerate(ids, start=1):
            try:
                doubted += bool(archive.with_samples(partial(_check, pk)))
            except archive.ArchiveTrouble as error:
                failed += 1
                self.stderr.write(f"run {pk} has no checks: {error}")
            if place % SAY_EVERY == 0:
                self.stdout.write(f"{place} of {len(ids)} runs")
        done = len(ids) - failed
        self.stdout.write(f"{counted(done, 'run')} checked, {doubted} of them failed a check")
        if failed:
            raise CommandError(f"{failed} runs could not be checked; the reasons are above")


@transaction.atomic
def _check(run_id: int) -> list[str]:
    run = check.RELATED.select_for_update(of=("self",), no_key=True).get(pk=run_id)
    check.check(run)
    return run.failed_checks
