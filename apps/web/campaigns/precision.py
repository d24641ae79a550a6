"""Smallest difference that a plan can find, from the run-to-run variation of earlier runs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.catalog.models import System
from apps.comparison.pure import smallest_effect
from apps.dispatch.api import PlannedWorkload
from apps.regressions.api import variations
from apps.regressions.detection import DEFAULT_LIMITS

FEWEST = 2  # runs of a side: one has no interval


@dataclass(frozen=True)
class Precision:
    """At a number of threads, over all systems and workloads: `smallest` relative difference, of the noisiest; None:
    not known. `unknown`: how many of `places` (system and workload) have no variation yet."""

    threads: int
    smallest: float | None
    unknown: int
    places: int

    @property
    def misses(self) -> bool:
        return self.smallest is not None and self.smallest > WANTED


WANTED = DEFAULT_LIMITS.smallest


def precision(
    systems: Sequence[System], entries: Sequence[PlannedWorkload], *, repetitions: int
) -> tuple[Precision, ...]:
    """By threads. The noisiest place counts, with no history: two-sided, 5 %, power 80 %. One query."""
    workloads = {entry.workload.pk for entry in entries if entry.workload and entry.workload.pk}
    known = variations(systems, workloads) if repetitions >= FEWEST and workloads else {}
    places: Mapping[int, list[float | None]] = defaultdict(list)
    for entry in entries:
        for threads in entry.load_levels:
            workload = entry.workload.pk if entry.workload else 0
            places[threads] += [known.get((system.pk, workload, threads)) for system in systems]
    return tuple(_at(threads, places[threads], repetitions) for threads in sorted(places))


def _at(threads: int, found: Sequence[float | None], repetitions: int) -> Precision:
    known = [each for each in found if each is not None]
    smallest = smallest_effect(variation=max(known), count=repetitions) if known else None
    return Precision(threads, smallest, len(found) - len(known), len(found))
