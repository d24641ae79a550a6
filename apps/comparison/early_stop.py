"""Load levels of a campaign that need no more repetitions, with the reason."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from apps.comparison import compare
from apps.comparison.selection.sides import FEWEST_SIDES, chosen_sides
from apps.comparison.stats import sequential
from apps.comparison.stats.power import FEWEST_RUNS
from apps.comparison.stats.replicates import WITHIN_ONE
from apps.comparison.stats.welch import Verdict, words
from apps.comparison.tables.verdict_table import THROUGHPUT
from apps.comparison.values import Draft, DraftCell
from apps.comparison.wording import interval_words, label, ratio_text
from apps.core.problems import Invalid


def until_decided(
    *,
    systems: Sequence[str],
    workload_id: int,
    campaign: int,
    runs: Mapping[int, int],
    levels: Sequence[int],
    comparisons: int,
    looked: int,
    most: int,
    unit: str,
    until: str,
) -> dict[int, str]:
    """Load level -> why. Every side is compared with the first of `systems` in the headline metric, at a fixed rate in
    latency, with bounds that allow for a look after each of at most `most` repetitions or sessions (`unit`), of which
    `looked` are complete, and for all `comparisons` of the plan: those that are decided count on. `runs`: those of the
    complete ones, each with the number of its unit. A side of which runs are missing has seen less of the plan, and
    looks accordingly."""
    if len(systems) < FEWEST_SIDES or not FEWEST_RUNS <= looked < most:
        return {}
    try:
        chosen = chosen_sides(systems, workload_id, most=len(systems))
        (draft,) = compare.judge([chosen], campaign=campaign, runs=list(runs))
    except Invalid:
        return {}
    names = {side.slug: side.name for side in draft.sides}
    cells = [cell for cell in _deciding(draft) if cell.level in levels]
    baselines = {cell.level: cell for cell in cells if cell.ratio is None}
    said: dict[int, list[str]] = defaultdict(list)
    for cell in cells:
        seen = _seen(cell, baselines[cell.level], runs, looked=looked, unit=unit) if cell.ratio is not None else 0
        if seen >= FEWEST_RUNS:
            level = sequential.level_at(seen, most, cells=comparisons, are_sessions=unit == "session")
            said[cell.level].append(_decided(cell, names[cell.side], level, until))
    return {
        pk: f"decided after {looked} of {most} {unit}s: {'; '.join(own)}"
        for pk, own in said.items()
        if len(own) == len(systems) - 1 and all(own)
    }


def _deciding(draft: Draft) -> list[DraftCell]:
    """Of each load level those of one metric: throughput at a fixed rate is what was asked for, and has no interval."""
    asked = {level.id for level in draft.levels if level.rate is not None}
    primary = next((metric.key for metric in draft.metrics if metric.primary), "")
    latency = next((metric.key for metric in draft.metrics if metric.kind == "latency"), primary)
    at_rates = latency if primary == THROUGHPUT else primary
    return [cell for cell in draft.cells if cell.metric.key == (at_rates if cell.level in asked else primary)]


def _seen(cell: DraftCell, baseline: DraftCell, runs: Mapping[int, int], *, looked: int, unit: str) -> int:
    """How much of the plan is known: repetitions, or sessions, of the side with fewer of them. 0: no look, as each
    needs the newest one of both sides, or Uptime shows fewer starts than the plan has sessions."""
    sides = [{runs[each.run] for each in one.replicates} for one in (baseline, cell)]
    fewest = min(map(len, sides))
    if cell.ratio is None or not all(looked in side for side in sides):
        return 0
    ratio = cell.ratio.alone
    if unit == "session" and (ratio.replicates in WITHIN_ONE or min(ratio.counts or (0,)) < fewest):
        return 0
    return fewest


def _decided(cell: DraftCell, name: str, level: float, until: str) -> str:
    """Empty: not yet."""
    if cell.ratio is None:
        return ""
    ratio = cell.ratio.alone
    interval = sequential.repeated_interval(ratio, level)
    if interval is None or not sequential.is_enough(interval, until):
        return ""
    low, high = interval
    verdict = Verdict.HIGHER if low > 1 else Verdict.LOWER if high < 1 else Verdict.EQUIVALENT
    if until != sequential.VERDICT and low <= 1 <= high:
        verdict = Verdict.INCONCLUSIVE
    shown = replace(ratio, low=low, high=high)
    of = "" if cell.metric.primary else f" in {label(cell.metric)}"
    return f"{name} {words(verdict, cell.metric.direction)}{of}, {ratio_text(shown)} ({interval_words(shown)})"
