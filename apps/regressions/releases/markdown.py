"""The comparison of a release with its predecessor as Markdown: the summary for a pull request."""

from collections.abc import Callable

from apps.core import tabular
from apps.core.tabular import escaped
from apps.core.text import counted
from apps.core.units import with_unit
from apps.regressions.findings.titles import interval, percent, size
from apps.regressions.releases.values import CheckRow, ReleaseCheck, Result, RowVerdict, is_relevant, p_words

# Missing rows that are listed; the rest is counted.
MOST_MISSING = 10
SIGNS = {Result.FINE: "✓", Result.REGRESSION: "✗", Result.CANNOT_TELL: "?"}


def markdown(check: ReleaseCheck, *, link: str, finding: Callable[[int], str]) -> str:
    """Result, reasons, and the relevant rows, followed by the first few missing ones; `link`: address of the page;
    `finding`: address of a finding, by its id."""
    relevant = [row for row in check.rows if is_relevant(row, check.tolerance)]
    missing = [row for row in relevant if row.verdict is RowVerdict.MISSING]
    shown = [*(row for row in relevant if row.verdict is not RowVerdict.MISSING), *missing[:MOST_MISSING]]
    heads = ["Verdict", "Workload", "Load", "Metric", "Finding", check.baseline or "before", check.release]
    heads += ["Change", "p"]
    lines = [f"**{SIGNS[check.result]} {escaped(check.title)}: {escaped(check.summary)}**", ""]
    lines += [f"- {escaped(sentence)}" for sentence in (*check.why, *check.notes)] + [""]
    lines += [tabular.markdown(heads, [_row(row, finding) for row in shown], numbers=4), ""] if shown else []
    if more := len(relevant) - len(shown):
        lines += [f"{more} more row{' is' if more == 1 else 's are'} missing.", ""]
    if others := len(check.rows) - len(relevant):
        lines += [
            f"{others} row{' is' if others == 1 else 's are'} left out: unchanged, inconclusive or of a rate held.",
            "",
        ]
    tests = counted(check.tests, "comparison")
    lines.append(f"Changes with their 95 % interval; p adjusted for {tests}. {link}")
    return "\n".join(lines) + "\n"


def _row(row: CheckRow, finding: Callable[[int], str]) -> list[str]:
    metric = f"{row.metric_name} ({row.direction} is better)"
    before, after = map(_value, _sides(row))
    found = _finding(row, finding)
    return [_verdict(row), row.workload_words, row.level, metric, found, before, after, _change(row), p_words(row.p)]


def _verdict(row: CheckRow) -> str:
    """With what failed checks make of it, which the reasons explain."""
    heads = [each.head.lower() for each in row.claim_limits if row.verdict is not RowVerdict.VOID]
    said = ["accepted"] * row.is_accepted + heads
    return f"{row.verdict} ({', '.join(said)})" if said else row.verdict.value


def _finding(row: CheckRow, address: Callable[[int], str]) -> str:
    """The finding with its state; of an accepted one also end and reason."""
    if row.finding is None:
        return "none"
    until = f" until {row.accepted_until}: {row.accepted_why}" if row.is_accepted and row.accepted_until else ""
    return f"[{row.finding}]({address(row.finding)}), {row.finding_state}{until}"


def _sides(row: CheckRow) -> tuple[tuple[float | None, str], ...]:
    return (row.before, row.unit), (row.after, row.unit)


def _value(side: tuple[float | None, str]) -> str:
    value, unit = side
    return "no runs" if value is None else with_unit(value, unit)


def _change(row: CheckRow) -> str:
    """The change with its interval, or the reason for no interval."""
    if row.ratio is None:
        return row.reason or "no ratio"
    if row.low is None or row.high is None:
        return f"{percent(row.ratio)} (no interval: {row.reason or 'too few repetitions'})"
    return f"{size(row.ratio, row.low, row.high)} {interval(row.low, row.high)}".rstrip()
