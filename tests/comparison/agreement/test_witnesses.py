"""How often programs agree on a difference between equal systems, on runs drawn from sessions that differ by 1 %.
`main` prints the table of docs/reference/agreement-and-cost.md."""

import math

import numpy as np
import pytest

from apps.comparison.agreement import claims
from apps.comparison.agreement.claims import LevelResult, SideClaim, WorkloadResult
from apps.comparison.stats import moderation, multiple_testing, welch
from apps.comparison.stats.replicates import Sample
from apps.comparison.stats.welch import Direction
from apps.comparison.values import Cell, ComparedMetric, ComparedWorkload, Level

LEVELS = 3
METRIC = ComparedMetric("client.throughput", "throughput", "1/s", Direction.HIGHER, "throughput", primary=True)


@pytest.fixture(autouse=True)
def without_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many repetitions are needed is not asked here, and most of the time."""
    monkeypatch.setattr(welch, "repetitions_needed", lambda *_, **__: 1)


def simulate(
    *, claims_drawn: int, sessions: int, runs: int, shared: bool, effect: float = 0.0, programs: int = 2, seed: int = 3
) -> tuple[float, float]:
    """Shares of claims on which all programs agree, and which two witnesses at least support. `sessions` of each
    program, `runs` in each; `shared`: the programs run in the same ones. What a session does to a side is in all loads.
    `effect` between the sides, a share."""
    random = np.random.default_rng(seed)
    found = [_claim(random, sessions, runs, programs, shared=shared, effect=effect) for _ in range(claims_drawn)]
    agree = [each.is_claimed and each.says != "equivalent" and len(each.programs) == programs for each in found]
    strong = [one and each.witnesses > 1 for one, each in zip(agree, found, strict=True)]
    return float(np.mean(agree)), float(np.mean(strong))


def _claim(
    random: np.random.Generator, sessions: int, runs: int, programs: int, *, shared: bool, effect: float
) -> SideClaim:
    drafts, numbers = [], []
    same = random.normal(0, 0.01, (2, sessions))
    for program in range(programs):
        first = 0 if shared else program * sessions
        numbers.append(tuple(range(first, first + sessions)))
        days = same if shared else random.normal(0, 0.01, (2, sessions))
        in_order = tuple(np.repeat(numbers[-1], runs).tolist())
        cells = []
        for _ in range(LEVELS):
            logs = days[:, :, None] + random.normal(0, 0.01, (2, sessions, runs))
            logs[1] += math.log1p(effect)
            # Each side was started anew: sessions of its own.
            sides = [tuple(np.exp(own).ravel().tolist()) for own in logs]
            other = tuple(1000 + number for number in in_order)
            cells.append(welch.draft(Sample(sides[0], sessions=in_order), Sample(sides[1], sessions=other)))
        drafts += moderation.moderated(cells)
    ratios = iter(multiple_testing.correct_for_many(drafts))
    results = []
    for program in range(programs):
        levels = tuple(_level(next(ratios)) for _ in range(LEVELS))
        workload = ComparedWorkload(program, "sysbench", "writes", {})
        said = claims.says(levels)
        results.append(WorkloadResult(workload, f"tool {program}", METRIC, levels, said, numbers[program]))
    return claims.claim_of("b", "writes", results, ())


def _level(ratio: welch.Ratio) -> LevelResult:
    words = welch.words(ratio.verdict, Direction.HIGHER)
    cell = Cell("b", 1, METRIC.key, (), None, 0, ratio, words, ())
    return LevelResult(Level(1, "4", 4, None, "4 threads"), cell)


def test_programs_of_one_session_agree_on_a_difference_of_equal_systems_but_are_one_witness() -> None:
    agree, strong = simulate(claims_drawn=100, sessions=1, runs=5, shared=True)
    assert agree >= 0.08  # 19.5 % of 1,000
    assert strong == 0


def test_programs_of_other_sessions_hardly_ever_agree_on_a_difference_of_equal_systems() -> None:
    assert simulate(claims_drawn=60, sessions=3, runs=3, shared=False)[1] <= 0.02
    # One session each: how much sessions differ is not known, and two of them agree by chance.
    assert simulate(claims_drawn=60, sessions=1, runs=5, shared=False)[1] == 0


def test_programs_of_other_sessions_are_two_witnesses_of_a_true_difference() -> None:
    """All of 1,000 claims; three sessions find 73 %."""
    assert simulate(claims_drawn=40, sessions=5, runs=3, shared=False, effect=0.05)[1] >= 0.95


def main() -> None:
    for shared in (True, False):
        for sessions, runs in ((1, 3), (1, 5), (1, 10), (2, 3), (3, 3), (5, 3)):
            same, true = (
                simulate(claims_drawn=1000, sessions=sessions, runs=runs, shared=shared, effect=effect)
                for effect in (0.0, 0.05)
            )
            print(f"| {shared} | {sessions} x {runs} | {same[0]:.1%} / {same[1]:.1%} | {true[0]:.0%} / {true[1]:.0%} |")  # noqa: T201
