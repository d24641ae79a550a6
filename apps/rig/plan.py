"""Plan of the rig's runs: campaigns over two and a half years. Pure; the same seed gives the same plan.

Two of five runs belong to the nightly campaigns: two systems, one workload, two load levels, ten repetitions each. The
others compare two to four of the other systems on two workloads over all load levels.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np

from apps.rig.world import THREADS, WORKLOADS, RigWorkload, SystemSpec

FIRST_DAY = datetime(2023, 7, 3, tzinfo=UTC)
DAYS = 912
NIGHTLY_SHARE = 0.4
NIGHTLY_THREADS, NIGHTLY_REPETITIONS = (16, 64), 10


@dataclass(frozen=True)
class PlannedCampaign:
    """One campaign; only the first `runs` runs, in order of their start, are made."""

    number: int
    name: str
    tags: tuple[str, ...]
    systems: tuple[SystemSpec, ...]
    workloads: tuple[RigWorkload, ...]
    threads: tuple[int, ...]
    repetitions: int
    starts_at: datetime
    runs: int

    def size(self) -> int:
        return len(self.systems) * len(self.workloads) * len(self.threads) * self.repetitions

    def jobs(self) -> list[tuple[int, RigWorkload, SystemSpec, tuple[int, ...]]]:
        """Repetition, workload, system and load levels of each job, in the order of the campaign."""
        levels = len(self.threads)
        order = [
            (repetition, workload, system)
            for repetition in range(1, self.repetitions + 1)
            for workload in self.workloads
            for system in (self.systems if repetition % 2 else self.systems[::-1])
        ]
        begun = order[: -(-self.runs // levels)]
        return [(*job, self.threads[: self.runs - place * levels]) for place, job in enumerate(begun)]


def campaigns(*, runs: int, seed: int, systems: Sequence[SystemSpec]) -> list[PlannedCampaign]:
    """In order of time, exactly `runs` runs in all. The first two systems are those measured every night."""
    rng = np.random.default_rng(seed)
    nightly = int(runs * NIGHTLY_SHARE)
    found = _spread(list(_fill(nightly, _nightly(systems))), hour=1)
    found += _spread(list(_fill(runs - nightly, _releases(systems, rng))), hour=8)
    found.sort(key=lambda planned: (planned.starts_at, planned.name))
    return [replace(planned, number=number) for number, planned in enumerate(found)]


def _fill(runs: int, endless: Iterator[PlannedCampaign]) -> Iterator[PlannedCampaign]:
    """Campaigns until there are `runs` runs; the last one is cut short."""
    while runs > 0:
        planned = next(endless)
        yield replace(planned, runs=min(runs, planned.size()))
        runs -= planned.size()


def _spread(found: list[PlannedCampaign], *, hour: int) -> list[PlannedCampaign]:
    """Distributes the campaigns evenly over all days."""
    days = (timedelta(days=int(DAYS * place / len(found)), hours=hour) for place in range(len(found)))
    return [replace(planned, starts_at=FIRST_DAY + day) for planned, day in zip(found, days, strict=True)]


def _nightly(systems: Sequence[SystemSpec]) -> Iterator[PlannedCampaign]:
    number = 0
    while True:
        number += 1
        yield PlannedCampaign(
            number=0,
            name=f"nightly {number} (rig)",
            tags=("rig", "nightly"),
            systems=tuple(systems[:2]),
            workloads=WORKLOADS[:1],
            threads=NIGHTLY_THREADS,
            repetitions=NIGHTLY_REPETITIONS,
            starts_at=FIRST_DAY,
            runs=0,
        )


def _releases(systems: Sequence[SystemSpec], rng: np.random.Generator) -> Iterator[PlannedCampaign]:
    number = 0
    while True:
        number += 1
        chosen = 2 + rng.choice(len(systems) - 2, size=int(rng.integers(2, 5)), replace=False)
        workloads = rng.choice(len(WORKLOADS), size=2, replace=False)
        yield PlannedCampaign(
            number=0,
            name=f"comparison {number} (rig)",
            tags=("rig", f"comparison-{number}"),
            systems=tuple(systems[place] for place in chosen),
            workloads=tuple(WORKLOADS[place] for place in workloads),
            threads=THREADS,
            repetitions=int(rng.integers(2, 5)),
            starts_at=FIRST_DAY,
            runs=0,
        )
