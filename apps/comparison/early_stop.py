"""Load levels of a campaign that need no more repetitions, with the reason."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from apps.comparison import compare
from apps.comparison.selection.sides import FEWEST_SIDES, chosen_sides
from apps.comparison.stats import sequential
from apps.comparison.stats.power import FEWEST_RUNS
from apps.comparison.stats.replicates import WITHIN_ONE
from apps.comparison.stats.welch import Verdict, words
from apps.comparison.values import DraftCell
from apps.comparison.wording import interval_words, ratio_text
from apps.core.problems import Invalid


def until_decided(
    *,
    systems: Sequence[str],
    workload_id: int,
    campaign: int,
    levels: Sequence[int],
    comparisons: int,
    looked: int,
    most: int,
    unit: str,
    until: str,
) -> dict[int, str]:
    """Load level -> why. Every side is compared with the first of `systems` in the headline metric, with bounds that
    allow for a look after each of at most `most` repetitions or sessions (`unit`), of which `looked` are complete, and
    for all `comparisons` of the plan: those that are decided count on. Empty while a run is missing."""
    if len(systems) < FEWEST_SIDES or not FEWEST_RUNS <= looked < most:
        return {}
    try:
        (draft,) = compare.judge([chosen_sides(systems, workload_id)], campaign=campaign)
    except Invalid:
        return {}
    names = {side.slug: side.name for side in draft.sides}
    cells: dict[int, list[DraftCell]] = defaultdict(list)
    for cell in draft.cells:
        if cell.metric.primary and cell.ratio is not None and cell.level in levels:
            cells[cell.level].append(cell)
    level = sequential.level_at(looked, most, cells=comparisons, are_sessions=unit == "session")
    found: dict[int, str] = {}
    for pk, own in cells.items():
        said = [_decided(cell, names[cell.side], level, until) for cell in own if _is_whole(cell, looked, unit)]
        if len(said) == len(systems) - 1 and all(said):
            found[pk] = f"decided after {looked} of {most} {unit}s: {'; '.join(said)}"
    return found


def _is_whole(cell: DraftCell, looked: int, unit: str) -> bool:
    """Sessions that the runs do not show, as where no Uptime was sampled, are none."""
    if cell.ratio is None or len(cell.replicates) < looked:
        return False
    ratio = cell.ratio.alone
    return unit != "session" or (ratio.replicates not in WITHIN_ONE and min(ratio.counts or (0,)) >= looked)


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
    return f"{name} {words(verdict, cell.metric.direction)}, {ratio_text(shown)} ({interval_words(shown)})"
