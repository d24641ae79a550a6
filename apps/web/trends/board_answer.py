"""The trend board's answer in words: what got worse, by how much, since when; else what is not known."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.core.names import with_tool
from apps.core.text import counted
from apps.core.units import NBSP
from apps.regressions.api import (
    Board,
    BoardCell,
    BoardColumn,
    BoardFinding,
    BoardGroup,
    BoardRow,
    RowVerdict,
    change_interval,
    change_size,
    trend_board,
    trend_columns,
)

# Of a rate not held the sign is that of no result, as in the comparison of releases.
SIGNS = {"worse": "▼", "better": "▲", "equivalent": "≈", "unheld": "?", "unknown": "?", "held": "", "base": ""}
KINDS = {
    None: "base",
    RowVerdict.WORSE: "worse",
    RowVerdict.BETTER: "better",
    RowVerdict.UNCHANGED: "equivalent",
    RowVerdict.RATE_HELD: "held",
    RowVerdict.RATE_NOT_HELD: "unheld",
}
WORDS = {
    **{"better": "better", "equivalent": "equivalent", "held": "rate held", "unheld": "rate not held"},
    **{"unknown": "inconclusive", "base": "without a comparison"},
}
MOST_NAMED = 3
# Digits of a commit that are enough anywhere.
COMMIT_LENGTH = 12


@dataclass(frozen=True)
class NamedFinding:
    """`hidden`: no column shown has its first run."""

    number: int
    title: str
    hidden: bool


@dataclass(frozen=True)
class BoardAnswer:
    """`answer`: what got worse most, or that nothing is shown to be; `others` beside it; `left_out`: series without a
    verdict here, and why. `open_findings`: how many for the worse, of which no row says worse; `named`: the largest.
    `finding`: of a row that is worse, an open one if there is one."""

    answer: str
    others: str
    left_out: str
    open_findings: int
    named: tuple[NamedFinding, ...]
    finding: BoardFinding | None


def board_answer(board: Board) -> BoardAnswer:
    rows = [(group, row) for group in board.groups for row in group.rows]
    worse = [each for _, row in rows if row.worse_since is not None for each in row.findings]
    claims = _claims(rows, board.by)
    said = {each.number for each in worse}
    unsaid = [each for each in board.findings if each.number not in said]
    return BoardAnswer(
        answer=f"{claims[0]}." if claims else _not_shown(rows),
        others=" ".join(filter(None, [_others(claims), "" if claims else _besides(rows), _unheld(rows)])),
        left_out=_left_out(board),
        open_findings=len(unsaid),
        named=tuple(NamedFinding(each.number, each.title, not each.is_shown) for each in unsaid[:MOST_NAMED]),
        finding=next((each for each in worse if each.is_open), worse[0] if worse else None),
    )


def kind_of(cell: BoardCell) -> str:
    return KINDS.get(cell.verdict, "unknown")


def change_of(cell: BoardCell) -> str:
    """Of throughput at a fixed rate the verdict: its value is what was asked for."""
    if cell.rate is not None and cell.verdict:
        return cell.verdict.value
    if cell.ratio is None or cell.ratio.value is None:
        return "no ratio"
    return change_size(cell.ratio.value, cell.ratio.low, cell.ratio.high)


def interval_of(cell: BoardCell) -> str:
    if cell.ratio is None or cell.ratio.low is None or cell.ratio.high is None:
        return ""
    return change_interval(cell.ratio.low, cell.ratio.high)


def when(column: BoardColumn, by: str) -> str:
    return _time(column.key) if by in trend_columns.BY_TIME else column.key


def build_of(column: BoardColumn) -> str:
    """What tells a build from others of its release."""
    return f"commit {column.commit[:COMMIT_LENGTH]}" if column.commit else column.build


def _time(key: str) -> str:
    """Key of a night or of a campaign, as 2026-11-25 or 2026-11-25 21:04:30."""
    at = datetime.fromisoformat(key)
    words = f"{at.day}{NBSP}{at:%b}{NBSP}{at.year}"
    return f"{words}{NBSP}{at:%H:%M}{NBSP}UTC" if " " in key else words


def _claims(rows: Sequence[tuple[BoardGroup, BoardRow]], by: str) -> list[str]:
    """What got worse, the worst first: for example "throughput of sysbench oltp_read_write on MHA: −19 % [−21 %, −18 %]
    in the last column; worse since 18 Nov, at 3 of 3 loads"."""
    found: dict[tuple[int, int, str], list[tuple[BoardGroup, BoardRow]]] = {}
    loads: Counter[tuple[int, int, str]] = Counter()
    for group, row in rows:
        key = id(group), row.trend.workload_id, row.metric.key
        loads[key] += 1
        if row.worse_since is not None:
            found.setdefault(key, []).append((group, row))
    texts = []
    for key, own in found.items():
        group, row = own[0]
        last = row.last
        at = f"at {len(own)} of {loads[key]} loads" if loads[key] > 1 else f"at {row.trend.load_level}"
        is_end = last.column == len(group.columns) - 1
        where = "in the last column" if is_end else f"in the column {_column(group, last.column, by)}"
        texts.append(
            f"{_subject(row)}: {change_of(last)} {interval_of(last)} {where}; worse since "
            f"{_column(group, row.worse_since or 0, by)}, {at}"
        )
    return [f"{text[:1].upper()}{text[1:]}" for text in texts]


