"""Words of jobs and their runs on a campaign's page."""

from django.utils.text import Truncator

from apps.dispatch.api import JobCell, RunCell
from apps.runs.pure import title_of

LONGEST_REASON = 30  # characters


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
    """The reason for skipped load levels, and which; for jobs that skipped some."""
    levels = ", ".join(skip.load_level for skip in job.not_run)
    reason = (job.skips if job.refused else job.not_run)[0].reason
    return f"{reason} ({levels})" if levels else reason
