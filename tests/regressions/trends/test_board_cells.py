"""The board's numbers against ones computed by hand."""

import dataclasses
import math

import pytest

from apps.comparison.pure import Direction
from apps.regressions.releases.values import RowVerdict
from apps.regressions.trends.board_cells import ColumnSeries, badness, board_cells, newest, worse_since

# Three runs a night; the logarithms of a night spread by ±1 %.
STEP = math.exp(0.01)


def night(level: float) -> list[float]:
    return [level / STEP, level, level * STEP]


def series(*levels: float, direction: Direction = Direction.HIGHER, **fields: object) -> ColumnSeries:
    values = [value for level in levels for value in night(level)]
    columns = [place for place in range(len(levels)) for _ in range(3)]
    return ColumnSeries(values, columns, direction, 0.005, **fields)  # type: ignore[arg-type]


def test_a_cell_is_the_ratio_of_geometric_means_with_welchs_interval() -> None:
    first, second = board_cells([series(1000, 800)])[0]
    assert first.ratio is None
    assert second.ratio is not None
    assert (first.value, second.value, second.base_value) == pytest.approx((1000, 800, 1000))
    assert second.ratio.value == pytest.approx(0.8)
    # Each night's noise: its own three runs (variance 1e-4) and the other night's, as its history: 4 degrees of freedom
    # each, 8 in all; the standard error is √(2 × 1e-4 / 3), and t(0.975, 8) is 2.306.
    half = 2.306 * math.sqrt(2 * 1e-4 / 3)
    ends = math.log(second.ratio.low or 0), math.log(second.ratio.high or 0)
    assert ends == pytest.approx((math.log(0.8) - half, math.log(0.8) + half), abs=1e-5)
    assert second.verdict is RowVerdict.WORSE


def test_where_lower_is_better_a_rise_is_worse() -> None:
    cells = board_cells([series(10, 13, direction=Direction.LOWER)])[0]
    assert cells[1].verdict is RowVerdict.WORSE
    assert cells[1].ratio is not None
    assert cells[1].ratio.value == pytest.approx(1.3)


def test_the_pinned_column_is_the_baseline_of_all_others() -> None:
    cells = board_cells([series(1000, 800, 1000, pinned=1)])[0]
    assert [cell.base for cell in cells] == [1, 1, 1]
    assert cells[1].ratio is None
    assert [cell.ratio.value for cell in cells if cell.ratio] == pytest.approx([1.25, 1.25])
    assert cells[0].verdict is RowVerdict.BETTER


def test_runs_under_other_conditions_have_a_baseline_of_their_own() -> None:
    cells = board_cells([series(1000, 1000, 500, 400, resets=[6])])[0]
    assert [cell.base for cell in cells] == [0, 0, 2, 2]
    assert cells[3].ratio is not None
    assert cells[3].ratio.value == pytest.approx(0.8)


def test_of_a_column_with_a_change_of_conditions_the_runs_since_count() -> None:
    cells = board_cells([series(1000, 500, 400, resets=[4])])[0]
    assert cells[1].runs == (4, 5)
    assert cells[1].base == 1


def test_single_runs_are_judged_by_the_noise_of_the_runs_around() -> None:
    values = [*(value for _ in range(4) for value in night(1000)), *(value for _ in range(2) for value in night(900))]
    one = ColumnSeries(values, list(range(18)), Direction.HIGHER, 0.005, changes=[12])
    verdicts = [cell.verdict for cell in board_cells([one])[0]]
    assert verdicts[0] is None
    assert verdicts[13:] == [RowVerdict.WORSE] * 5
    # One run of ±1 % can show neither a difference of 1 % nor that there is none.
    assert set(verdicts[1:12]) == {RowVerdict.INCONCLUSIVE}


def test_a_level_before_is_not_taken_for_noise() -> None:
    """Ten runs before the last night span two levels; relative to their levels they vary by 1 % only."""
    known, unknown = (
        board_cells([series(1000, 1000, 1000, 800, 800, 800, changes=changes)])[0][-1].ratio for changes in ([9], [])
    )
    assert known is not None
    assert unknown is not None
    assert (known.high or 0) - (known.low or 0) < (unknown.high or 0) - (unknown.low or 0)


def test_verdicts_are_corrected_for_the_number_of_cells() -> None:
    """A difference that counts alone does not among many that are none."""
    alone = board_cells([series(1000, 975)])
    many = board_cells([series(1000, 975), *(series(1000, 1000 + place / 10) for place in range(40))])
    ratios = [found[0][1].ratio for found in (alone, many)]
    assert all(ratio is not None for ratio in ratios)
    assert [ratio.p for ratio in ratios if ratio] == [ratios[0].p] * 2  # type: ignore[union-attr]
    assert [found[0][1].verdict for found in (alone, many)] == [RowVerdict.WORSE, RowVerdict.INCONCLUSIVE]


def test_no_errors_in_both_nights_are_unchanged_and_errors_after_none_have_no_ratio() -> None:
    errors = ColumnSeries([0, 0, 0, 0, 3, 4], [0, 0, 1, 1, 2, 2], Direction.LOWER, 0.005)
    cells = board_cells([errors])[0]
    assert [cell.verdict for cell in cells] == [None, RowVerdict.UNCHANGED, RowVerdict.NO_RATIO]


def test_worse_since_the_first_of_the_worse_cells_up_to_now() -> None:
    assert worse_since(board_cells([series(1000, 800, 1000, 800, 800)])[0]) == 3
    assert worse_since(board_cells([series(1000, 800, 1000)])[0]) is None


def test_a_newer_release_stays_worse_although_the_older_one_is_measured_in_turns() -> None:
    """Runs are ordered by release: columns 0, 2, 4 have the older one's, 1, 3, 5 the newer one's."""
    levels = [1000, 1000, 1000, 800, 800, 800]
    values = [value for level in levels for value in night(level)]
    turns = ColumnSeries(
        values, [column for column in (0, 2, 4, 1, 3, 5) for _ in range(3)], Direction.HIGHER, 0.005, changes=[9]
    )
    cells = board_cells([turns])[0]
    assert [cell.verdict for cell in cells if cell.column % 2] == [RowVerdict.WORSE] * 3
    assert (newest(cells).column, worse_since(cells)) == (5, 1)
    # The older one once more, in a night of its own, hides nothing.
    last = dataclasses.replace(turns, columns=[column for column in (0, 2, 5, 1, 3, 4) for _ in range(3)])
    cells = board_cells([last])[0]
    assert (newest(cells).column, worse_since(cells), badness(cells)[0]) == (4, 1, 0)


def test_rows_are_ordered_from_the_worst_to_the_best() -> None:
    rows = board_cells([series(1000, last) for last in (1100, 1000.1, 900, 800, 1200)])
    assert [row[-1].value for row in sorted(rows, key=badness)] == pytest.approx([800, 900, 1000.1, 1100, 1200])
