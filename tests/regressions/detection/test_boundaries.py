"""A change that is new is reported at a release's first run near it, unless the values say that it came elsewhere."""

import numpy as np
import pytest

from apps.regressions.detection import ChangePoint, Followed, ResultSeries, changes, follow
from apps.regressions.detection.series import ALIKE
from bench.histories import Floats

RELEASES = (15, 30, 45)


def series(seed: int, *, at: int = 45, size: float = -0.03, runs: int = 65, variation: float = 0.02) -> Floats:
    """Another by `size` from run `at` on."""
    y = variation * np.random.default_rng(seed).normal(size=runs)
    y[at:] += np.log1p(size)
    values: Floats = 1000 * np.exp(y)
    return values


def places_of(values: Floats, *, start: int, boundaries: tuple[int, ...] = RELEASES) -> list[int]:
    """Places of what is found, run by run from `start` on."""
    last = follow(ResultSeries(values[:start], boundaries=boundaries))
    found = list(last.found)
    for count in range(start + 1, len(values) + 1):
        last = follow(ResultSeries(values[:count], boundaries=boundaries), last.changes, analysed=count - 1)
        found += last.found
    return [change.index for change in found]


def test_small_changes_are_reported_at_the_run_with_which_their_release_begins() -> None:
    """docs/why/change-points.md has 120 series of each kind."""
    blind = [places_of(series(seed), start=40, boundaries=()) for seed in range(10)]
    found = [places_of(series(seed), start=40) for seed in range(10)]
    assert all(len(own) >= len(other) for own, other in zip(found, blind, strict=True))
    assert sum(each != [45] for each in blind if each) >= 3
    assert sum(each != [45] for each in found if each) <= 1


@pytest.mark.parametrize("at", [38, 40, 42, 48, 52])
def test_a_change_that_came_within_a_release_stays_there(at: int) -> None:
    (index,) = places_of(series(3, at=at, size=-0.1, runs=70), start=at)
    assert index == pytest.approx(at, abs=1)


def test_a_boundary_further_away_draws_nothing() -> None:
    values = series(3, at=38, size=-0.1)
    assert follow(ResultSeries(values, boundaries=(46,))) == follow(ResultSeries(values))


def test_a_known_change_is_not_moved_to_a_boundary() -> None:
    values = series(5, size=-0.05)
    (change,) = changes(ResultSeries(values))
    for known in (42, 44, 48):
        step = follow(ResultSeries(values, boundaries=RELEASES), [ChangePoint(known, 0.95, 0.94, 0.96, 1e-9, 4)])
        assert [each.index for each in step.changes] == [known]
        assert (step.found, step.lost) == ((), ())
    assert abs(change.index - 45) <= ALIKE


def test_what_is_seen_again_further_off_than_it_was_moved_is_the_same_change() -> None:
    """A known change at a boundary; newer runs see it eight runs before."""
    values = series(1, at=37, size=-0.04, runs=80)
    known = ChangePoint(45, 0.96, 0.95, 0.97, 1e-9, 4)
    step = follow(ResultSeries(values, boundaries=RELEASES), [known], analysed=60)
    assert len(step.changes) == 1


def size_of(values: Floats, index: int, end: int | None = None) -> float:
    """Ratio of geometric means of the up to 40 runs on each side."""
    y = np.log(values)
    return float(np.exp(y[index : min(end or len(y), index + 40)].mean() - y[max(0, index - 40) : index].mean()))


def test_a_size_is_of_the_runs_on_both_sides_of_where_it_was_reported() -> None:
    for variation in (0.005, 0.02):
        values = series(2, size=0.14, runs=80, variation=variation)
        (seen,) = changes(ResultSeries(values))
        for at in (38, 45, 52):
            known = ChangePoint(at, 1.14, 1.13, 1.15, 1e-9, 4)
            (change,) = follow(ResultSeries(values), [known]).changes
            own = size_of(values, at)
            assert change.ratio == pytest.approx(own, rel=0.003)
            assert change.low < own < change.high
            assert change.before == pytest.approx(float(np.exp(np.log(values[max(0, at - 40) : at]).mean())), rel=0.003)
            assert change.p == seen.p


def test_a_size_follows_with_every_run_also_where_nothing_else_is_looked_at() -> None:
    values = series(2, size=-0.1, runs=80)
    last: Followed = follow(ResultSeries(values[:55]))
    for count in range(56, len(values) + 1):
        last = follow(ResultSeries(values[:count]), last.changes, analysed=count - 1)
        (change,) = last.changes
        assert change.runs_after == count - change.index
        assert change.ratio == pytest.approx(size_of(values[:count], change.index), rel=0.005)
