"""Texts of the findings pages: number of open findings, summary of a finding, description of a change."""

from collections.abc import Mapping, Sequence

from apps.core.text import counted
from apps.regressions.api import ChangeRow, CheckRow, FindingDetail, FindingRow, RowVerdict

# Labels of the buttons that set a state; `new` resets it.
STATE_BUTTONS = {
    "new": "Reset to new",
    "under review": "Start review",
    "confirmed": "Confirm",
    "not reproducible": "Dismiss as not reproducible",
    "fixed": "Mark as fixed",
}


# Kind of a change -> what its verdict rests on.
BASES = {
    "history": "the finding judges a step in the trend of one configuration, over the runs on both sides of it",
    "release": "the finding compares all runs of two releases",
}


def list_answer(counts: Mapping[str, int], largest_first: Sequence[FindingRow]) -> str:
    """For example "3 open findings: 2 new, 1 confirmed. …". `largest_first`: empty if that order is unknown."""
    by_state = {state: counts[state] for state in ("new", "under review", "confirmed")}
    number = sum(by_state.values())
    if not number:
        rest = f"; {counts['verify']} to verify: the change is no longer seen" if counts["verify"] else ""
        return f"Nothing is open{rest}."
    sentence = ", ".join(f"{count} {state}" for state, count in by_state.items() if count)
    text = f"{counted(number, 'open finding')}: {sentence}"
    text += f"; {counts['verify']} to verify" if counts["verify"] else ""
    if not largest_first:
        return f"{text}."
    worst = next((row for row in largest_first if row.verdict in ("worse", "mixed")), None)
    return (
        f"{text}. The largest deterioration: {worst.title}."
        if worst
        else f"{text}; none of those shown is a deterioration."
    )


def lede(finding: FindingDetail) -> str:
    """The compared releases, the hardware and the load tool."""
    row = finding.row
    if row.kind == "missing":
        name = row.schedule.name if row.schedule else "a schedule"
        return f"Results that the schedule {name} did not deliver."
    against = f" against {row.baseline.slug}" if row.baseline and row.baseline != row.release else ""
    release = row.release.name if row.release else "A release"
    hardware = f" on {row.hardware_class.name}" if row.hardware_class else ""
    return f"{release}{against}{hardware}, workloads of {row.family}."


def change_answer(change: ChangeRow) -> str:
    """For example "Transactions/s of oltp_write_only at 4 threads: −12 % [−14 %, −10 %], …; 5 against 5 runs"."""
    level = f" at {change.load_level}" if change.load_level_id is not None else ""
    where = f"{change.workload.name}{level}"
    if change.ratio is None or change.metric is None:
        return f"{where}: {change.words}"
    name = change.metric.name
    text = f"{name[:1].upper()}{name[1:]} of {where}: {change.words}"
    text += f"; {len(change.runs_after)} against {len(change.runs_before)} runs"
    if change.p is not None:
        how = "corrected for all tests of the release" if change.kind == "release" else "within its trend"
        text += f", p {_p(change.p)} {how}"
    return text


def beside_cell(kind: str) -> str:
    """Why a cell of the trend board has another verdict than a finding of this kind."""
    return f"{BASES[kind]}; this cell compares one column with the baseline's, corrected for the whole board"


def beside_row(kind: str, row: CheckRow) -> str:
    """Why a row of a release has another verdict than a finding of this kind."""
    return f"{BASES[kind]}; {_row_basis(row)}"


def other_word(change: ChangeRow, row: CheckRow) -> str:
    """Of the comparison of the releases on a finding's change, and why; empty: it has the same."""
    if row.verdict == change.verdict:
        return ""
    reason = f" ({row.reason})" if row.reason else ""
    return f"has “{row.verdict}” for it{reason}: {_row_basis(row)}; {BASES[change.kind]}"


def _row_basis(row: CheckRow) -> str:
    if row.verdict is RowVerdict.ONE_SESSION:
        return "the row compares sessions of two releases, and each side has one"
    if row.verdict is RowVerdict.VOID:
        return "runs behind the row failed a check without which no result counts"
    what = f"{row.sessions[0]} with {counted(row.sessions[1], 'session')}" if row.sessions else "the runs"
    return f"the row compares {what} of two releases, corrected for all rows"


def _p(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"
