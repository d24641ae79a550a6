"""The cost part of the Compare page: prices of the sides, cost of their work, and gains of larger hardware."""

from dataclasses import dataclass, replace
from typing import Any

from apps.comparison.api import COST_SECTION, HOURS_A_MONTH, MOST_SIDES, ComparedCost, OtherSize
from apps.comparison.pure import (
    Comparison,
    Direction,
    Gain,
    Level,
    Ratio,
    Side,
    StepUp,
    interval_text,
    ratio_text,
    welch,
)
from apps.core.units import all_digits, format_number
from apps.web.compare.view import CompareView
from apps.web.compare.wording import answers, table
from apps.web.components.addresses import price_address


@dataclass(frozen=True)
class ShownRatio:
    """`words`: the verdict; `note`: why there is no interval."""

    text: str
    interval: str
    words: str
    note: str
    title: str


def context(seen: CompareView) -> dict[str, Any] | None:
    found = seen.read(COST_SECTION)
    if found is None:
        return None
    comparison = seen.comparison
    sides = {side.slug: side for side in comparison.sides}
    judged = replace(comparison, metrics=(found.metric,), cells=found.cells)
    priced = {cost.side for cost in found.sides if cost.usd_per_hour is not None}
    return {
        "cost": found,
        "systems": [(sides[cost.side], cost) for cost in found.sides],
        "unpriced": _unpriced(seen, found),
        "priced": priced,
        "answers": [each for each in answers(judged) if {comparison.sides[0].slug, each.side.slug} <= priced],
        "rows": [(row, row.entries[0], row.side.slug in priced) for row in table(judged)] if priced else [],
        "steps": [_step(comparison, step) for step in found.steps],
        "others": _others(seen, found),
        "hours": HOURS_A_MONTH,
        "has_rates": any(level.rate is not None for level in comparison.levels),
    }


def _unpriced(seen: CompareView, found: ComparedCost) -> list[tuple[str, str, str]]:
    """Slug and name of machines without a price, each once, and the form that states it and returns here."""
    back = seen.address.with_tab("cost").url()
    lacking = {each.slug: each.name for cost in found.sides for each in cost.machines if each.usd_per_hour is None}
    return [(slug, name, price_address(slug, back=back)) for slug, name in lacking.items()]


def _others(seen: CompareView, found: ComparedCost) -> list[tuple[OtherSize, Side, str]]:
    """Systems that could be added as a side, with the address for it; empty if the maximum is reached."""
    asked = seen.address.live()
    if len(asked.sides) >= MOST_SIDES:
        return []
    sides = {side.slug: side for side in seen.comparison.sides}
    return [
        (each, sides[each.of], replace(asked, sides=(*asked.sides, each.system), runs=None).url())
        for each in found.others
    ]


def _step(comparison: Comparison, step: StepUp) -> dict[str, Any]:
    sides = {side.slug: side for side in comparison.sides}
    levels = {level.id: level for level in comparison.levels}
    return {
        "small": sides[step.small],
        "large": sides[step.large],
        "price": _times(step.price),
        "vcpu": _times(step.vcpu),
        "gains": [
            {
                "at": _at(gain, levels, sides[step.small], sides[step.large]),
                "throughput": _shown(gain.throughput),
                "per_price": gain.per_price and _shown(gain.per_price),
                "per_vcpu": gain.per_vcpu and _shown(gain.per_vcpu),
            }
            for gain in step.gains
        ],
    }


def _times(exact: float | None) -> str:
    return "" if exact is None else f"{format_number(exact)}\N{NO-BREAK SPACE}×"


def _at(gain: Gain, levels: dict[int, Level], small: Side, large: Side) -> str:
    if gain.level is not None:
        return levels[gain.level].text
    less, more = (levels[level].text for level in gain.levels)
    return f"each at its best: {less}" + ("" if less == more else f" ({small.name}), {more} ({large.name})")


def _shown(ratio: Ratio) -> ShownRatio:
    interval = interval_text(ratio)
    known = [] if ratio.value is None else [f"ratio {all_digits(ratio.value)}"]
    ends = [f"95 % interval {all_digits(ratio.low)} to {all_digits(ratio.high)}"] if interval else []
    return ShownRatio(
        text=ratio_text(ratio),
        interval=interval,
        words=welch.words(ratio.verdict, Direction.HIGHER),
        note="" if interval else ratio.reason,
        title="; ".join([*known, *ends]),
    )
