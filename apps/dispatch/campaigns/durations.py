"""What jobs and restarts take beside measuring: by those before, else as assumed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from apps.catalog.models import System
from apps.dispatch.models import Job

# Newest jobs read; the median of those of a system and workload counts.
MOST_READ = 400


@dataclass(frozen=True)
class Durations:
    """Medians in s. `overheads` of a job beside warm-up and measured phases, by (system, workload); `restarts` by
    system; what is missing is assumed."""

    overheads: Mapping[tuple[int, int], float] = field(default_factory=dict)
    restarts: Mapping[int, float] = field(default_factory=dict)


def measured(systems: Sequence[System], workloads: Iterable[int]) -> Durations:
    """Two queries."""
    jobs = Job.objects.filter(system__in=systems).order_by("-pk")
    restarts: dict[int, list[float]] = defaultdict(list)
    for system, seconds in jobs.exclude(restart_seconds=None).values_list("system", "restart_seconds")[:MOST_READ]:
        restarts[system].append(seconds or 0.0)
    whole = jobs.filter(workload__in=list(workloads), state="succeeded", attempt=1, skips=None)
    overheads: dict[tuple[int, int], list[float]] = defaultdict(list)
    for job in whole.select_related("entry").prefetch_related("entry__load_levels")[:MOST_READ]:
        if job.started_at and job.finished_at:
            levels = len(job.entry.load_levels.all())
            took = (job.finished_at - job.started_at).total_seconds() - (job.restart_seconds or 0)
            beside = took - levels * (job.entry.warmup + job.entry.duration)
            overheads[job.system_id, job.workload_id].append(max(0.0, beside))
    return Durations(
        {pair: median(found) for pair, found in overheads.items()},
        {system: median(found) for system, found in restarts.items()},
    )
