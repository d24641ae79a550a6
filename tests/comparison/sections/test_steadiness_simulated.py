"""The interval of a ratio of variations covers what it says, from seconds that are not independent of each other."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import lfilter

from apps.comparison.stats import welch
from apps.comparison.stats.replicates import Sample

TRIALS, SECONDS, CORRELATION = 400, 60, 0.3


def variations(random: np.random.Generator, runs: int, *, spread: float, unlike: float) -> NDArray[np.float64]:
    """Trials x runs: each run's coefficient of variation; the spread of its seconds itself varies from run to run."""
    noise = random.standard_normal((TRIALS, runs, SECONDS)) * np.sqrt(1 - CORRELATION**2)
    seconds = lfilter([1.0], [1.0, -CORRELATION], noise, axis=-1)
    own = spread * np.exp(unlike * random.standard_normal((TRIALS, runs, 1)))
    values = 1 + own * seconds
    found: NDArray[np.float64] = values.std(axis=-1) / values.mean(axis=-1)
    return found


@pytest.mark.parametrize("runs", [3, 10])
def test_the_interval_of_a_ratio_of_variations_covers(runs: int) -> None:
    random = np.random.default_rng(runs)
    one, other = {"spread": 0.05, "unlike": 0.1}, {"spread": 0.1, "unlike": 0.4}
    baseline, side = variations(random, runs, **one), variations(random, runs, **other)
    truth = np.exp(np.log(variations(random, 20, **other)).mean() - np.log(variations(random, 20, **one)).mean())
    found = [
        welch.compare(Sample(tuple(a)), Sample(tuple(b))) for a, b in zip(baseline.tolist(), side.tolist(), strict=True)
    ]
    covered = np.mean(
        [each.low is not None and each.high is not None and each.low <= truth <= each.high for each in found]
    )
    assert 0.925 <= covered <= 0.98
