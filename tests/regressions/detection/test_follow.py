import numpy as np
import pytest

from apps.regressions.detection import ChangePoint, Followed, ResultSeries, change_points, changes, follow
from bench import detection, histories
from bench.histories import Floats, Score
from tests.regressions.detection.test_change_points import a_series


def followed(values: Floats, *, start: int = 0, resets: tuple[int, ...] = ()) -> list[Followed]:
    """Run by run, from `start` runs on."""
    steps = [follow(ResultSeries(values[:start], [reset for reset in resets if reset <= start]))]
    for count in range(start + 1, len(values) + 1):
        now = [reset for reset in resets if reset <= count]
        steps.append(follow(ResultSeries(values[:count], now), steps[-1].changes, analysed=count - 1))
    return steps


def test_a_change_is_reported_once_and_stays_where_it_was_reported() -> None:
    for history in histories.synthetic(21, series=6):
        reported: list[int] = []
        for step in followed(history.values):
            reported += [change.index for change in step.found]
            gone = {change.index for change in step.lost}
            reported = [index for index in reported if index not in gone]
            assert [change.index for change in step.changes] == sorted(reported)


def test_a_change_that_newer_runs_see_elsewhere_is_not_moved() -> None:
    values = a_series((40, 0.9))
    (change,) = changes(ResultSeries(values[:50]))
    for known in (change.index - 5, change.index + 5):
        earlier = ChangePoint(known, change.ratio, change.low, change.high, change.p, change.runs_after)
        step = follow(ResultSeries(values), [earlier], analysed=50)
        assert [kept.index for kept in step.changes] == [known]
        assert (step.found, step.lost) == ((), ())


def test_it_gathers_runs_after_it() -> None:
    values = a_series((40, 0.9))
    step = followed(values)[-1]
    assert step.changes[0].runs_after == 60 - step.changes[0].index


def test_a_change_that_was_none_is_given_up_aloud() -> None:
    values = a_series()
    never = ChangePoint(30, 0.9, 0.88, 0.92, 1e-9, 4)
    step = follow(ResultSeries(values), [never], analysed=34)
    assert (step.changes, step.lost) == ((), (never,))


def test_a_burst_shortly_before_a_change_seldom_draws_it_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn() -> int:
        """Of 24 changes at run 60, those that are reported more than seven runs off."""
        far = 0
        for seed in range(12):
            for back, step in ((8, 0.03), (9, 0.025)):
                y = np.random.default_rng(seed).normal(7, 0.01, 100)
                y[60:] += step
                y[54 - back : 60 - back] += 1.2 * step
                found = [change.index for each in followed(np.exp(y), start=40) for change in each.found]
                far += any(abs(index - 60) > 7 for index in found)
        return far

    assert drawn() <= 2
    monkeypatch.setattr(change_points, "SURE", 0.0)
    assert drawn() > 5


def test_a_second_change_is_found_beside_the_first() -> None:
    steps = followed(a_series((40, 0.9), (100, 1.1), runs=130))
    found = [change.index for step in steps for change in step.found]
    assert found == pytest.approx([40, 100], abs=2)
    assert [change.index for change in steps[-1].changes] == found


def releases_of_five(*sizes: float, seed: int) -> tuple[Floats, list[int]]:
    """Five runs each, 1 % noise; the level of each as a share of the first. And where they begin."""
    values = a_series(runs=5 * len(sizes), seed=seed) * np.repeat(sizes, 5)
    return values, list(range(5, len(values), 5))


def found_by_release(*sizes: float, seed: int) -> tuple[list[int], Followed]:
    """The releases (from 0) of all that is reported run by run, in that order, and how it stands in the end."""
    values, begins = releases_of_five(*sizes, seed=seed)
    found, last = list[ChangePoint](), Followed(())
    for count in range(10, len(values) + 1):
        bounds = [at for at in begins if at < count]
        series = ResultSeries(values[:count], boundaries=bounds)
        last = follow(series, last.changes, analysed=count - 1 if count > 10 else 0)
        found += last.found
        assert not last.lost
    assert all(change.index in begins for change in found)
    return [change.index // 5 for change in found], last


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param((1, 1, 1, 0.95, 0.5), id="a large one after a small one"),
        pytest.param((1, 1, 1, 0.7, 0.5), id="a large one after a large one"),
        pytest.param((1, 1, 1, 0.9, 1.05), id="one to the better after one to the worse"),
        pytest.param((1, 0.8, 0.5), id="after five runs alone"),
    ],
)
def test_a_release_that_falls_after_one_that_fell_is_reported_with_its_own_size(sizes: tuple[float, ...]) -> None:
    for seed in range(6):
        found, last = found_by_release(*sizes, seed=seed)
        assert found == [len(sizes) - 2, len(sizes) - 1]
        wanted = [sizes[-2], sizes[-1] / sizes[-2]]
        assert [change.ratio for change in last.changes] == pytest.approx(wanted, rel=0.03)


