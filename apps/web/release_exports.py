"""A release against the one before it as Markdown, for a pull request, and as CSV."""

from apps.core import tabular
from apps.core.tabular import escaped
from apps.regressions.release_values import ReleaseCheck
from apps.web.release_sheet import Shown, sheet

COLUMNS = (
    *("platform", "release", "baseline", "hardware", "system", "baseline_system", "tool", "workload", "load"),
    *("metric", "unit", "direction", "verdict", "accepted", "finding", "state", "before", "after", "runs_before"),
    *("runs_after", "ratio", "low", "high", "p", "visible", "needed", "reason"),
)


def markdown(check: ReleaseCheck, *, link: str) -> str:
    """The answer, why, and the rows that a reader must know of, with a link to the page."""
    shown = sheet(check)
    rows = [_row(each) for each in (*shown.relevant, *shown.missing)]
    heads = ["Verdict", "Workload", "Load", "Metric", check.baseline or "before", check.release, "Change"]
    lines = [f"**{shown.sign} {escaped(shown.answer)}**", "", *(f"- {escaped(why)}" for why in check.why), ""]
    lines += [tabular.markdown(heads, rows, numbers=3), ""] if rows else []
    if shown.others:
        count = len(shown.others)
        lines += [f"{count} row{' is' if count == 1 else 's are'} left out: unchanged or not told apart.", ""]
    lines.append(f"Changes with their 95 % interval, p adjusted for {check.tests} comparisons. {link}")
    return "\n".join(lines) + "\n"


def _row(shown: Shown) -> list[str]:
    row = shown.row
    verdict = f"{row.verdict} (accepted)" if row.is_accepted else row.verdict.value
    unit = f", {row.unit}" if row.unit else ""
    metric = f"{row.metric_name}{unit} ({row.direction} is better)"
    change = f"{shown.change} {shown.interval}".strip()
    return [verdict, f"{row.tool} {row.workload}", row.level, metric, shown.before, shown.after, change or row.reason]


def comma_separated(check: ReleaseCheck) -> str:
    """A line for each row, with all digits."""
    return tabular.comma_separated(
        COLUMNS,
        (
            [
                *(check.platform, check.release, check.baseline, check.hardware, row.system, row.baseline_system),
                *(row.tool, row.workload, row.level, row.metric, row.unit, row.direction, row.verdict.value),
                *("yes" if row.is_accepted else "no", str(row.finding or ""), row.finding_state),
                *(row.before, row.after, " ".join(map(str, row.runs_before)), " ".join(map(str, row.runs_after))),
                *(row.ratio, row.low, row.high, row.p, row.visible, row.needed, row.reason),
            ]
            for row in check.rows
        ),
    )
