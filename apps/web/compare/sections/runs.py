"""The compared runs, those that are left out included."""

from collections.abc import Sequence
from typing import Any

from apps.comparison.pure import ComparedRun, Comparison, label
from apps.web.compare.view import CompareView
from apps.web.components.addresses import runs_address

# Only the newest compared runs are listed, but all runs that were chosen one by one.
LISTED_RUNS = 100


def context(seen: CompareView) -> dict[str, Any]:
    comparison = seen.comparison
    listed = comparison.runs if seen.address.runs is not None else comparison.runs[-LISTED_RUNS:]
    total = sum(tally.amount.runs for tally in comparison.tallies)
    return {
        "total": total,
        "metrics": [{"metric": metric, "label": label(metric)} for metric in comparison.metrics],
        "runs": _rows(comparison, listed),
        "listed_left_out": sum(bool(run.left_out) for run in listed),
        "older": total > len(listed),
        "runs_url": runs_address(
            system=[side.system for side in comparison.sides],
            workload=sorted({side.workload.id for side in comparison.sides}),
        ),
    }


def _rows(comparison: Comparison, listed: Sequence[ComparedRun]) -> list[dict[str, Any]]:
    sides = {side.slug: side for side in comparison.sides}
    levels = {level.id: level for level in comparison.levels}
    sessions = sorted({run.session for run in comparison.counted if run.session is not None})
    order = sorted(listed, key=lambda run: (list(levels).index(run.level), sides[run.side].position, run.started_at))
    return [
        {
            "run": run,
            "side": sides[run.side],
            "level": levels[run.level],
            "session": None if run.session is None else sessions.index(run.session) + 1,
            "values": [run.values.get(metric.key) for metric in comparison.metrics],
        }
        for run in order
    ]
