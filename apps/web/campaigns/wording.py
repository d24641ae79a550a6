"""Words of jobs and their runs on a campaign's page."""

from collections import defaultdict

from django.utils.text import Truncator

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
