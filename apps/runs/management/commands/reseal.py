"""`manage.py reseal`: recomputes series, statistics and measurements of runs sealed by older rules."""

from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.runs import archive, seal
from apps.runs.models import Run
from apps.runs.storage import artifacts, blocks

SAY_EVERY = 100
# Errors that leave a run unchanged.
REASONS = (blocks.DamagedSeries, artifacts.DamagedArtifact, archive.ArchiveTrouble, seal.StoredDifferently)


class Command(BaseCommand):
    help = (
        "Seals runs again by the current rules: those given, or all sealed by older rules. Samples are not changed; "
        "statistics are recomputed and the load tool's output is parsed again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("runs", nargs="*", type=int, help="ids of runs; none: all sealed by older rules")

    def handle(self, *_: Any, **options: Any) -> None:
        # Runs of the scale rig are generated: no tool output to parse.
        sealed = Run.objects.filter(state=Run.State.SEALED).exclude(provenance=Run.Provenance.RIG)
        chosen = (
            sealed.filter(pk__in=options["runs"]) if options["runs"] else sealed.filter(derivation__lt=seal.DERIVATION)
        )
        ids = list(chosen.order_by("id").values_list("id", flat=True))
        missing = sorted(set(options["runs"]) - set(ids))
        if missing:
            raise CommandError(f"no complete run {', '.join(map(str, missing))}: nothing was done")
        failed = 0
        for place, pk in enumerate(ids, start=1):
            try:
                archive.with_samples(partial(seal.reseal, run_id=pk))
            except REASONS as error:
                failed += 1
                self.stderr.write(f"run {pk} is unchanged: {error}")
            if place % SAY_EVERY == 0:
                self.stdout.write(f"{place} of {len(ids)} runs")
        self.stdout.write(f"{len(ids) - failed} of {len(ids)} runs sealed again by rules {seal.DERIVATION}")
        if failed:
            raise CommandError(f"{failed} runs are unchanged; the reasons are above")
