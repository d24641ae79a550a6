"""Changes of a comparison's parts with data beyond its own runs, in sentences: prices and machines (cost), other
workloads and published results (agreement across tools). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from apps.saved.changes import MOST_LISTED, answer, listed, plural

if TYPE_CHECKING:
    from apps.comparison.api import ComparedCost, SideClaim, SideCost, ToolAgreement, WorkloadResult


def cost_changes(seen: ComparedCost | None, now: ComparedCost | None, names: Mapping[str, str]) -> list[str]:
    """`names` of the sides. The rest of the cost follows from these and from the runs."""
    before = {each.side: each for each in seen.sides} if seen else {}
    after = {each.side: each for each in now.sides} if now else {}
    both = [(names[side], before[side], after[side]) for side in after if side in before]
    sentences = [text for name, old, new in both if (text := _cost(name, old, new))]
    if before.keys() != after.keys():
        sentences.append("Costs were added or removed.")
    return sentences


def _cost(name: str, seen: SideCost, now: SideCost) -> str:
    if seen.usd_per_hour != now.usd_per_hour:
        return f"{name} {_price(now, 'costs', 'has')} now, and {_price(seen, 'cost', 'had')} then."
    if _machines(seen) != _machines(now):
        return f"The machines of {name}, their vCPU or their prices have changed."
    return ""


def _price(cost: SideCost, costs: str, has: str) -> str:
    return f"{has} no price" if cost.usd_per_hour is None else f"{costs} {cost.usd_per_hour:.9g} USD/h"


def _machines(cost: SideCost) -> list[tuple[object, ...]]:
    return sorted(
        (each.slug, each.count, *map(str, (each.vcpu, each.usd_per_hour, each.price_source, each.price_date)))
        for each in cost.machines
    )


def agreement_changes(seen: ToolAgreement | None, now: ToolAgreement | None, names: Mapping[str, str]) -> list[str]:
    """`names` of the sides."""
    before, after = _claims(seen), _claims(now)
    sentences = [text for key in {**before, **after} for text in _claim(before.get(key), after.get(key), names)]
    more = [f"{len(sentences) - MOST_LISTED:,} more such changes."] if len(sentences) > MOST_LISTED else []
    return [*sentences[:MOST_LISTED], *more]


def _claims(found: ToolAgreement | None) -> dict[tuple[str, str], SideClaim]:
    return {(claim.side, claim.kind): claim for claim in found.claims} if found else {}


def _claim(seen: SideClaim | None, now: SideClaim | None, names: Mapping[str, str]) -> Iterable[str]:
    one = now or seen
    assert one is not None, "a claim has an old or a new value"  # noqa: S101
    about = f"Agreement across tools, {names.get(one.side, one.side)}, {one.kind_words}"
    before, after = _results(seen), _results(now)
    added = [each.workload.name for key, each in after.items() if key not in before]
    gone = [each.workload.name for key, each in before.items() if key not in after]
    others = [
        each.workload.name for key, each in after.items() if key in before and _content(each) != _content(before[key])
    ]
    if (verdicts := (seen.says if seen else "nothing", now.says if now else "nothing")) and verdicts[0] != verdicts[1]:
        yield f"{about}: {verdicts[0]} then, {verdicts[1]} now."
    if added:
        yield f"{about}: {listed(added)} {plural(added, 'was', 'were')} added."
    if gone:
        yield f"{about}: {listed(gone)} {plural(gone, 'was', 'were')} removed."
    if others:
        yield f"{about}: verdicts or figures of {listed(others)} have changed."
    if _stated(seen) != _stated(now):
        yield f"{about}: published results have changed."


def _results(claim: SideClaim | None) -> dict[int, WorkloadResult]:
    """Workload -> its result."""
    return {each.workload.id: each for each in (*claim.agree, *claim.contradict, *claim.cannot_tell)} if claim else {}


def _content(result: WorkloadResult) -> list[Any]:
    return [result.says, *([each.level.id, *answer(each.cell)] for each in result.testimony)]


def _stated(claim: SideClaim | None) -> Sequence[tuple[str, ...]]:
    return sorted((each.article, each.says, each.exact) for each in claim.stated) if claim else []
