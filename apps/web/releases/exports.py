"""A release compared with the previous one, as CSV; regressions.releases.markdown writes it for pull requests."""

from apps.core import tabular
from apps.regressions.api import ReleaseCheck

COLUMNS = (
    *("platform", "release", "baseline", "hardware", "system", "baseline_system", "tool", "workload", "load"),
    *("metric", "unit", "direction", "verdict", "accepted", "finding", "state", "before", "after", "runs_before"),
    *("runs_after", "ratio", "low", "high", "p", "visible", "needed", "reason", "limits"),
)


def comma_separated(check: ReleaseCheck) -> str:
    """One line per row, in full precision."""
    return tabular.comma_separated(
        COLUMNS,
        (
            [
                *(check.platform, check.release, check.baseline, check.hardware, row.system, row.baseline_system),
                *(row.tool, row.workload, row.level, row.metric, row.unit, row.direction, row.verdict.value),
                *("yes" if row.is_accepted else "no", str(row.finding or ""), row.finding_state),
                *(row.before, row.after, " ".join(map(str, row.runs_before)), " ".join(map(str, row.runs_after))),
                *(row.ratio, row.low, row.high, row.p, row.visible_worse, row.needed, row.reason),
                " ".join(each.words for each in row.claim_limits),
            ]
            for row in check.rows
        ),
    )
