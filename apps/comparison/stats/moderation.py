"""Variances of few replicates, shrunk towards those of like cells of their table. Pure.

Smyth, Stat. Appl. Genet. Mol. Biol. 3 (2004): the variances of like cells are draws from a scaled inverse chi-squared
distribution, whose two parameters are estimated from the moments of log s². Simulation results are in
docs/why/statistics.md.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from apps.comparison.stats import welch
from apps.comparison.stats.power import RunNoise
from apps.comparison.stats.replicates import Replicates
from apps.comparison.stats.welch import DraftRatio

# With fewer variances of like cells the prior itself is a guess.
FEWEST_VARIANCES = 4
# Spread of the log variances of like cells before they are seen, with its standard deviation: standard deviations of
# load levels often differ by e^0.4. A few cells alone would show a spread of none, or twice the true one.
EXPECTED, UNSURE = 0.6, 0.45
# Standard errors between the mean log variances of the sides, from which on each side has a prior of its own.
DIFFERENT = 1.5
# Of the freedom of all cells what one side may have where the other has it too: with half, intervals of three cells in
# two sessions hold the truth in 92 of 100 cases.
OF_BOTH = 1 / 3
MODERATED = (Replicates.SESSIONS, Replicates.PAIRED_SESSIONS, Replicates.BLOCKS)


@dataclass(frozen=True)
class Prior:
    """Variance, and the degrees of freedom that it is worth. `most`: that a cell's side may have with it."""

    variance: float
    freedom: float
    most: float

    def applied(self, noise: RunNoise) -> RunNoise:
        """Of one cell. A noise of zero by design (that of pairs, which the other holds) stays."""
        if math.isinf(noise.freedom):
            return noise
        total = max(min(noise.freedom + self.freedom, self.most), noise.freedom)
        weighted = self.freedom * self.variance + noise.freedom * noise.variance
        variance = weighted / (self.freedom + noise.freedom)
        return replace(noise, variance=variance, freedom=total, prior=total - noise.freedom)


def moderated(drafts: Sequence[DraftRatio]) -> list[DraftRatio]:
    """Drafts of like cells (one metric), judged with moderated variances where replicates are sessions or blocks."""
    found = list(drafts)
    for kind in MODERATED:
        places = [place for place, draft in enumerate(drafts) if draft.basis and draft.alone.replicates is kind]
        priors = _priors([draft.basis.noises for place in places if (draft := drafts[place]).basis])
        for place in places if any(priors) else ():
            found[place] = _anew(drafts[place], priors)
    return found


def _anew(draft: DraftRatio, priors: tuple[Prior | None, Prior | None]) -> DraftRatio:
    if draft.basis is None:
        return draft
    one, other = (known.applied(own) if known else own for own, known in zip(draft.basis.noises, priors, strict=True))
    return welch.judged_anew(draft, (one, other))


def _priors(noises: Sequence[tuple[RunNoise, RunNoise]]) -> tuple[Prior | None, Prior | None]:
    """Of the baseline and of the other sides: one, unless these differ in noise."""
    each = [_own(pair[place] for pair in noises) for place in (0, 1)]
    if _differ(*each):
        return prior(each[0]), prior(each[1])
    both = prior([*each[0], *each[1]])
    return (both and replace(both, most=both.most * OF_BOTH),) * 2


def _own(noises: Iterable[RunNoise]) -> list[RunNoise]:
    """A baseline's noise is that of a cell with each side: once."""
    known = {each for each in noises if not each.borrowed and each.variance > 0 and math.isfinite(each.freedom)}
    return sorted(known, key=lambda noise: (noise.variance, noise.freedom))


def _differ(one: Sequence[RunNoise], other: Sequence[RunNoise]) -> bool:
    """Whether the sides' variances differ by more than chance often makes them."""
    if min(len(one), len(other)) < 2:
        return False
    logs = [_logs(each)[0] for each in (one, other)]
    error = math.sqrt(sum(float(each.var(ddof=1)) / len(each) for each in logs))
    return abs(float(logs[0].mean() - logs[1].mean())) > DIFFERENT * error


def _logs(noises: Sequence[RunNoise]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Logarithms of the variances without the bias of few degrees of freedom, and half of those."""
    half = np.array([noise.freedom for noise in noises]) / 2
    return np.log([noise.variance for noise in noises]) - special.digamma(half) + np.log(half), half


def prior(noises: Sequence[RunNoise]) -> Prior | None:
    """None: too few variances."""
    if len(noises) < FEWEST_VARIANCES:
        return None
    logs, half = _logs(noises)
    variance, freedom = fitted(logs, float(special.polygamma(1, half).mean()))
    return Prior(float(variance), float(freedom), float(2 * half.sum()))


def fitted(logs: NDArray[np.float64], by_chance: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of each row of unbiased log variances, the variance and degrees of freedom of their prior. `by_chance`: the mean
    of their own variances. Their spread is that of moments, weighed with the expected one by the precision of each."""
    count = logs.shape[-1]
    error = 2 * (EXPECTED + by_chance) ** 2 / (count - 1)
    weight = UNSURE**2 / (UNSURE**2 + error)
    spread = np.maximum(weight * (logs.var(axis=-1, ddof=1) - by_chance) + (1 - weight) * EXPECTED, 0)
    # Their mean is uncertain too.
    halved = _inverse_trigamma(spread + (spread + by_chance) / count)
    return np.exp(logs.mean(axis=-1) + special.digamma(halved) - np.log(halved)), 2 * halved


def _inverse_trigamma(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Newton's method on 1 / trigamma, which is nearly linear (Smyth 2004, appendix)."""
    found = 0.5 + 1 / value
    for _ in range(50):
        tri = special.polygamma(1, found)
        step = tri * (1 - tri / value) / special.polygamma(2, found)
        found = found + step
        if np.all(np.abs(step) < 1e-10 * found):
            break
    return found
