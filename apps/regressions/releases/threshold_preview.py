"""Effect of a threshold on the verdicts between releases, from their stored comparisons: nothing is compared again."""

from dataclasses import dataclass, replace
from typing import Annotated

from apps.catalog.models import Metric
from apps.comparison.pure import DISCOVERY_RATE
from apps.regressions.models import CheckedRelease
from apps.regressions.releases import stored_checks
from apps.regressions.releases.rows import smallest
from apps.regressions.releases.values import TOLERANCE, WORK, CheckRow, RowVerdict, is_coarse
from apps.regressions.thresholds import Key, Thresholds

# Limit of comparisons, the newest.
MOST_CHECKED = 200
# Verdicts of rows whose difference may be below the threshold.
TOO_SMALL = (RowVerdict.UNCHANGED, RowVerdict.INCONCLUSIVE)


@dataclass(frozen=True)
class TriedReleases:
    """Effect of a threshold's size on the rows of `checks`."""

    checks: Annotated[int, "number of last comparisons of releases, at most 200"]
    rows: Annotated[int, "rows of these to which it would apply"]
    passed: Annotated[int, "of these rows: worse now, then unchanged or inconclusive"]
    worse: Annotated[int, "of these rows: worse by less than the current threshold, then worse"]
    beyond: Annotated[int, "of these rows: neither worse nor better, but may be worse by more than the margin"] = 0


def tried(key: Key, chosen: Thresholds, margin: float | None) -> TriedReleases:
    """With the thresholds `chosen`, one of which is set for `key`, and `margin` for it. Three queries."""
    checks = stored_checks.load(CheckedRelease.objects.order_by("-checked_at")[:MOST_CHECKED])
    rows = [row for each in checks for row in each.check.rows if chosen.source(row.workload_id, row.metric_id) == key]
    large = [_counts(row, chosen) for row in rows]
    return TriedReleases(
        len(checks),
        len(rows),
        passed=sum(row.verdict is RowVerdict.WORSE and not counts for row, counts in zip(rows, large, strict=True)),
        worse=sum(_is_significantly_worse(row) and counts for row, counts in zip(rows, large, strict=True)),
        beyond=sum(_is_beyond(row, key, margin) for row in rows),
    )


def _counts(row: CheckRow, chosen: Thresholds) -> bool:
    """Whether its difference is large enough for a verdict. Errors, dips and background work have no ratio: no
    threshold applies."""
    kind = "work" if row.kind == WORK else ""
    return row.change is None or abs(row.change) >= smallest(chosen, row.workload_id, row.metric_id, kind=kind)


def _is_beyond(row: CheckRow, key: Key, margin: float | None) -> bool:
    """As for the gate: beside the primary metric only a margin that names the metric applies."""
    if margin is None or not (row.primary or key[1] is not None):
        return False
    return is_coarse(replace(row, margin=margin), TOLERANCE)


def _is_significantly_worse(row: CheckRow) -> bool:
    """Whether the row is significantly worse, but by less than its current threshold."""
    if row.verdict not in TOO_SMALL or row.change is None or abs(row.change) >= row.smallest:
        return False
    if row.low is None or row.high is None or row.p is None or row.p > DISCOVERY_RATE:
        return False
    return row.high < 1 if row.direction == Metric.Direction.HIGHER else row.low > 1
