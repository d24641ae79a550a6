"""Steadiness on the Compare page: verdicts on variation and throughput dips, and box plots of every run's seconds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.comparison.api import DIPS, STEADINESS_SECTION, VARIATION, WORST, ComparedSteadiness, RunSteadiness
from apps.comparison.pure import DIP_SHARE, FEWEST_VALUES, NO_ERRORS, Box, Comparison, Level
from apps.core import units
from apps.core.text import and_list, counted
from apps.web.compare.charts import ChartSide, chart_sides
from apps.web.compare.view import CompareView
from apps.web.compare.wording import TableRow, answers, run_words, table

# Number of runs per side, the newest, that get a box.
MOST_BOXES = 20
# Rows of the table that are not folded: else those of the chosen level stand above the fold.
SHOWN_AT_ONCE = 8
NOTHING = f"No run has throughput of {FEWEST_VALUES} seconds or more in its measured phase: fewer give no spread."
# Quantities with a sentence each.
ANSWERED = (VARIATION.key, DIPS.key, WORST.key)


@dataclass(frozen=True)
class SteadinessRow:
    """A run in the table below the boxes; `worst` and `longest` with their times."""

    known: RunSteadiness
    side: Any
    variation: float | None
    hiccups: float | None
    longest: str
    worst: float
    worst_at: str
    median: float
    failed_checks: tuple[str, ...]


@dataclass(frozen=True)
class SpreadBox:
    """One run, or (`run` None) all runs of a side together. `doubted`: it failed a quality check, as `label` says."""

    side: int
    label: str
    run: int | None
    runs: int
    doubted: bool
    box: Box


@dataclass(frozen=True)
class SteadinessChart:
    """Boxes side by side: per side all runs together, then each run."""

    level: str
    name: str
    unit: str
    sides: Sequence[ChartSide]
    boxes: Sequence[SpreadBox]


def context(seen: CompareView) -> dict[str, Any] | None:
    found = seen.read(STEADINESS_SECTION)
    if found is None:
        return None
    level = seen.level or seen.comparison.levels[0]
    part = replace(seen.comparison, metrics=found.metrics, cells=found.cells)
    runs = [run for run in found.runs if run.level == level.id]
    return {
        "steadiness": found,
        "answers": [answer for answer in answers(part) if answer.metric.key in ANSWERED],
        "none_words": NO_ERRORS,
        **_rows(table(part), level),
        "run_rows": _run_rows(seen.comparison, runs),
        "chart": chart(seen.comparison, found, level),
        "shown_level": level,
        "most_boxes": MOST_BOXES,
        "hiccup": DIP_SHARE,
        "fewest": FEWEST_VALUES,
    }


def _rows(rows: Sequence[TableRow], level: Level) -> dict[str, Any]:
    shown = [row for row in rows if row.level == level] if len(rows) > SHOWN_AT_ONCE else list(rows)
    others = [row for row in rows if row not in shown]
    levels = list(dict.fromkeys(row.level.text for row in others))
    return {
        "shown_rows": shown,
        "shown_words": and_list(list(dict.fromkeys(row.level.text for row in shown))),
        "other_rows": others,
        "other_levels": levels,
        "other_words": and_list(levels),
    }


def chart(comparison: Comparison, found: ComparedSteadiness, level: Level) -> SteadinessChart:
    boxes = []
    failed = {run.id: run.failed_checks for run in comparison.counted}
    for side in comparison.sides:
        together = next((each for each in found.boxes if (each.side, each.level) == (side.slug, level.id)), None)
        if together is None:
            continue
        words = f"{counted(together.runs, 'run')} together"
        boxes.append(SpreadBox(side.position, words, None, together.runs, doubted=False, box=together.box))
        own = [run for run in found.runs if (run.side, run.level) == (side.slug, level.id)]
        boxes += [
            SpreadBox(
                side=side.position,
                label=run_words(run.run, checks := failed.get(run.run, ())),
                run=run.run,
                runs=1,
                doubted=bool(checks),
                box=run.steadiness.box,
            )
            for run in own[-MOST_BOXES:]
        ]
    return SteadinessChart(level.key, found.name, found.unit, chart_sides(comparison), boxes)


def _run_rows(comparison: Comparison, runs: Sequence[RunSteadiness]) -> list[SteadinessRow]:
    sides = {side.slug: side for side in comparison.sides}
    failed = {run.id: run.failed_checks for run in comparison.counted}
    return [
        _run_row(run, sides[run.side], tuple(failed.get(run.run, ())))
        for run in sorted(runs, key=lambda run: sides[run.side].position)
    ]


def _run_row(run: RunSteadiness, side: Any, failed_checks: tuple[str, ...]) -> SteadinessRow:
    known = run.steadiness
    longest = known.longest
    return SteadinessRow(
        known=run,
        side=side,
        variation=None if known.variation is None else 100 * known.variation,
        hiccups=None if known.hiccups is None else 100 * known.hiccups,
        longest=_when(longest.length, longest.start)
        if longest and longest.length
        else "none"
        if longest
        else "not known",
        worst=known.box.least,
        worst_at=f"at {units.format_number(known.worst_at)} s of the measured phase",
        median=known.box.p50,
        failed_checks=failed_checks,
    )


def _when(length: float, start: float) -> str:
    return f"{units.format_number(length)} s from {units.format_number(start)} s on"
