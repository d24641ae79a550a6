"""Title of a finding: one line with place, metric and size of the change."""

import math
from collections.abc import Sequence

from apps.comparison.pure import has_one_end
from apps.core.text import counted
from apps.core.units import with_unit
from apps.regressions.models import Change, Finding

LONGEST = 250


def title(finding: Finding, changes: Sequence[Change]) -> str:
    """Title from its `changes` (at least one, each effect once): the largest worse one, of a primary metric if there
    is one."""
    if finding.kind == Finding.Kind.MISSING:
        return _missing(changes)[:LONGEST]
    worse = [change for change in changes if change.verdict == Change.Verdict.WORSE]
    first = max(worse or changes, key=prominence)
    metric = first.metric.name if first.metric else "result"
    amount = _values(first) if first.ratio is None else size(first.ratio, first.low, first.high)
    others = len(changes) - 1
    more = f" and {counted(others, 'other')}" if others else ""
    where = f"{finding.release}" if finding.release else first.system.short_name
    return f"{where}: {metric} {amount}, {first.workload.name}, {first.load_level}{more}"[:LONGEST]


def _values(change: Change) -> str:
    """Of a change without a ratio: "0 → 23.4 errors/s"."""
    if change.before is None or change.after is None or change.metric is None:
        return "changed"
    return f"{with_unit(change.before, '')} → {with_unit(change.after, change.metric.unit)}"


def prominence(change: Change) -> tuple[bool, float]:
    """Of a primary metric, then by size."""
    return change.metric_id == change.workload.primary_metric_id, abs((change.ratio or 1) - 1)


def percent(ratio: float) -> str:
    """A ratio as a signed change with a minus sign (U+2212)."""
    return f"{'−' if ratio < 1 else '+'}{share(abs(ratio - 1))}"


def size(ratio: float, low: float | None, high: float | None) -> str:
    """The change; with an interval of one end that end: "+1,420 % or more"."""
    if not has_one_end(low, high):
        return percent(ratio)
    return f"{percent(low)} or more" if low else f"{percent(high or 0)} or less"


def interval(low: float, high: float) -> str:
    """As [−14 %, −10 %]; empty where `size` states its only end."""
    return "" if has_one_end(low, high) else f"[{percent(low)}, {percent(high)}]"


def share(part: float) -> str:
    """As percent: 12 %, 1.2 %, 0.1 %; ∞ without an end."""
    if math.isinf(part):
        return "∞"
    size = part * 100
    return f"{size:.0f}\u00a0%" if size >= 9.95 else f"{size:.1f}\u00a0%"


def _missing(changes: Sequence[Change]) -> str:
    scheduled = changes[-1].slot
    count = len(changes)
    name = scheduled.schedule.name if scheduled else "a schedule"
    return f"{name}: {counted(count, 'expected result')} did not come"
