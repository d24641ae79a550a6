"""What an hour of load says of itself."""

import random

import pytest

from bench.load import thirds
from bench.servers import Failed


def values(*, slope: float, count: int = 3000) -> list[tuple[float, float]]:
    """Over an hour; `slope`: growth to its end, as a share."""
    chance = random.Random(1)
    return [(at := 3600 * n / count, (1 + slope * at / 3600) * chance.uniform(80, 120)) for n in range(count)]


def test_what_grows_has_an_interval_above_one_and_what_does_not_holds_it() -> None:
    grown, flat = (thirds(values(slope=slope), 3600, quantile=0.95) for slope in (0.5, 0.0))
    assert 1.1 < grown.low <= grown.ratio <= grown.high < 1.6
    assert flat.low <= 1 <= flat.high
    assert flat.high / flat.low < 1.1


def test_the_quantile_is_of_the_whole_time_and_of_its_first_third() -> None:
    steps = [(float(at), 1.0 if at < 1200 else 2.0 if at < 3500 else 100.0) for at in range(3600)]
    found = thirds(steps, 3600, quantile=0.95)
    assert (found.ours, found.theirs, found.ratio) == (2.0, 1.0, 2.0)


def test_too_few_values_are_no_answer() -> None:
    with pytest.raises(Failed, match="give it more time"):
        thirds([(1.0, 1.0), (3599.0, 1.0)], 3600, quantile=0.95)
