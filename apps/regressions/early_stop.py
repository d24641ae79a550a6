"""Campaigns that run until each load level is decided: compared after every complete repetition or session."""

from datetime import datetime

from apps.comparison.api import until_decided
from apps.dispatch.api import early_stop


def look(*, now: datetime) -> int:
    """Leave out what is decided; returns the number of jobs that are not needed any more."""
    ended = 0
    for looked in early_stop.due():
        reasons = until_decided(
            systems=looked.systems,
            workload_id=looked.entry.workload_id,
            campaign=looked.campaign.pk,
            runs=looked.runs,
            levels=looked.levels,
            comparisons=looked.comparisons,
            looked=looked.looked,
            most=looked.most,
            unit=looked.unit,
            until=looked.campaign.until,
        )
        ended += early_stop.leave_out(looked, reasons, now=now)
    return ended
