import math
import random

import pytest

from bench import rounds


def test_sides_take_turns_and_every_other_round_goes_backward() -> None:
    order: list[str] = []

    def side(name: str) -> float:
        order.append(name)
        return float(len(order))

    found = rounds.interleaved({"ours": lambda: side("ours"), "peer": lambda: side("peer")}, rounds=3, pause=0.0)
    assert order == ["ours", "peer", "peer", "ours", "ours", "peer"]
    assert found == {"ours": [1.0, 4.0, 5.0], "peer": [2.0, 3.0, 6.0]}


def test_the_ratio_is_the_median_of_the_ratios_of_the_rounds() -> None:
    found = rounds.compared([1.0, 2.0, 30.0], [2.0, 8.0, 40.0])
    assert (found.ratio, found.low, found.high, found.rounds) == (0.5, 0.25, 0.75, 3)
    assert (found.ours, found.theirs) == (2.0, 8.0)


def test_of_many_rounds_the_outermost_ratios_lie_outside_the_interval() -> None:
    found = rounds.compared([float(number) for number in range(1, 101)], [1.0] * 100)
    assert (found.low, found.ratio, found.high) == (41.0, 50.5, 60.0)


def test_the_interval_of_many_rounds_covers_the_true_ratio_as_often_as_it_says() -> None:
    chance = random.Random(4)
    covered = 0
    for _ in range(2000):
        theirs = [chance.lognormvariate(6, 0.1) for _ in range(rounds.MANY)]
        ours = [chance.lognormvariate(6 + math.log(0.98), 0.1) for _ in range(rounds.MANY)]
        found = rounds.of_many(ours, theirs)
        covered += found.low <= 0.98 <= found.high
    # Of 2,000 at .945: 1,890 with a deviation of 10; five of these.
    assert 1840 <= covered <= 1945


def test_few_rounds_have_no_geometric_mean() -> None:
    with pytest.raises(ValueError, match="100 rounds or more, not 99"):
        rounds.of_many([1.0] * 99, [1.0] * 99)


def test_rounds_that_one_side_did_not_finish_are_an_error() -> None:
    with pytest.raises(ValueError, match="longer"):
        rounds.compared([1.0], [1.0, 2.0])


@pytest.mark.parametrize(("part", "expected"), [(0.95, 95.0), (0.5, 50.0), (1.0, 100.0), (0.001, 1.0)])
def test_a_quantile_is_a_value_that_so_many_do_not_exceed(part: float, expected: float) -> None:
    assert rounds.quantile([float(number) for number in range(100, 0, -1)], part) == expected
