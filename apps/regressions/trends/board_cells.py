"""The trend board's numbers: every column of a series compared with the baseline. Pure.

The intervals are those of Compare; verdicts are corrected for the number of comparisons on the board.
"""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from apps.comparison.pure import (
    FEWEST_HISTORY,
    MOST_EARLIER_RUNS,
    Direction,
    Ratio,
    Sample,
    correct_for_many,
    rates,
    welch,
)
from apps.regressions.releases import verdicts
from apps.regressions.releases.values import RowVerdict

NO_CHANGE = "zero on both sides"


@dataclass(frozen=True)
class ColumnSeries:
    """Runs of one series in order: their `values`, columns (None: not shown) and numbers of their `sessions` (empty:
    not known). `resets`, `changes`: indices of runs from which on the conditions, or the level, differ. `smallest`:
    share of the value that counts. `pinned`: column of the baseline; None, or no run there: the first one shown.
    `rate`: fixed one, 1/s, of which the values are the arrivals, in phases of these `lengths`, s."""

    values: Sequence[float]
    columns: Sequence[int | None]
    direction: Direction
    smallest: float
    sessions: Sequence[int] = ()
    resets: Sequence[int] = ()
    changes: Sequence[int] = ()
    pinned: int | None = None
    rate: float | None = None
    lengths: Sequence[float] = ()


@dataclass(frozen=True)
class BoardCell:
    """The runs (indices of the series) of one column. `ratio` of their `value` to that of `base`, the baseline's
    column; None: this is the baseline. `rate`: of which the value is the arrivals, so that it has no ratio in
    numbers."""

    column: int
    runs: tuple[int, ...]
    value: float
    base: int
    base_value: float
    ratio: Ratio | None
    verdict: RowVerdict | None
    reason: str = ""
    rate: float | None = None

    @property
    def is_short(self) -> bool:
        """Whether the fixed rate was not held."""
        return self.verdict is RowVerdict.RATE_NOT_HELD


def board_cells(board: Sequence[ColumnSeries]) -> list[tuple[BoardCell, ...]]:
    """The cells of each series in order of columns; without runs there is none.

    Runs under other conditions are never compared: after a reset, the pinned column counts only if it lies there, else
    the first column since. Of a column with both, the runs since the reset count.
    """
    drafts = [_drafts(series) for series in board]
    ratios = iter(correct_for_many([draft for own in drafts for _, draft in own if draft is not None]))
    return [
        tuple(cell if draft is None else _judged(cell, next(ratios), series) for cell, draft in own)
        for series, own in zip(board, drafts, strict=True)
    ]


def _drafts(series: ColumnSeries) -> list[tuple[BoardCell, welch.DraftRatio | None]]:
    found: list[tuple[BoardCell, welch.DraftRatio | None]] = []
    columns = _columns(series)
    for stretch in sorted({stretch for stretch, _ in columns.values()}):
        own = {column: runs for column, (part, runs) in columns.items() if part == stretch}
        base = series.pinned if series.pinned in own else min(own)
        samples = {column: _sample(series, runs) for column, runs in own.items()}
        base_value = _value(samples[base])
        for column, runs in own.items():
            value = _value(samples[column])
            cell = BoardCell(column, runs, value, base, base_value, None, None, rate=series.rate)
            draft = None if column == base else _draft(series, own[base], runs, samples[base], samples[column])
            found.append((cell, draft))
    return sorted(found, key=lambda each: each[0].column)


def _draft(
    series: ColumnSeries, base: Sequence[int], runs: Sequence[int], before: Sample, after: Sample
) -> welch.DraftRatio:
    if series.rate is None:
        return welch.draft(before, after)
    first, second = ([(series.values[run], series.lengths[run]) for run in own] for own in (base, runs))
    return rates.draft(series.rate, first, second)


def _value(sample: Sample) -> float:
    return welch.summarise(sample.values, sessions=sample.sessions).value


