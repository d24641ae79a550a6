"""What the release gate promises, on releases drawn from known noise. docs/why/release-gate.md has the figures;
`python -m tests.regressions.releases.test_gate_simulated` prints them."""

from dataclasses import dataclass

import numpy as np

from apps.comparison.stats import multiple_testing, welch
from apps.comparison.stats.welch import Direction, Sample
from apps.regressions.detection import DEFAULT_LIMITS
from apps.regressions.releases import verdicts
from apps.regressions.releases.values import TOLERANCE, RowVerdict

ROWS, SLOWED = 12, 4


@dataclass(frozen=True)
class GateShares:
    """Shares: of releases with a worse row that the gate lets pass, and that it calls a regression; of slowed rows that
    are found; of rows said to differ that do not."""

    passes: float
    regressions: float
    found: float
    false: float


def simulate(*, runs: int, variation: float, effect: float, releases: int, seed: int = 7) -> GateShares:
    """Releases of ROWS rows, SLOWED of them slower by `effect` (a share), `runs` runs of each side without history;
    run-to-run noise of Student's t with 5 degrees of freedom."""
    random = np.random.default_rng(seed)
    spread = variation / np.sqrt(5 / 3)
    slowed = np.where(np.arange(ROWS) < SLOWED, 1 - effect, 1.0)[:, None]
    passes = regressions = found = false = said = 0
    for _ in range(releases):
        before, after = 1000 * np.exp(random.standard_t(5, (2, ROWS, runs)) * spread)
        ratios = multiple_testing.correct_for_many(
            [welch.draft(Sample(tuple(a)), Sample(tuple(b))) for a, b in zip(before, after * slowed, strict=True)]
        )
        rows = [verdicts.verdict(ratio, Direction.HIGHER, DEFAULT_LIMITS.smallest)[0] for ratio in ratios]
        worst = [verdicts.worst(ratio, Direction.HIGHER) or 0.0 for ratio in ratios]
        differ = [row in (RowVerdict.WORSE, RowVerdict.BETTER) for row in rows]
        is_regression = RowVerdict.WORSE in rows
        coarse = any(row is RowVerdict.INCONCLUSIVE and each > TOLERANCE for row, each in zip(rows, worst, strict=True))
        regressions += is_regression
        passes += not is_regression and not coarse
        found += rows[:SLOWED].count(RowVerdict.WORSE) if effect else 0
        false += sum(differ[SLOWED:] if effect else differ)
        said += sum(differ)
    return GateShares(passes / releases, regressions / releases, found / releases / SLOWED, false / max(said, 1))


def test_a_release_like_the_one_before_seldom_is_a_regression_and_passes_when_its_noise_is_small() -> None:
    simulated = simulate(runs=5, variation=0.01, effect=0.0, releases=150)
    assert simulated.regressions <= 0.03
    assert simulated.passes >= 0.95


def test_five_runs_find_releases_with_rows_that_are_five_per_cent_slower() -> None:
    simulated = simulate(runs=5, variation=0.01, effect=0.05, releases=60)
    assert simulated.regressions >= 0.98
    assert simulated.found >= 0.9
    assert simulated.false <= 0.05


def test_what_could_have_been_seen_is_what_the_simulations_of_the_methods_found() -> None:
    random = np.random.default_rng(3)
    effects = []
    for _ in range(200):
        a, b = np.exp(random.normal(0, 0.02, (2, 5)))
        ratio = welch.compare(Sample(tuple(a)), Sample(tuple(b)))
        effects.append(verdicts.visible(ratio, (5, 5), (0, 0)))
    assert abs(float(np.median([each for each in effects if each])) - 0.041) < 0.004


def main() -> None:
    for runs in (3, 5, 10):
        for variation in (0.005, 0.01, 0.02):
            same = simulate(runs=runs, variation=variation, effect=0.0, releases=2000)
            line = f"| {runs} | {variation:.1%} | {same.regressions:.1%} | {same.passes:.0%} |"
            for effect in (0.02, 0.05, 0.12):
                simulated = simulate(runs=runs, variation=variation, effect=effect, releases=400)
                line += f" {simulated.found:.0%} / {simulated.regressions:.0%} |"
            print(line, f"{simulated.false:.1%} |")  # noqa: T201


if __name__ == "__main__":
    main()
