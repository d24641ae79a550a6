"""What a threshold would do to the verdicts between releases, by their kept comparisons: nothing is compared anew."""

from dataclasses import dataclass
from typing import Annotated

from apps.catalog.models import Metric
from apps.comparison.pure import DISCOVERY_RATE
from apps.regressions.detection import ChangeLimits
from apps.regressions.models import CheckedRelease
from apps.regressions.releases import stored_checks
from apps.regressions.releases.values import CheckRow, RowVerdict
from apps.regressions.thresholds import Key, Thresholds

# Comparisons, the newest.
MOST_CHECKED = 200
# Of rows that may differ by less than counts.
TOO_SMALL = (RowVerdict.UNCHANGED, RowVerdict.INCONCLUSIVE)


@dataclass(frozen=True)
class TriedReleases:
    """What a threshold's size does to rows of `checks`."""

    checks: Annotated[int, "last comparisons of releases, 200 at most"]
    rows: Annotated[int, "of these, that it would count for"]
    passed: Annotated[int, "of these, that are worse now and would be unchanged or inconclusive"]
    worse: Annotated[int, "of these, that are worse by less than counts now and would be worse"]


def tried(key: Key, limits: ChangeLimits, chosen: Thresholds) -> TriedReleases:
    """Of `limits` set for `key` among what else was `chosen`. Three queries."""
    checks = stored_checks.load(CheckedRelease.objects.order_by("-checked_at")[:MOST_CHECKED])
    rows = [row for each in checks for row in each.check.rows if chosen.source(row.workload_id, row.metric_id) == key]
    large = [row.change is not None and abs(row.change) >= limits.smallest for row in rows]
    return TriedReleases(
        len(checks),
        len(rows),
        passed=sum(row.verdict is RowVerdict.WORSE and not counts for row, counts in zip(rows, large, strict=True)),
        worse=sum(_is_told_worse(row) and counts for row, counts in zip(rows, large, strict=True)),
    )


def _is_told_worse(row: CheckRow) -> bool:
    """Whether it is found to differ for the worse, though by less than counts now."""
    if row.verdict not in TOO_SMALL or row.change is None or abs(row.change) >= row.smallest:
        return False
    if row.low is None or row.high is None or row.p is None or row.p > DISCOVERY_RATE:
        return False
    return row.high < 1 if row.direction == Metric.Direction.HIGHER else row.low > 1
