"""`manage.py find_regressions`: the worker's analysis, for all runs not analysed yet."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from apps.catalog.models import HardwareClass, Release
from apps.regressions import look
from apps.regressions.models import Finding
from apps.regressions.releases.pairs import MEASURED
from apps.regressions.trends import follow
from apps.runs.api import places
from apps.runs.models import COUNTED, Run


class Command(BaseCommand):
    help = "Analyses complete runs not analysed yet: in trends, and release against release."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--synthetic", action="store_true", help="include synthetic and example runs")

    def handle(self, **options: Any) -> None:
        before = Finding.objects.count()
        looked = 0
        while runs := look.due():
            for run_id in runs:
                look.look(run_id=run_id)
            looked += len(runs)
        compared = look.check_pending()
        if options["synthetic"]:
            compared += self._compare_synthetic()
        found = Finding.objects.count() - before
        counts = [(looked, "run", "analysed"), (compared, "release", "compared"), (found, "finding", "new")]
        self.stdout.write(
            ", ".join(f"{count:,} {one}{'' if count == 1 else 's'} {what}" for count, one, what in counts)
        )

    def _compare_synthetic(self) -> int:
        systems = Run.objects.filter(COUNTED).exclude(provenance__in=MEASURED).order_by()
        found = systems.values_list("system", "system__release", "system__hardware_class").distinct()
        for place in places.counted(systems={system for system, _, _ in found}, newest=1):
            follow.follow_run(place.newest[0])
        sides = sorted({(release, hardware) for _, release, hardware in found})
        releases = Release.objects.select_related("platform").in_bulk({release for release, _ in sides})
        hardware_classes = HardwareClass.objects.in_bulk({hardware for _, hardware in sides})
        for release, hardware in sides:
            look.compare(releases[release], hardware_classes[hardware], synthetic=True)
        return len(sides)