def test_for_a_release_after_one_that_fell_which_is_as_slow_nothing_is_reported() -> None:
    for seed in range(20):
        found, last = found_by_release(1, 1, 1, 0.95, 0.95, 0.95, seed=seed)
        assert found == [3]
        assert last.changes[0].ratio == pytest.approx(0.95, rel=0.02)


def test_a_release_that_mends_what_the_one_before_broke_leaves_that_reported() -> None:
    """Its first runs are not taken for a sign that nothing was broken."""
    for seed in range(6):
        found, last = found_by_release(1, 1, 1, 0.8, 1, seed=seed)
        assert found == [3, 4]
        assert [change.index for change in last.changes] == [15, 20]


def test_two_falls_near_each_other_are_both_reported_when_all_runs_are_looked_at_at_once() -> None:
    for seed in range(6):
        values, begins = releases_of_five(1, 1, 1, 0.95, 0.5, seed=seed)
        assert [change.index for change in follow(ResultSeries(values, boundaries=begins)).found] == [15, 20]


def test_a_known_change_that_had_swallowed_the_next_gives_it_back() -> None:
    values, begins = releases_of_five(1, 1, 1, 0.95, 0.5, 0.5, seed=1)
    swallowed = ChangePoint(15, 0.52, 0.4, 0.6, 1e-7, 15)
    step = follow(ResultSeries(values, boundaries=begins), [swallowed])
    assert [change.index for change in step.found] == [20]
    assert [change.ratio for change in step.changes] == pytest.approx([0.95, 0.526], rel=0.03)


def test_nothing_new_changes_nothing() -> None:
    values = a_series((40, 0.9))
    known = follow(ResultSeries(values)).changes
    assert follow(ResultSeries(values), known, analysed=len(values)) == Followed(known)


def test_all_at_once_finds_what_changes_finds() -> None:
    for history in histories.synthetic(22, series=4):
        series = ResultSeries(history.values)
        followed, detected = follow(series).changes, changes(series)
        assert [(change.index, change.p) for change in followed] == [(change.index, change.p) for change in detected]
        # Its runs may be parted better some runs off: those between count whole.
        for change, other in zip(followed, detected, strict=True):
            assert change.ratio == pytest.approx(other.ratio, rel=0.003)


def test_new_hardware_begins_anew_and_keeps_what_was_known() -> None:
    values = a_series((30, 0.9), (60, 0.5), (90, 0.9), runs=120)
    last = followed(values, resets=(60,))[-1]
    assert [change.index for change in last.changes] == pytest.approx([30, 90], abs=2)
    assert last.changes[0].runs_after == 60 - last.changes[0].index


def test_a_new_run_does_not_look_at_the_whole_past() -> None:
    """Values before the last known change but one hundred runs do not matter at all."""
    values = a_series((150, 0.9), runs=400)
    known = follow(ResultSeries(values[:399])).changes
    others = values.copy()
    others[:100] *= np.geomspace(1e-9, 1e9, 100)
    first, second = (follow(ResultSeries(each), known, analysed=399).changes for each in (others, values))
    assert first == second


def test_a_series_that_was_shortened_is_refused() -> None:
    with pytest.raises(ValueError, match="40 runs were analysed, the series has 30"):
        follow(ResultSeries(a_series()[:30]), analysed=40)


def test_made_up_changes_are_found_with_few_false_alarms() -> None:
    """The bench does this on 200 series; 25 are enough to see that nothing broke."""
    series = histories.synthetic(23, series=25)
    total = sum((histories.scored(history, detection.ours(history)) for history in series), Score())
    assert total.f1 >= 0.74
    assert total.false_per_1000 <= 1
    assert total.delay <= 8