def _others(claims: Sequence[str]) -> str:
    return f"{'; '.join(claims[1:MOST_NAMED])}." if claims[1:] else ""


def _unheld(rows: Sequence[tuple[BoardGroup, BoardRow]]) -> str:
    """For example "Rate not held: sysbench oltp on MHA at 4 threads, 500/s: 82 % of 500/s (baseline 100 %)."."""
    found = [row for _, row in rows if row.last.is_short]
    texts = [f"{_place(row)} at {row.trend.load_level}: {row.last.reason}" for row in found[:MOST_NAMED]]
    more = f"; and {counted(len(found) - MOST_NAMED, 'other row')}" if len(found) > MOST_NAMED else ""
    return f"Rate not held: {'; '.join(texts)}{more}." if found else ""


def _subject(row: BoardRow) -> str:
    return f"{row.metric.name} of {_place(row)}"


def _place(row: BoardRow) -> str:
    return f"{with_tool(row.trend.workload.tool, row.trend.workload.name)} on {row.trend.platform.name}"


def _column(group: BoardGroup, place: int, by: str) -> str:
    """With its release where the same night or campaign has several, and with its build where the release has."""
    column = group.columns[place]
    if column is None:
        return "then"
    alike = [other for other in group.columns if other and other.key == column.key]
    if len(alike) == 1:
        return when(column, by)
    versions = [other.version for other in alike]
    name = build_of(column) if versions.count(column.version) > 1 else column.version
    return f"{when(column, by)} ({name})"


def _not_shown(rows: Sequence[tuple[BoardGroup, BoardRow]]) -> str:
    """That no row is worse: which does not say that none got worse."""
    if not rows:
        return "No series with two columns yet."
    kinds = Counter(kind_of(row.last) for _, row in rows)
    parts = [f"{kinds[kind]} {words}" for kind, words in WORDS.items() if kinds[kind]]
    return f"No row is shown to be worse than the baseline: {', '.join(parts)}."


def _besides(rows: Sequence[tuple[BoardGroup, BoardRow]]) -> str:
    """What points to a change, although no newest cell is worse."""
    alone = sorted((row for _, row in rows if _is_worse_alone(row)), key=_size, reverse=True)
    changed = sum(bool(row.changes) for _, row in rows)
    texts = []
    if alone:
        last = alone[0].last
        many = f"{counted(len(alone), 'inconclusive row')} {'is' if len(alone) == 1 else 'are'}"
        texts.append(
            f"{many} worse by the interval alone: {_subject(alone[0])} at {alone[0].trend.load_level} "
            f"{change_of(last)} {interval_of(last)}, {last.reason or last.verdict}."
        )
    if changed:
        texts.append(f"{changed} of {len(rows)} series {'has' if changed == 1 else 'have'} a change point.")
    return " ".join(texts)


def _is_worse_alone(row: BoardRow) -> bool:
    ratio = row.last.ratio
    if kind_of(row.last) != "unknown" or ratio is None or ratio.low is None or ratio.high is None:
        return False
    return ratio.high < 1 if row.metric.direction == "higher" else ratio.low > 1


def _size(row: BoardRow) -> float:
    return abs((row.last.ratio.value or 1) - 1) if row.last.ratio else 0.0


def _left_out(board: Board) -> str:
    column = trend_columns.COLUMNS[board.by][:-1].lower()
    parts = [f"{_series(board.single)} with runs of a single {column}"] if board.single else []
    parts += [f"{_series(board.absent)} without runs in these columns"] if board.absent else []
    parts += [f"series beyond the {trend_board.MOST_ROWS} with most changes and runs"] if board.more else []
    return f"Not compared: {'; '.join(parts)}." if parts else ""


def _series(count: int) -> str:
    return counted(count, "series", plural="series")
