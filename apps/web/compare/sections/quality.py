"""Quality of the compared runs, in one line under the answer: failed checks, exclusions."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from apps.comparison.pure import ComparedRun
from apps.runs.pure import CHECKS, title_of
from apps.web.compare.view import CompareView


@dataclass(frozen=True)
class Doubt:
    """A check that `runs` of the counted runs failed. `sides`: (name, number of its runs)."""

    key: str
    title: str
    question: str
    runs: int
    sides: tuple[tuple[str, int], ...]


def context(seen: CompareView) -> dict[str, Any]:
    counted = seen.comparison.counted
    doubted = [run for run in counted if run.failed_checks]
    excluded = [run for run in seen.comparison.left_out if run.left_out.startswith("excluded")]
    return {
        "counted": len(counted),
        "doubted": len(doubted),
        "doubts": [_doubt(seen, key, doubted) for key in _keys(doubted)],
        "excluded": len(excluded),
    }


def _keys(doubted: list[ComparedRun]) -> list[str]:
    """Checks by number of failed runs, descending; ties in checklist order."""
    counts = Counter(key for run in doubted for key in run.failed_checks)
    order = {key: place for place, key in enumerate(CHECKS)}
    return sorted(counts, key=lambda key: (-counts[key], order.get(key, len(order))))


def _doubt(seen: CompareView, key: str, doubted: list[ComparedRun]) -> Doubt:
    counts = Counter(run.side for run in doubted if key in run.failed_checks)
    sides = tuple((side.name, counts[side.slug]) for side in seen.comparison.sides if counts[side.slug])
    return Doubt(key, title_of(key), CHECKS[key].question if key in CHECKS else "", sum(counts.values()), sides)
