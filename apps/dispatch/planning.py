"""From a plan to the jobs of a campaign, in the order in which they are to run."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import transaction

from apps.accounts.models import User
from apps.catalog.models import LoadLevel, System, Workload
from apps.core.problems import FieldProblem, Invalid
from apps.dispatch.models import Campaign, Job

T = TypeVar("T")

MAX_NAME = 120
MAX_REPETITIONS = 100
MAX_WARMUP = 3600.0  # s
MAX_DURATION = 24 * 3600.0  # s
MAX_JOBS = 10_000
MAX_RUNS = 100_000
# What a campaign spends besides measuring, before anything is known of it: table preparation and clean-up of a job,
# start and end of the load tool of a run.
JOB_OVERHEAD = 10.0  # s
RUN_OVERHEAD = 2.0  # s


@dataclass(frozen=True)
class Size:
    """How much a plan is; `seconds` when its jobs run one after another."""

    jobs: int
    runs: int
    seconds: float


def size_of(
    *, systems: int, workloads: int, load_levels: int, repetitions: int, warmup: float, duration: float
) -> Size:
    jobs = systems * workloads * repetitions
    runs = jobs * load_levels
    return Size(jobs=jobs, runs=runs, seconds=jobs * JOB_OVERHEAD + runs * (RUN_OVERHEAD + warmup + duration))


def interleaved(
    *, systems: Sequence[T], workloads: Sequence[Workload], repetitions: int
) -> Iterator[tuple[int, Workload, T]]:
    """(repetition, workload, system): systems forward in odd rounds, backward in even ones (A B, B A, A B, …), so that
    a drift of the machine or of time weighs on all sides alike."""
    for repetition in range(1, repetitions + 1):
        for workload in workloads:
            for system in systems if repetition % 2 else systems[::-1]:
                yield repetition, workload, system


def problems_of(
    *,
    name: str,
    systems: Sequence[System],
    workloads: Sequence[Any],
    load_levels: Sequence[Any],
    repetitions: int,
    warmup: float,
    duration: float,
) -> list[FieldProblem]:
    """Everything that is wrong with a plan, by field; of workloads and load levels only how many there are counts."""
    systems = _once(systems)
    errors = [
        *_check_name(name.strip()),
        *_check_choices(systems, workloads, load_levels),
        *_check_numbers(repetitions, warmup, duration),
    ]
    return errors or _check_size(len(systems), len(workloads), len(load_levels), repetitions)


@transaction.atomic
def create_campaign(
    *,
    name: str,
    systems: Sequence[System],
    workloads: Sequence[Workload],
    load_levels: Sequence[LoadLevel],
    repetitions: int,
    warmup: float,
    duration: float,
    created_by: User | None,
) -> Campaign:
    """`warmup` and `duration` in s. Raises Invalid naming every field at fault."""
    systems, workloads, load_levels = _once(systems), _once(workloads), _once(load_levels)
    name = name.strip()
    errors = problems_of(
        name=name,
        systems=systems,
        workloads=workloads,
        load_levels=load_levels,
        repetitions=repetitions,
        warmup=warmup,
        duration=duration,
    )
    if errors:
        raise Invalid(errors)
    campaign = Campaign.objects.create(
        name=name, repetitions=repetitions, warmup=warmup, duration=duration, created_by=created_by
    )
    campaign.systems.set(systems)
    campaign.workloads.set(workloads)
    campaign.load_levels.set(load_levels)
    order = interleaved(systems=systems, workloads=workloads, repetitions=repetitions)
    Job.objects.bulk_create(
        Job(campaign=campaign, system=system, workload=workload, repetition=repetition, position=position)
        for position, (repetition, workload, system) in enumerate(order)
    )
    return campaign


def _once(things: Sequence[T]) -> list[T]:
    return list(dict.fromkeys(things))


def _check_name(name: str) -> Iterator[FieldProblem]:
    if not name:
        yield FieldProblem("name", "is empty", "say what the campaign is to find out")
    elif len(name) > MAX_NAME:
        yield FieldProblem("name", f"has {len(name)} characters", f"use at most {MAX_NAME}")


def _check_choices(
    systems: Sequence[System], workloads: Sequence[Any], load_levels: Sequence[Any]
) -> Iterator[FieldProblem]:
    if not systems:
        yield FieldProblem("systems", "none is chosen", "choose at least one; two or more can be compared")
    for system in systems:
        if system.archived_at is not None:
            yield FieldProblem("systems", f"{system.slug} is archived", "choose a system that is in use")
    if not workloads:
        yield FieldProblem("workloads", "none is chosen", "choose at least one")
    if not load_levels:
        yield FieldProblem("load_levels", "none is given", "give at least one number of threads, for example 4")


def _check_numbers(repetitions: int, warmup: float, duration: float) -> Iterator[FieldProblem]:
    if not 1 <= repetitions <= MAX_REPETITIONS:
        yield FieldProblem(
            "repetitions", f"{repetitions} is out of range", f"use 1 to {MAX_REPETITIONS}; three give an interval"
        )
    if not (math.isfinite(warmup) and 0 <= warmup <= MAX_WARMUP):
        yield FieldProblem("warmup", f"{warmup:g} s is out of range", f"use 0 to {MAX_WARMUP:g} s")
    if not (math.isfinite(duration) and 0 < duration <= MAX_DURATION):
        yield FieldProblem(
            "duration", f"{duration:g} s is out of range", f"use more than 0, at most {MAX_DURATION:g} s"
        )


def _check_size(systems: int, workloads: int, load_levels: int, repetitions: int) -> list[FieldProblem]:
    jobs = systems * workloads * repetitions
    if jobs > MAX_JOBS or jobs * load_levels > MAX_RUNS:
        message = f"the plan makes {jobs:,} jobs with {jobs * load_levels:,} runs"
        return [FieldProblem("", message, f"plan at most {MAX_JOBS:,} jobs and {MAX_RUNS:,} runs at once")]
    return []
