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
    """Three queries."""
    wanted = set(workloads)
    restarts: dict[int, list[float]] = defaultdict(list)
    overheads: dict[tuple[int, int], list[float]] = defaultdict(list)
    newest = Job.objects.filter(system__in=systems, state="succeeded").order_by("-pk")
    for job in newest.select_related("entry").prefetch_related("entry__load_levels", "skips")[:MOST_READ]:
        if job.restart_seconds is not None:
            restarts[job.system_id].append(job.restart_seconds)
        is_whole = job.attempt == 1 and not job.skips.all()
        if is_whole and job.workload_id in wanted and job.started_at and job.finished_at:
            levels = len(job.entry.load_levels.all())
            took = (job.finished_at - job.started_at).total_seconds() - (job.restart_seconds or 0)
            beside = took - levels * (job.entry.warmup + job.entry.duration)
            overheads[job.system_id, job.workload_id].append(max(0.0, beside))
    return Durations(
        {pair: median(found) for pair, found in overheads.items()},
        {system: median(found) for system, found in restarts.items()},
    )
