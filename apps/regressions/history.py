"""Series of runs that are watched: followed run by run, what changed along them becomes findings."""

from apps.regressions.models import Finding


def follow_run(run_id: int) -> list[Finding]:
    """Looks again at the history that a run belongs to, whether it counts now or was left out; the findings that
    something happened to. May run twice, and on two workers at once, with one effect."""
    return []
