"""The tabs of the Compare page and their parts, in page order."""

from dataclasses import dataclass, replace
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from apps.comparison.pure import NotKept
from apps.core.problems import Invalid
from apps.core.text import counted
from apps.web.compare.sections import (
    agreement,
    all_metrics,
    comparability,
    cost,
    differences,
    latency,
    load_levels,
    quality,
    results,
    runs,
    seconds,
    steadiness,
    use_method,
    work,
)
from apps.web.compare.view import ALL, TABS, ComparePart, CompareView, no_current_data

PARTS: tuple[ComparePart, ...] = (
    ComparePart("results", "Results", "results", "web/compare/sections/results.html", results.context),
    ComparePart(
        "all-metrics",
        "All metrics",
        "results",
        "web/compare/sections/all_metrics.html",
        all_metrics.context,
        deferred=True,
    ),
    ComparePart(
        "corroboration",
        "Agreement across tools",
        "results",
        "web/compare/sections/agreement.html",
        agreement.context,
        deferred=True,
    ),
    ComparePart(
        "ladder", "Load levels", "scalability", "web/compare/load_levels/load_levels.html", load_levels.context
    ),
    ComparePart("use", "Limits", "limits", "web/compare/use_method/use_method.html", use_method.context),
    ComparePart("latency", "Latency by percentile", "latency", "web/compare/sections/latency.html", latency.context),
    ComparePart(
        "steadiness",
        "Steadiness",
        "steadiness",
        "web/compare/sections/steadiness.html",
        steadiness.context,
        nothing=steadiness.NOTHING,
    ),
    ComparePart("seconds", "Second by second", "steadiness", "web/compare/sections/seconds.html", seconds.context),
    ComparePart("work", "Work per transaction", "work", "web/compare/sections/work.html", work.context),
    ComparePart("cost", "Cost and scale-up", "cost", "web/compare/sections/cost.html", cost.context),
    ComparePart(
        "comparability",
        "Comparability",
        "differences",
        "web/compare/sections/comparability.html",
        comparability.context,
    ),
    ComparePart(
        "differences", "Differences", "differences", "web/compare/sections/differences.html", differences.context
    ),
    ComparePart("quality", "Run quality", "runs", "web/compare/sections/quality.html", quality.context),
    ComparePart("runs", "Runs", "runs", "web/compare/sections/runs.html", runs.context),
)


@dataclass(frozen=True)
class RenderedPart:
    """A part for the page: its HTML or, where that is to come, the address from which htmx fetches it."""

    part: ComparePart
    html: SafeString
    url: str


@dataclass(frozen=True)
class CompareTab:
    """`mark`: that it holds a problem, in a sign, with the words `problem`. `shown`: its parts; None: not opened."""

    name: str
    label: str
    url: str
    mark: str
    problem: str
    parts: tuple[str, ...]
    shown: list[RenderedPart] | None


def tabs(seen: CompareView) -> list[CompareTab]:
    opened = seen.address.tab
    marks = _marks(seen)
    return [
        CompareTab(
            name,
            label,
            seen.address.with_tab(name).url(),
            *marks.get(name, ("", "")),
            parts=tuple(part.name for part in PARTS if part.tab == name),
            shown=panel(seen, name, at_once=opened == ALL) if opened in (name, ALL) else None,
        )
        for name, label in TABS.items()
    ]


def _marks(seen: CompareView) -> dict[str, tuple[str, str]]:
    """What is known without opening the tab; that of Limits comes with its tab."""
    found = {}
    if doubted := sum(bool(run.failed_checks) for run in seen.comparison.counted):
        found["runs"] = (f"! {doubted:,}", f"{counted(doubted, 'run')} failed a quality check")
    if blocking := sum(each.accepted is None for each in seen.comparison.obstacles):
        found["differences"] = (f"! {blocking:,}", f"{counted(blocking, 'difference')} withhold verdicts")
    return found


def panel(seen: CompareView, tab: str, *, at_once: bool) -> list[RenderedPart]:
    """The parts of a tab. `at_once`: the deferred ones too."""
    inside = replace(seen, address=seen.address.with_tab(tab)) if seen.address.tab != ALL else seen
    return [
        RenderedPart(
            part,
            SafeString("") if part.deferred and not at_once else _complete(part, inside),
            inside.address.part_url(part.name),
        )
        for part in PARTS
        if part.tab == tab
    ]


def _complete(part: ComparePart, seen: CompareView) -> SafeString:
    """An empty part says so, and one whose options are refused says why."""
    own: dict[str, Any] = {"part": part}
    try:
        own["html"] = rendered(part, seen)
    except Invalid as error:
        own["problems"] = error.errors
    return render_to_string("web/compare/part.html", own, seen.request)


def rendered(part: ComparePart, seen: CompareView) -> SafeString | None:
    """HTML of the part; None: nothing to show.

    A snapshot that lacks the part gets a message: current data is never shown in its place.
    """
    try:
        with no_current_data(seen):
            own = part.context(seen)
    except NotKept:
        return render_to_string("web/compare/part_not_kept.html", common(seen) | {"part": part}, seen.request)
    return None if own is None else render_to_string(part.template, common(seen) | own, seen.request)


def common(seen: CompareView) -> dict[str, Any]:
    """Context shared by all parts' templates."""
    comparison = seen.comparison
    return {
        "comparison": comparison,
        "baseline": comparison.sides[0],
        "others": comparison.sides[1:],
        "address": seen.address,
        "level": seen.level,
        "level_links": [(each, replace(seen.address, level=each.key).url()) for each in comparison.levels],
    }
