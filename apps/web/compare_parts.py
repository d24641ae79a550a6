"""The parts of the Compare page that stand beside its answer, in their order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from apps.comparison.sections.section import NotKept
from apps.web import (
    compare_comparability,
    compare_corroboration,
    compare_cost,
    compare_differences,
    compare_everything,
    compare_ladder,
    compare_quality,
    compare_steadiness,
    compare_use,
    compare_work,
)
from apps.web.compare_seen import Part, Seen, nothing_of_today

PARTS: tuple[Part, ...] = (
    Part("comparability", "Comparability", "sides", "web/compare_comparability.html", compare_comparability.context),
    Part("differences", "Differences", "sides", "web/compare_differences.html", compare_differences.context),
    Part("quality", "Quality of the runs", "sides", "web/compare_quality.html", compare_quality.context),
    Part("ladder", "Over threads", "answer", "web/compare_ladder.html", compare_ladder.context, lazy=True),
    Part(
        "use", "What limits each side", "answer", "web/compare_use.html", compare_use.context, lazy=True, at_once=True
    ),
    Part(
        "all-metrics",
        "Everything that was measured",
        "answer",
        "web/compare_everything.html",
        compare_everything.context,
        lazy=True,
    ),
    Part(
        "steadiness",
        "Steadiness",
        "latency",
        "web/compare_steadiness.html",
        compare_steadiness.context,
        lazy=True,
        nothing=compare_steadiness.NOTHING,
    ),
    Part("work", "Work for each transaction", "seconds", "web/compare_work.html", compare_work.context, lazy=True),
    Part(
        "corroboration",
        "Who bears it out",
        "seconds",
        "web/compare_corroboration.html",
        compare_corroboration.context,
        lazy=True,
    ),
    Part("cost", "Cost and scale-up", "seconds", "web/compare_cost.html", compare_cost.context, lazy=True),
)


@dataclass(frozen=True)
class Shown:
    """A part as the page has it: its HTML, or (empty) where htmx fetches it from."""

    part: Part
    html: SafeString
    url: str


def shown(seen: Seen, parts: Sequence[Part] | None = None) -> dict[str, list[Shown]]:
    """The parts by the section that they follow; those with nothing to say are left out."""
    found: dict[str, list[Shown]] = {}
    for part in PARTS if parts is None else parts:
        url = seen.address.part_url(part.name)
        html = SafeString("") if part.lazy else rendered(part, seen)
        if html is not None:
            found.setdefault(part.after, []).append(Shown(part, html, url))
    return found


def rendered(part: Part, seen: Seen) -> SafeString | None:
    """Its HTML; None: it has nothing to say here. An edition of a saved comparison that does not hold the part says
    so: what is true now is never shown in its place."""
    try:
        with nothing_of_today(seen):
            own = part.context(seen)
    except NotKept:
        return render_to_string("web/compare_part_not_kept.html", common(seen) | {"part": part}, seen.request)
    return None if own is None else render_to_string(part.template, common(seen) | own, seen.request)


def common(seen: Seen) -> dict[str, Any]:
    """What every part's template may use."""
    comparison = seen.comparison
    return {
        "comparison": comparison,
        "baseline": comparison.sides[0],
        "others": comparison.sides[1:],
        "address": seen.address,
        "level": seen.level,
    }
