"""The sections of the Compare page beside its answer, in page order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from apps.comparison.pure import NotKept
from apps.web.compare.sections import (
    agreement,
    all_metrics,
    comparability,
    cost,
    differences,
    load_levels,
    quality,
    steadiness,
    use_method,
    work,
)
from apps.web.compare.view import ComparePart, CompareView, no_current_data

PARTS: tuple[ComparePart, ...] = (
    ComparePart(
        "comparability", "Comparability", "sides", "web/compare/sections/comparability.html", comparability.context
    ),
    ComparePart("differences", "Differences", "sides", "web/compare/sections/differences.html", differences.context),
    ComparePart("quality", "Run quality", "sides", "web/compare/sections/quality.html", quality.context),
    ComparePart(
        "ladder", "Load levels", "answer", "web/compare/load_levels/load_levels.html", load_levels.context, lazy=True
    ),
    ComparePart(
        "use",
        "Limits",
        "answer",
        "web/compare/sections/use_method.html",
        use_method.context,
        lazy=True,
        at_once=True,
    ),
    ComparePart(
        "all-metrics",
        "All metrics",
        "answer",
        "web/compare/sections/all_metrics.html",
        all_metrics.context,
        lazy=True,
    ),
    ComparePart(
        "steadiness",
        "Steadiness",
        "latency",
        "web/compare/sections/steadiness.html",
        steadiness.context,
        lazy=True,
        nothing=steadiness.NOTHING,
    ),
    ComparePart("work", "Work per transaction", "seconds", "web/compare/sections/work.html", work.context, lazy=True),
    ComparePart(
        "corroboration",
        "Agreement across tools",
        "seconds",
        "web/compare/sections/agreement.html",
        agreement.context,
        lazy=True,
    ),
    ComparePart("cost", "Cost and scale-up", "seconds", "web/compare/sections/cost.html", cost.context, lazy=True),
)


@dataclass(frozen=True)
class RenderedPart:
    """A part for the page: its HTML or, if that is empty, the address from which htmx fetches it."""

    part: ComparePart
    html: SafeString
    url: str


def shown(seen: CompareView, parts: Sequence[ComparePart] | None = None) -> dict[str, list[RenderedPart]]:
    """The parts, by the section that they follow; empty ones are left out."""
    found: dict[str, list[RenderedPart]] = {}
    for part in PARTS if parts is None else parts:
        url = seen.address.part_url(part.name)
        html = SafeString("") if part.lazy else rendered(part, seen)
        if html is not None:
            found.setdefault(part.after, []).append(RenderedPart(part, html, url))
    return found


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
    }
