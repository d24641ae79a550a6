"""Differences between a saved comparison and the same comparison today, in sentences. Pure."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from apps.comparison.pure import Cell, ComparedRun, Comparison, interval_text, label, ratio_text, serialisation
from apps.core.canonical import canonical_hash
from apps.core.text import counted
from apps.runs.pure import title_of

# More figures, or runs of one kind, than this are counted instead of listed.
MOST_LISTED = 8


def state_hash(comparison: Comparison) -> str:
    """Equal for comparisons with the same runs and results, independent of names."""
    return canonical_hash(
        {
            "runs": sorted([run.id, *sorted(run.failed_checks)] for run in comparison.counted),
            "cells": {repr(_place(cell)): answer(cell) for cell in comparison.cells},
            "differences": [[each.field, *each.values] for each in comparison.differences],
            "withheld": sorted(comparison.withheld),
        }
    )


def changes(seen: Comparison, now: Comparison) -> tuple[str, ...]:
    """Sentences, the runs first; empty: no change that state_hash covers."""
    return (
        *_runs(seen, now),
        *_checks(seen, now),
        *_differences(seen, now),
        *_withheld(seen, now),
        *_figures(seen, now),
    )


def _place(cell: Cell) -> tuple[str, int, str]:
    return cell.side, cell.level, cell.metric


def answer(cell: Cell) -> list[str]:
    """Verdict, value, ratio and interval, in comparable form."""
    ratio = cell.ratio
    numbers = [cell.summary.value if cell.summary else None]
    numbers += [ratio.value, ratio.low, ratio.high] if ratio else []
    return [serialisation.first_name(cell.words), *("" if number is None else _digits(number) for number in numbers)]


def _ratio(cell: Cell) -> list[str]:
    """Ratio and interval; empty without a ratio."""
    return answer(cell)[2:]


def _digits(number: float) -> str:
    """Nine significant digits: the last ones depend on the machine."""
    return f"{number:.9g}" if math.isfinite(number) else str(number)


def _runs(seen: Comparison, now: Comparison) -> Iterable[str]:
    before = {run.id: run for run in seen.counted}
    after = {run.id: run for run in now.counted}
    listed = {run.id: run for run in now.left_out}
    added = [run for key, run in after.items() if key not in before]
    gone = [run for key, run in before.items() if key not in after]
    for text, runs in _by_place(now, added).items():
        yield f"{_named(runs)} of {text} {plural(runs, 'counts', 'count')} now and did not then."
    for run in [run for run in gone if run.id in listed]:
        text = next(iter(_by_place(seen, [run])))
        yield f"Run {run.id} of {text} no longer counts: {listed[run.id].left_out}."
    rest = [run for run in gone if run.id not in listed]
    for text, runs in _by_place(seen, rest).items():
        yield (
            f"{_named(runs)} of {text} {plural(runs, 'is', 'are')} not among those compared any more: "
            "newer ones took their place, or they were removed."
        )


def _checks(seen: Comparison, now: Comparison) -> Iterable[str]:
    """Quality checks that changed, of runs that count both then and now."""
    before = {run.id: set(run.failed_checks) for run in seen.counted}
    turned: dict[tuple[str, bool], list[ComparedRun]] = defaultdict(list)
    for run in now.counted:
        for key in sorted(before.get(run.id, set()) ^ set(run.failed_checks)) if run.id in before else ():
            turned[key, key in run.failed_checks].append(run)
    for (key, fails), runs in turned.items():
        verb = plural(runs, "fails", "fail") if fails else plural(runs, "passes", "pass")
        yield f"{_named(runs)} {verb} a check now that {plural(runs, 'it', 'they')} did not then: {title_of(key)}."


def _by_place(comparison: Comparison, runs: Sequence[ComparedRun]) -> dict[str, list[ComparedRun]]:
    """Text such as "Beta at 4 threads" -> runs."""
    names = {side.slug: side.name for side in comparison.sides}
    levels = {level.id: level.text for level in comparison.levels}
    found: dict[str, list[ComparedRun]] = defaultdict(list)
    for run in runs:
        found[f"{names[run.side]} at {levels[run.level]}"].append(run)
    return found


def _named(runs: Sequence[ComparedRun]) -> str:
    if len(runs) > MOST_LISTED:
        return f"{len(runs):,} runs"
    return f"{plural(runs, 'Run', 'Runs')} {', '.join(str(run.id) for run in runs)}"


def plural(things: Sequence[Any], one: str, many: str) -> str:
    return one if len(things) == 1 else many


def _differences(seen: Comparison, now: Comparison) -> Iterable[str]:
    before = {each.field: each for each in seen.differences}
    after = {each.field: each for each in now.differences}
    listed = [
        *(f"{each.label} (new: {' / '.join(each.values)})" for key, each in after.items() if key not in before),
        *(f"{each.label} (no difference any more)" for key, each in before.items() if key not in after),
        *(
            f"{each.label} ({' / '.join(before[key].values)} then, {' / '.join(each.values)} now)"
            for key, each in after.items()
            if key in before and each.values != before[key].values
        ),
    ]
    if listed:
        more = f" and {len(listed) - MOST_LISTED:,} more" if len(listed) > MOST_LISTED else ""
        yield f"Configuration differences have changed: {'; '.join(listed[:MOST_LISTED])}{more}."


def _withheld(seen: Comparison, now: Comparison) -> Iterable[str]:
    labels = {each.field: each.label for each in (*seen.differences, *now.differences)}
    lifted = [labels.get(field, field) for field in seen.withheld if field not in now.withheld]
    added = [labels.get(field, field) for field in now.withheld if field not in seen.withheld]
    if lifted:
        yield f"Verdicts were withheld because of {listed(lifted)}, and are not any more."
    if added:
        yield f"Verdicts are withheld now because of {listed(added)}, and were not then."


def listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def _figures(seen: Comparison, now: Comparison) -> Iterable[str]:
    """Changed verdicts first, then ratios, then values."""
    before = {_place(cell): cell for cell in seen.cells}
    changed = [
        (before[_place(cell)], cell)
        for cell in now.cells
        if _place(cell) in before and answer(cell) != answer(before[_place(cell)])
    ]
    turned = [(old, new) for old, new in changed if old.words != new.words]
    moved = [(old, new) for old, new in changed if old.words == new.words and _ratio(old) != _ratio(new)]
    others = len(changed) - len(turned) - len(moved)
    names = {side.slug: side.name for side in now.sides}
    levels = {level.id: level.text for level in now.levels}
    metrics = {metric.key: label(metric) for metric in now.metrics}
    for old, new in [*turned, *moved][:MOST_LISTED]:
        where = f"{names[new.side]} at {levels[new.level]}, {metrics[new.metric]}"
        yield f"{where}: {_cell_text(old)} then, {_cell_text(new)} now."
    more = max(len(turned) + len(moved) - MOST_LISTED, 0)
    if more:
        yield f"{counted(more, 'more ratio')} changed."
    if others and not turned and not moved:
        yield f"{counted(others, 'value')} changed, and no ratio."


def _cell_text(cell: Cell) -> str:
    ratio = cell.ratio
    figures = f" {ratio_text(ratio)} {interval_text(ratio)}".rstrip() if ratio and ratio.value is not None else ""
    return f"{cell.words or 'baseline'}{figures}"