def _columns(series: ColumnSeries) -> dict[int, tuple[int, tuple[int, ...]]]:
    """Column -> stretch between resets, and the runs."""
    found: dict[int, tuple[int, list[int]]] = {}
    for run, column in enumerate(series.columns):
        if column is None:
            continue
        stretch = bisect_right(series.resets, run)
        if column not in found or found[column][0] < stretch:
            found[column] = stretch, []
        found[column][1].append(run)
    return {column: (stretch, tuple(runs)) for column, (stretch, runs) in sorted(found.items())}


def _sample(series: ColumnSeries, runs: Sequence[int]) -> Sample:
    """With the nearest other runs under the same conditions for the noise: earlier ones, or, at the beginning, later
    ones; each relative to its level, so that a change does not count as noise."""
    breaks = sorted({0, *series.resets, len(series.values)})
    start = max(each for each in breaks if each <= runs[0])
    end = min(each for each in breaks if each > runs[-1])
    before = range(runs[0] - 1, start - 1, -1)
    others = before if len(before) >= FEWEST_HISTORY else range(runs[-1] + 1, end)
    nearest = list(others[: welch.HISTORY_RUNS if not series.sessions else MOST_EARLIER_RUNS])
    levels = _levels(series, nearest, start, end)
    used = [run for run in nearest if levels[run] > 0]
    return Sample(
        values=tuple(series.values[run] for run in runs),
        history=tuple(series.values[run] / levels[run] for run in used),
        sessions=tuple(series.sessions[run] for run in runs) if series.sessions else (),
        history_sessions=tuple(series.sessions[run] for run in used) if series.sessions else (),
    )


def _levels(series: ColumnSeries, runs: Sequence[int], start: int, end: int) -> dict[int, float]:
    """Run -> the geometric mean of the level around it."""
    places = [start, *(each for each in series.changes if start < each < end), end]
    members: defaultdict[int, list[int]] = defaultdict(list)
    for run in runs:
        members[bisect_right(places, run)].append(run)
    found: dict[int, float] = {}
    for part, own in members.items():
        level = welch.summarise(series.values[places[part - 1] : places[part]]).value
        found |= dict.fromkeys(own, level)
    return found


def _judged(cell: BoardCell, ratio: Ratio, series: ColumnSeries) -> BoardCell:
    if cell.value == cell.base_value == 0:
        return replace(cell, ratio=ratio, verdict=RowVerdict.UNCHANGED, reason=NO_CHANGE)
    verdict, reason = verdicts.verdict(ratio, series.direction, series.smallest)
    return replace(cell, ratio=ratio, verdict=verdict, reason=reason)


def newest(cells: Sequence[BoardCell]) -> BoardCell:
    """Of the newest release, then time, as runs of a series are ordered: an older release measured once more, or in
    turns, does not hide it."""
    return max(cells, key=_first_run)


def worse_since(cells: Sequence[BoardCell]) -> int | None:
    """The column from which on every newer cell is worse; None: the newest is not."""
    since = None
    for cell in sorted(cells, key=_first_run, reverse=True):
        if cell.verdict is not RowVerdict.WORSE:
            break
        since = cell.column
    return since


def badness(cells: Sequence[BoardCell]) -> tuple[int, float]:
    """Sort key of a row by its newest cell, the worst first: worse by most, a rate not held, inconclusive, unchanged
    or a rate held, better by most."""
    last = newest(cells)
    if last.is_short:
        return 1, -math.inf
    ranks = {RowVerdict.WORSE: 0, None: 3, RowVerdict.UNCHANGED: 2, RowVerdict.RATE_HELD: 2, RowVerdict.BETTER: 4}
    size = abs((last.ratio.value or 1) - 1) if last.ratio else 0.0
    rank = ranks.get(last.verdict, 1)
    return rank, size if rank == 4 else -size


def _first_run(cell: BoardCell) -> int:
    return cell.runs[0]
