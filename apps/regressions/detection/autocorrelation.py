"""Changes and slopes beside noise that wanders: independent noise plus a first-order autoregression, or plus an offset
of each session where these are known. Pure.

Autocorrelation, sessions, modes of a machine pool and drift all look like small changes of level. A set of changes is
kept only as far as it explains the runs better than such noise, or a straight slope, would without it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from apps.regressions.detection.noise import Floats
from apps.regressions.detection.sessions import Sessions

# Of the autoregression: correlations of neighbours, and shares of the variance. The first row has none.
CORRELATIONS, SHARES = (0.2, 0.4, 0.6, 0.75, 0.85, 0.92, 0.97), (0.1, 0.25, 0.45, 0.7, 1.0)
# Of the variance, by offsets of known sessions.
BETWEEN = (0.15, 0.3, 0.5, 0.7, 0.85, 0.95)
MOST = 500  # runs
MODELS = np.array([(0.0, 0.0), *((phi, share) for phi in CORRELATIONS for share in SHARES)])
# Price of a change, as twice the gain in log-likelihood: near a release; elsewhere more where the noise wanders even
# beside all changes (in full from a gain of WANDERS on), and at a series' beginning, which cannot show yet how it does.
EXPECTED, CHANGE, WANDERING, BEGINNING = 4.0, 12.0, 8.0, 24.0
WANDERS, BEGINS = 10.0, 60
SLOPE = 8.0
TIE = 1e-9


@cache
def _gains(runs: int) -> tuple[Floats, Floats]:
    """Kalman gains times φ, and variances of the innovations (runs, models), of unit variance in all."""
    phi, share = MODELS.T
    state, gains, variances = share.copy(), np.empty((runs, len(MODELS))), np.empty((runs, len(MODELS)))
    for run in range(runs):
        variances[run] = state + 1 - share
        gains[run] = phi * state / variances[run]
        state = phi**2 * (state - state**2 / variances[run]) + share * (1 - phi**2)
    return gains, variances


def _whitened(columns: Floats) -> tuple[Floats, Floats]:
    """Innovations of each column under each model (models, runs, columns), and the models' log-determinants."""
    runs, phi = len(columns), MODELS[:, :1]
    gains, variances = (each[:runs] for each in _gains(MOST))
    found = np.empty((runs, len(MODELS), columns.shape[1]))
    state = np.zeros((len(MODELS), columns.shape[1]))
    for run in range(runs):
        innovation = found[run]
        np.subtract(columns[run], state, out=innovation)
        state *= phi
        state += gains[run][:, None] * innovation
    found /= np.sqrt(variances)[:, :, None]
    return found.transpose(1, 0, 2), np.log(variances).sum(axis=0)


def _whitened_by_session(columns: Floats, sessions: Sessions) -> tuple[Floats, Floats]:
    """As _whitened, under independent noise with offsets of the sessions, of the shares BETWEEN of the variance."""
    shares = np.array(BETWEEN)[:, None]
    alone, all_of = 1 - shares, 1 - shares + shares * sessions.sizes
    means = sessions.means(columns)[sessions.number]
    taken = (1 - np.sqrt(alone / all_of))[:, sessions.number, None]
    logs = ((sessions.sizes - 1) * np.log(alone) + np.log(all_of)).sum(axis=1)
    return (columns - taken * means) / np.sqrt(alone)[:, :, None], logs


@dataclass(frozen=True)
class Slope:
    """Of a logarithm, per run: its estimate and standard error; `gain`: twice the gain in log-likelihood."""

    value: float
    error: float
    gain: float


@dataclass(frozen=True)
class ModelFit:
    """`loss`: least −2 log-likelihood over the models, less by `wander` than those of noise that does not; `estimates`
    and standard `errors` under the best one."""

    loss: float
    wander: float
    estimates: Floats
    errors: Floats


class Explained:
    """Logarithms (runs,), at most MOST, under each noise, with steps at `places` and a slope or without."""

    def __init__(self, y: Floats, places: Sequence[int], sessions: Sessions | None = None) -> None:
        self.runs, self.places = len(y), tuple(places)
        at = np.arange(self.runs, dtype=np.float64)
        steps = at[:, None] >= np.array(self.places, dtype=np.float64)
        columns = np.column_stack([y - y.mean(), np.ones(self.runs), at / self.runs - 0.5, steps])
        white, logs = _whitened(columns)
        # Models of what is known of the noise: it does not wander.
        self._known = [0]
        if sessions is not None and len(sessions.starts) < self.runs:
            by_session, more = _whitened_by_session(columns, sessions)
            self._known += range(len(white), len(white) + len(by_session))
            white, logs = np.concatenate([white, by_session]), np.concatenate([logs, more])
        self._logs, self._grams = logs, white.transpose(0, 2, 1) @ white

    def _fit(self, places: Sequence[int], *, slope: bool) -> ModelFit:
        used = [1, *([2] if slope else []), *(3 + self.places.index(place) for place in places)]
        inner = self._grams[:, used][:, :, used]
        right = self._grams[:, used, 0]
        estimates = np.linalg.solve(inner, right[:, :, None])[:, :, 0]
        rest = np.maximum(self._grams[:, 0, 0] - (right * estimates).sum(axis=1), 1e-12)
        losses = self.runs * np.log(rest / self.runs) + self._logs
        best = int(losses.argmin())
        variance = rest[best] / max(self.runs - len(used), 1)
        errors = np.sqrt(variance * np.diag(np.linalg.inv(inner[best])))
        return ModelFit(float(losses[best]), float(losses[self._known].min() - losses[best]), estimates[best], errors)

    def kept(self, *, expected: Callable[[int], bool]) -> tuple[int, ...]:
        """The places that are worth their price: backward from all of them, the least certain first. `expected`:
        whether a change at a place is, because a release begins near."""
        wander = self._fit(self.places, slope=True).wander
        more = WANDERING * min(wander / WANDERS, 1) + BEGINNING * max(0, 1 - self.runs / BEGINS)
        prices = {place: EXPECTED if expected(place) else CHANGE + more for place in self.places}
        best, found = np.inf, self.places
        for slope in (False, True):
            left = list(self.places)
            while True:
                fit = self._fit(left, slope=slope)
                loss = fit.loss + sum(prices[place] for place in left) + SLOPE * slope
                if loss < best - TIE:
                    best, found = loss, tuple(left)
                if not left:
                    break
                first = 2 if slope else 1
                del left[int(np.abs(fit.estimates[first:] / fit.errors[first:]).argmin())]
        return found

    def slope(self) -> Slope:
        """With all changes."""
        without, fit = self._fit(self.places, slope=False), self._fit(self.places, slope=True)
        return Slope(float(fit.estimates[1]) / self.runs, float(fit.errors[1]) / self.runs, without.loss - fit.loss)
