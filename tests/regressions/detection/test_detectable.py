import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from apps.regressions.detection import Detectable, ResultSeries, detectable
from tests.regressions.detection.test_change_points import a_series, changes_in


def of(values: ArrayLike, **fields: Any) -> Detectable:
    return detectable(ResultSeries(np.asarray(values, dtype=np.float64), **fields))


def test_a_short_series_says_what_it_lacks() -> None:
    assert of(a_series()[:9]) == Detectable(9, reason="too short: 9 of the 10 runs needed")
    assert of([1.0]).reason == "too short: 1 of the 10 runs needed"
    assert of([]).reason == "too short: 0 of the 10 runs needed"


def test_a_series_begins_anew_with_its_hardware() -> None:
    found = of(a_series(), resets=[55]).reason
    assert found == "too short: 5 of the 10 runs needed since hardware or configuration changed"


def test_a_noisy_series_says_what_it_would_still_show() -> None:
    found = of(a_series(variation=0.3))
    assert found.effect is not None
    assert found.effect > 0.25
    assert found.reason == f"too noisy: only changes of {found.effect * 100:.0f}\u00a0% and more are detectable"


def test_a_steady_series_is_fit_to_be_watched() -> None:
    found = of(a_series(variation=0.01, runs=100))
    assert found.reason == ""
    assert found.variation == pytest.approx(0.01, rel=0.3)
    assert found.effect == pytest.approx(0.02, rel=0.35)


def test_no_change_under_half_a_percent_is_promised() -> None:
    assert of(np.full(50, 7.0)).effect == pytest.approx(0.005)


def test_more_runs_after_it_show_smaller_changes() -> None:
    values = a_series(variation=0.02, runs=100)
    effects = [detectable(ResultSeries(values), after=after).effect or math.inf for after in (4, 10, 40)]
    assert effects == sorted(effects, reverse=True)


def test_a_change_of_that_size_is_mostly_found_after_ten_runs() -> None:
    found = 0
    for seed in range(60):
        before = a_series(runs=60, variation=0.01, seed=seed)
        effect = of(before).effect
        assert effect is not None
        after = a_series(runs=10, variation=0.01, seed=1000 + seed) * (1 + effect)
        found += bool(changes_in(np.concatenate([before, after])))
    assert 0.65 <= found / 60 <= 0.97
