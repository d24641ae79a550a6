"""The Matrix page: several sides against one baseline under all shared workloads; or a published article's ratios."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.catalog.models import System
from apps.comparison.api import LATENCY, PRIMARY, SCORECARD_FAMILIES, Matrix, MatrixRow, baselines, choices, matrix
from apps.comparison.api import MOST_SIDES as MOST_COMPARED
from apps.comparison.pure import WITHHELD
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import Address
from apps.published import matrix as published
from apps.runs.api import places
from apps.runs.models import Run
from apps.web.compare.view import CompareAddress
from apps.web.components.pages import refused_file, render_page, status_of
from apps.web.matrix.exports import comma_separated, markdown
from apps.web.matrix.sheet import MatrixSheet, measured_sheet, stated_sheet

# Number of sides of the default matrix.
USUAL_SIDES = 4
METRICS = (
    (PRIMARY, "each workload's headline"),
    ("client.throughput", "throughput"),
    (LATENCY, "latency, the percentile that most runs have"),
    ("client.latency.p50", "latency, median"),
    ("client.latency.p95", "latency, p95"),
    ("client.latency.p99", "latency, p99"),
    ("client.latency.max", "latency, longest"),
    ("client.errors", "errors"),
)
FILLERS = (Run.Provenance.EXAMPLE.value, Run.Provenance.RIG.value)


@dataclass(frozen=True)
class MatrixAddress:
    """The parsed query string; `article`: slug of an article whose ratios are shown instead of measured ones."""

    sides: tuple[str, ...] = ()
    metric: str = PRIMARY
    tool: str = ""
    campaign: int | None = None
    article: str = ""

    @classmethod
    def read(cls, query: QueryDict) -> "MatrixAddress":
        """Raises Invalid."""
        address = Address(query, "side", "metric", "tool", "campaign", "article")
        found = cls(
            sides=tuple(dict.fromkeys(address.texts("side"))),
            metric=address.text("metric", PRIMARY),
            tool=address.text("tool"),
            campaign=address.number("campaign"),
            article=address.text("article"),
        )
        address.check()
        return found

    def query(self) -> str:
        if self.article:
            return urlencode([("article", self.article)])
        pairs = [("side", side) for side in self.sides]
        pairs += [("metric", self.metric)] if self.metric != PRIMARY else []
        pairs += [("tool", self.tool)] if self.tool else []
        pairs += [("campaign", str(self.campaign))] if self.campaign is not None else []
        return urlencode(pairs)

    def url(self) -> str:
        return f"{reverse('web:matrix')}?{self.query()}"

    def with_baseline(self, slug: str) -> "MatrixAddress":
        return replace(self, sides=(slug, *(side for side in self.sides if side != slug)))

    def compare(self, row: MatrixRow, side: str) -> str:
        """Address of a row in Compare, with the baseline and `side` or (empty) as many sides as Compare supports."""
        sides = (self.sides[0], side) if side else self.sides[:MOST_COMPARED]
        return CompareAddress(sides=sides, workload=row.workload.id, campaign=self.campaign).url()


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    try:
        address = MatrixAddress.read(request.GET)
        if address.article:
            return _article(request, address)
        if not address.sides:
            address = replace(address, sides=usual_sides())
        if not address.sides:
            return _choose(request, address)
        measured = _measured(address)
    except Invalid as error:
        status = status_of(error)
        return _choose(request, MatrixAddress(), problems=error.errors, status=status)
    context = {
        "matrix": measured,
        "sheet": measured_sheet(measured, address=address.compare),
        "baseline_urls": [(side, address.with_baseline(side.slug).url()) for side in measured.sides],
        "withheld": _withheld(measured, address),
        "claims_url": f"{reverse('web:claims')}?{replace(address, metric=PRIMARY, tool='').query()}",
        "json_url": f"{reverse('api:matrix')}?{address.query()}",
        **_exports(address),
        **_picker(address, measured),
    }
    return render_page(request, "web/matrix/matrix.html", context)


@require_safe
def export(request: HttpRequest, ending: str) -> HttpResponse:
    """The table as a file. Errors are plain text, since clients are programs."""
    try:
        address = MatrixAddress.read(request.GET)
        sheet = _sheet(address)
    except Invalid as error:
        return refused_file(error)
    if ending == "md":
        text, media_type = markdown(sheet, link=request.build_absolute_uri(address.url())), "text/markdown"
    else:
        text, media_type = comma_separated(sheet), "text/csv"
    headers = {"Content-Disposition": f'attachment; filename="matrix.{ending}"'}
    return HttpResponse(text, content_type=f"{media_type}; charset=utf-8", headers=headers)


def usual_sides() -> tuple[str, ...]:
    """Default systems, the baseline first: of each architecture the one that shares the most workloads and load levels
    with others, or of a single architecture its systems that do. Empty: no two systems share any.

    The baseline is the system pinned for most of these, else the single server, else the one that shares most. Example
    and synthetic runs count only if nothing else ran.
    """
    ran = places.counted(most=0)
    measured = [place for place in ran if place.kind[0] not in FILLERS]
    known = System.objects.filter(archived_at=None).select_related("release__platform")
    systems = known.in_bulk({place.system for place in ran})
    for found in (measured, ran):
        at: dict[tuple[int, int], set[int]] = {}
        for place in found:
            if place.system in systems:
                at.setdefault((place.workload, place.level), set()).add(place.system)
        shared = {where: own for where, own in at.items() if len(own) > 1}
        if shared:
            return _usual(shared, systems)
    return ()


def _usual(shared: Mapping[tuple[int, int], Collection[int]], systems: Mapping[int, System]) -> tuple[str, ...]:
    """`shared`: workload and load level -> at least two systems."""
    pinned = Counter(pin.system for pin in baselines.pins({workload for workload, _ in shared}).values())
    ranks = Counter(system for own in shared.values() for system in own)
    likely = sorted(ranks, key=lambda pk: (-pinned[systems[pk].slug], -ranks[pk], pk))
    by_place: dict[int, int] = {}
    for pk in likely:
        if (place := _architecture(systems[pk])) is not None:
            by_place.setdefault(place, pk)
    if len(by_place) > 1:
        single = by_place.get(len(SCORECARD_FAMILIES) - 1)
        first = next((pk for pk in by_place.values() if pinned[systems[pk].slug]), single or likely[0])
        others = [by_place[place] for place in sorted(by_place) if by_place[place] != first]
    else:
        first = likely[0]
        together = Counter(system for own in shared.values() if first in own for system in own if system != first)
        others = sorted(together, key=lambda pk: (-together[pk], systems[pk].name))
    return tuple(systems[pk].slug for pk in (first, *others[: USUAL_SIDES - 1]))


def _architecture(system: System) -> int | None:
    """Its place among the columns of the scorecard, the single server being the last."""
    platform = system.release.platform.slug
    return next((place for place, each in enumerate(SCORECARD_FAMILIES) if platform in each.platforms), None)


def _measured(address: MatrixAddress) -> Matrix:
    return matrix.compare_systems(
        sides=address.sides,
        metrics=[address.metric],
        tool=address.tool,
        campaign=address.campaign,
    )


def _article(request: HttpRequest, address: MatrixAddress) -> HttpResponse:
    found = published.load_matrix(address.article)
    sheet = _stated(address.article)
    context = {
        "sheet": sheet,
        "stated": found,
        "articles": published.list_matrices(),
        "json_url": reverse("api:published-matrix", args=[address.article]),
        "address": address,
        **_exports(address),
    }
    return render_page(request, "web/matrix/article.html", context)


def _sheet(address: MatrixAddress) -> MatrixSheet:
    if address.article:
        return _stated(address.article)
    chosen = address if address.sides else replace(address, sides=usual_sides())
    return measured_sheet(_measured(chosen), address=chosen.compare)


def _stated(slug: str) -> MatrixSheet:
    found = published.load_matrix(slug)
    if found is None:
        raise Http404(f"no published article {slug!r} states ratios; the Published page lists them all")
    return stated_sheet(found)


def _exports(address: MatrixAddress) -> dict[str, Any]:
    return {
        "markdown_url": f"{reverse('web:matrix-export', args=['md'])}?{address.query()}",
        "csv_url": f"{reverse('web:matrix-export', args=['csv'])}?{address.query()}",
    }


def _withheld(measured: Matrix, address: MatrixAddress) -> list[dict[str, Any]]:
    """Sides with withheld verdicts: number of cells, the differences, and where to accept them."""
    found = []
    for side in measured.sides[1:]:
        rows = [row for row in measured.rows if row.cells[side.position].words == WITHHELD]
        fields = {
            label: None
            for comparison in measured.comparisons
            for difference in comparison.obstacles
            if difference.side == side.slug and difference.accepted is None
            for label, _, _ in difference.fields
        }
        if rows:
            url = f"{address.compare(rows[0], side.slug)}&tab=differences#comparability"
            found.append({"side": side, "cells": len(rows), "fields": list(fields), "url": url})
    return found


def _choose(
    request: HttpRequest, address: MatrixAddress, *, problems: tuple[FieldProblem, ...] = (), status: int = 200
) -> HttpResponse:
    context = {"problems": problems, **_picker(address, None)}
    return render_page(request, "web/matrix/matrix.html", context, status=status)


def _picker(address: MatrixAddress, measured: Matrix | None) -> dict[str, Any]:
    systems, _ = choices.picker()
    slots = [*address.sides, *[""] * matrix.MOST_SIDES][: matrix.MOST_SIDES]
    known = dict(METRICS)
    return {
        "address": address,
        "systems": systems,
        "slots": [{"number": place, "slug": slug} for place, slug in enumerate(slots)],
        "metrics": list((known if address.metric in known else {**known, address.metric: address.metric}).items()),
        "tools": [(tool, tool) for tool in measured.tools] if measured else (),
        "campaigns": choices.campaigns(sides=address.sides, workload=None),
        "articles": published.list_matrices(),
    }
