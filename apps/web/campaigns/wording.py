"""Words of jobs and their runs on a campaign's page."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.text import Truncator

from apps.core.text import and_list
from apps.dispatch.api import JobCell, RunCell
from apps.runs.pure import title_of

LONGEST_REASON = 30  # characters
# How the agent begins the reasons of levels after the one that ended them.
NOT_RUN = "not run:"


def run_title(run: RunCell) -> str:
    parts = [f"run {run.id}, attempt {run.attempt}: {run.outcome or 'running'}", run.reason]
    if run.is_excluded:
        parts.append("excluded by a user")
    if run.failed_checks:
        parts.append(f"failed: {', '.join(map(title_of, run.failed_checks))}")
    return ", ".join(filter(None, parts))


def run_mark(run: RunCell, refused: RunCell | None) -> str:
    """Result of the run; `refused`: the run of its job in which connections were refused."""
    if run == refused:
        return "refused"
    if run.outcome == "cancelled":
        return f"– {Truncator(run.reason or run.outcome).chars(LONGEST_REASON)}"
    if run.outcome == "succeeded":
        return "excluded" if run.is_excluded else "✓!" if run.failed_checks else "✓"
    return "✗" if run.outcome == "failed" else "…"


def skipped(job: JobCell) -> str:
    """The reasons for skipped load levels, and which; for jobs that skipped some. A level that was "not run" has the
    reason of the first one."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for skip in job.not_run:
        first = skip.reason.startswith(NOT_RUN)
        by_reason[job.skips[0].reason if first else skip.reason].append(skip.load_level)
    if not by_reason:
        return job.skips[0].reason
    return "; ".join(f"{reason} ({', '.join(levels)})" for reason, levels in by_reason.items())


@dataclass(frozen=True)
class JobTrouble:
    """Jobs of one system that ended, or wait, for the same reason; `job`: the first of them."""

    job: JobCell
    subject: str


def troubles(jobs: Sequence[JobCell]) -> list[JobTrouble]:
    """One for each reason of a system: a sentence that is true of every job of it is read once."""
    alike: dict[tuple[object, ...], list[JobCell]] = defaultdict(list)
    for job in jobs:
        if job.reason and job.state != "cancelled":
            alike[job.system.id, job.state, job.reason, job.ready_at].append(job)
    return [JobTrouble(own[0], _subject(own)) for own in alike.values()]


def _subject(jobs: Sequence[JobCell]) -> str:
    rounds = list(dict.fromkeys(str(job.repetition) for job in jobs))
    workloads = and_list(list(dict.fromkeys(job.workload.name for job in jobs)))
    numbers = and_list([str(job.id) for job in jobs])
    return (
        f"Job{'s' if len(jobs) > 1 else ''} {numbers}, {workloads} on {jobs[0].system.name}, "
        f"round{'s' if len(rounds) > 1 else ''} {and_list(rounds)}"
    )
