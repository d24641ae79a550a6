"""What failed quality checks mean for the claim about each side at one load level. Pure."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from apps.comparison.stats.welch import Direction, Verdict
from apps.comparison.values import Cell, ComparedMetric, Comparison, Level
from apps.core.answers import Shown, Words
from apps.core.text import and_list

# Keys of the checks that each run failed.
Runs = Sequence[Collection[str]]
# What did not do its work is worth nothing; a bottleneck outside the servers makes unequal sides more alike; the rest
# leaves the claim true of what was measured, but less general or less certain than it looks. Gaps between samples
# concern what limits the sides, not how fast they are.
VOID = ("happened", "told")
OUTSIDE = ("generator", "network")
LOCAL = ("neighbours",)
UNSTEADY = ("steady", "reproducible", "errors")
# Share of a side's runs at the level that must fail for a check to limit the claim; one suffices to make it void.
MOST = 0.5


class Meaning(StrEnum):
    """The worst first."""

    VOID = "void"
    UPPER_BOUND = "upper bound"
    LOWER_BOUND = "lower bound"
    HIDDEN = "hidden difference"
    LOCAL = "this machine only"
    UNCERTAIN = "uncertain"


CAUSES = {
    "happened": "the servers did not do the work that the load generator counted",
    "told": "the tool's own checks failed",
    "generator": "the load generator ran short of CPU or took the servers'",
    "network": "the network was a limit",
    "neighbours": "other work shared the hosts",
    "steady": "no steady state was reached",
    "reproducible": "runs under the same conditions disagree",
    "errors": "operations failed",
}
HEADS = {
    Meaning.VOID: "Not usable",
    Meaning.UPPER_BOUND: "Upper bound",
    Meaning.LOWER_BOUND: "Lower bound",
    Meaning.HIDDEN: "May hide a difference",
    Meaning.LOCAL: "Holds for these machines only",
    Meaning.UNCERTAIN: "Less certain than its interval",
}
MEANS = {
    Meaning.VOID: "do not use the result",
    Meaning.UPPER_BOUND: "the servers differ at most this much, perhaps not at all",
    Meaning.LOWER_BOUND: "the servers differ at least this much; the size is not portable",
    Meaning.HIDDEN: "the servers may differ more than was seen",
    Meaning.LOCAL: "the direction holds here; the size is not portable",
    Meaning.UNCERTAIN: "other runs may give another size",
}


@dataclass(frozen=True)
class ClaimLimit:
    """How `checks` limit the claims about `sides`. `failed` of the `runs` of these and the baseline at the level failed
    any of them."""

    meaning: Annotated[Meaning, "what the failed checks make of the verdict"]
    checks: Annotated[tuple[str, ...], "keys of quality checks"]
    sides: Annotated[tuple[str, ...], "the claims about these, against the baseline"]
    failed: Annotated[int, "runs of these sides and the baseline at the level that failed any of the checks"]
    runs: Annotated[int, "runs of these sides and the baseline at the level"]

    @property
    def head(self) -> str:
        return HEADS[self.meaning]

    @property
    def text(self) -> str:
        """What failed, and what it means."""
        return f"{and_list([CAUSES[key] for key in self.checks])}; {MEANS[self.meaning]}."

    @property
    def words(self) -> Annotated[Shown[Words], "the same in a sentence"]:
        return f"{self.head}: {self.text}"


@dataclass(frozen=True)
class LimitedClaims:
    """The verdicts at a load level in a metric that failed checks limit."""

    level: Annotated[int, "id of a load level"]
    metric: Annotated[str, "key"]
    limits: Annotated[tuple[ClaimLimit, ...], "the worst first"]


def limited_claims(comparison: Comparison) -> tuple[LimitedClaims, ...]:
    """Of the whole comparison; levels and metrics that nothing limits are left out."""
    found = (
        LimitedClaims(level.id, metric.key, tuple(claim_limits(comparison, level, metric)))
        for level in comparison.levels
        for metric in comparison.metrics
        if metric.kind != "errors"
    )
    return tuple(each for each in found if each.limits)


def claim_limits(comparison: Comparison, level: Level, metric: ComparedMetric) -> list[ClaimLimit]:
    """Of the claims of this level in this metric, the worst first."""
    baseline, *others = comparison.sides
    runs = {side.slug: _runs(comparison, level, side.slug) for side in comparison.sides}
    found: dict[tuple[Meaning, tuple[str, ...]], list[str]] = defaultdict(list)
    for side in others:
        if not runs[side.slug] or not runs[baseline.slug]:
            continue
        cell = comparison.cell(side=side.slug, level=level.id, metric=metric.key)
        for meaning, checks in _meanings(runs[side.slug], runs[baseline.slug], _is_better(cell, metric)).items():
            found[meaning, checks].append(side.slug)
    return _worst_first(
        _limit(meaning, checks, sides, [run for slug in (baseline.slug, *sides) for run in runs[slug]])
        for (meaning, checks), sides in found.items()
    )


def limits_between(before: Runs, after: Runs, *, is_better: bool | None) -> list[ClaimLimit]:
    """Of the claim that `after` is better (None: neither better nor worse) than `before`, the worst first."""
    if not before or not after:
        return []
    found = _meanings(after, before, is_better).items()
    return _worst_first(_limit(meaning, checks, (), [*before, *after]) for meaning, checks in found)


def _worst_first(limits: Iterable[ClaimLimit]) -> list[ClaimLimit]:
    return sorted(limits, key=lambda each: list(Meaning).index(each.meaning))


def _runs(comparison: Comparison, level: Level, side: str) -> Runs:
    return [run.failed_checks for run in comparison.counted if (run.level, run.side) == (level.id, side)]


def _limit(meaning: Meaning, checks: tuple[str, ...], sides: Sequence[str], runs: Runs) -> ClaimLimit:
    failed = sum(not set(checks).isdisjoint(run) for run in runs)
    return ClaimLimit(meaning, checks, tuple(sides), failed, len(runs))


def _is_better(cell: Cell, metric: ComparedMetric) -> bool | None:
    verdict = cell.ratio.verdict if cell.ratio else None
    if verdict not in (Verdict.HIGHER, Verdict.LOWER) or metric.direction is Direction.NEUTRAL:
        return None
    return (verdict is Verdict.HIGHER) == (metric.direction is Direction.HIGHER)


def _meanings(own: Runs, base: Runs, is_better: bool | None) -> dict[Meaning, tuple[str, ...]]:
    either = {
        Meaning.VOID: tuple(key for key in VOID if _share(key, own) or _share(key, base)),
        Meaning.UNCERTAIN: _failing(UNSTEADY, own, base),
    }
    outside, local = _failing(OUTSIDE, own, base), _failing(LOCAL, own, base)
    if is_better is None:  # no direction is known that could hold anywhere
        either[Meaning.HIDDEN] = (*outside, *local)
    else:
        either[Meaning.LOCAL] = local
        either[_bound(outside, own, base, is_better)] = outside
    return {meaning: checks for meaning, checks in either.items() if checks}


def _failing(keys: Collection[str], *sides: Runs) -> tuple[str, ...]:
    return tuple(key for key in keys if any(_share(key, runs) >= MOST for runs in sides))


def _share(key: str, runs: Runs) -> float:
    return sum(key in run for run in runs) / len(runs)


def _bound(checks: Collection[str], own: Runs, base: Runs, is_better: bool) -> Meaning:
    """What is limited from outside could have been faster. Where that is the faster side, or both alike, the servers
    differ at least as much as was seen; where it is the slower side alone, at most."""
    return Meaning.LOWER_BOUND if _failing(checks, own if is_better else base) else Meaning.UPPER_BOUND
