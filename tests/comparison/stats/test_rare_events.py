"""Errors are judged by their share of the transactions, also where a run has none."""

import numpy as np
import pytest

from apps.comparison.stats import rare_events
from apps.comparison.stats.rare_events import Counted
from apps.comparison.stats.welch import Verdict

MANY = 30_000.0


def counted(*events: float, sessions: tuple[int, ...] = ()) -> Counted:
    return Counted(tuple(events), (MANY,) * len(events), sessions)


def test_errors_in_every_run_where_there_were_none_are_more_without_a_ratio() -> None:
    found = rare_events.draft(counted(0, 0, 0), counted(1380, 1400, 1420)).alone
    assert (found.verdict, found.value, found.low) == (Verdict.HIGHER, None, None)
    assert found.p is not None
    assert found.p < 0.001
    assert found.reason == (
        "4,200 errors of 90,000 transactions, in 3 of 3 runs; of the baseline 0 of 90,000, in 0 of 3; "
        "at most 4.84\u00a0% of the transactions"
    )
    back = rare_events.draft(counted(1380, 1400, 1420), counted(0, 0, 0)).alone
    assert back.verdict is Verdict.LOWER


def test_shares_below_a_hundredth_of_a_percent_make_no_difference() -> None:
    found = rare_events.draft(counted(0, 1, 0, 0, 0), counted(0, 0, 0, 0, 0)).alone
    assert (found.verdict, found.upper_share is not None and found.upper_share < 1e-4) == (Verdict.EQUIVALENT, True)


def test_errors_in_some_runs_only_decide_nothing() -> None:
    found = rare_events.draft(counted(0, 0, 0), counted(0, 1400, 1400)).alone
    assert found.verdict is Verdict.INCONCLUSIVE


def test_two_runs_and_no_errors_at_all_have_no_verdict() -> None:
    assert rare_events.draft(counted(0, 0), counted(9, 9)).alone.verdict is Verdict.TOO_FEW
    none = rare_events.draft(counted(0, 0, 0), counted(0, 0, 0)).alone
    assert (none.verdict, none.p) == (Verdict.NO_RATIO, None)


def test_where_every_run_has_errors_the_shares_have_a_ratio_with_its_interval() -> None:
    """Not as the cell's ratio, which is the quotient of the values beside it: errors a second."""
    found = rare_events.draft(counted(700, 720, 690), counted(1400, 1390, 1420)).alone
    assert (found.verdict, found.value, found.low) == (Verdict.HIGHER, None, None)
    assert found.smoothed is not None
    low, high = found.smoothed
    assert 1.8 < low < 1.99 < high < 2.2
    assert found.reason.endswith(f"1.99\u00a0× the share (95\u00a0% interval {low:.3g} to {high:.3g})")


@pytest.mark.parametrize("rate", [3, 30, 1000])
@pytest.mark.parametrize(("sessions", "runs"), [(3, 3), (5, 2)])
def test_equal_sides_whose_sessions_differ_by_a_factor_of_e_seldom_differ(rate: int, sessions: int, runs: int) -> None:
    """Of 400 tables 5 % are 20; 40 or more have a probability below 10^-5 at 5 %."""
    rng = np.random.default_rng(7)

    def side(first: int) -> Counted:
        means = rate * np.exp(rng.normal(0, 1, sessions)).repeat(runs)
        numbers = tuple(int(each) for each in np.arange(first, first + sessions).repeat(runs))
        return Counted(tuple(map(float, rng.poisson(means))), (MANY,) * len(means), numbers)

    found = [rare_events.draft(side(0), side(100)).alone.verdict for _ in range(400)]
    assert sum(verdict in (Verdict.HIGHER, Verdict.LOWER) for verdict in found) < 40


def test_few_transactions_without_errors_are_not_worse_than_many_with_some() -> None:
    """Half an error of 80 transactions is a larger share than 23 of 10,000."""
    many = Counted((23.0, 21.0, 25.0, 22.0, 24.0), (10_000.0,) * 5)
    few = Counted((0.0, 0.0, 1.0, 0.0, 1.0), (80.0,) * 5)
    assert rare_events.draft(many, few).alone.verdict is Verdict.INCONCLUSIVE
    assert rare_events.draft(few, many).alone.verdict is Verdict.INCONCLUSIVE
