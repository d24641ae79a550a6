"""The compared runs, those that are left out included."""

from collections.abc import Sequence
from typing import Any

from apps.comparison.pure import ComparedRun, Comparison, Level, label
from apps.core.text import and_list
from apps.web.compare.view import CompareView
from apps.web.components.addresses import runs_address

# Only the newest compared runs are listed, but all runs that were chosen one by one.
LISTED_RUNS = 100
# Runs that are not folded: of more, those at the chosen load level stand above the fold.
SHOWN_AT_ONCE = 30


def context(seen: CompareView) -> dict[str, Any]:
    comparison = seen.comparison
    listed = comparison.runs if seen.address.runs is not None else comparison.runs[-LISTED_RUNS:]
    total = sum(tally.amount.runs for tally in comparison.tallies)
    return {
        "total": total,
        "metrics": [{"metric": metric, "label": label(metric)} for metric in comparison.metrics],
        "runs": (rows := _rows(comparison, listed)),
        **_folded(rows, seen.level),
        "listed_left_out": sum(bool(run.left_out) for run in listed),
        "older": total > len(listed),
        "runs_url": runs_address(
            system=[side.system for side in comparison.sides],
            workload=sorted({side.workload.id for side in comparison.sides}),
        ),
    }


def _folded(rows: Sequence[dict[str, Any]], level: Level | None) -> dict[str, Any]:
    shown = [row for row in rows if row["level"] == level] if len(rows) > SHOWN_AT_ONCE else []
    shown = shown or list(rows)
    others = [row for row in rows if row not in shown]
    return {
        "shown_runs": shown,
        "shown_words": _loads(shown),
        "other_runs": others,
        "other_words": _loads(others),
        "other_left_out": sum(bool(row["run"].left_out) for row in others),
    }


def _loads(rows: Sequence[dict[str, Any]]) -> str:
    return and_list(list(dict.fromkeys(row["level"].text for row in rows)))


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
