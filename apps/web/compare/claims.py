"""The Claims page: claims about several systems by kind of load, with agreement across tools."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.comparison.api import UnknownSide, corroborate
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import whole_number
from apps.web.compare.sections.agreement import shown
from apps.web.components.pages import render_page
from apps.web.matrix.matrix import usual_sides


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    systems = [slug for slug in request.GET.getlist("side") if slug] or list(usual_sides())
    try:
        campaign = _campaign(request.GET.get("campaign", ""))
        if not all(slug.isprintable() for slug in systems):
            raise Invalid([FieldProblem("side", "has characters that no name has", "choose from the Matrix")])
        found = corroborate(systems, campaign=campaign)
    except Invalid as error:
        context: dict[str, Any] = {"problems": [each.sentence() for each in error.errors]}
        status = 404 if isinstance(error, UnknownSide) else 400
        return render_page(
            request, "web/compare/claims.html", context | {"matrix_url": reverse("web:matrix")}, status=status
        )
    asked = [("side", slug) for slug in systems] + ([("campaign", str(campaign))] if campaign is not None else [])
    query = urlencode(asked)
    context = {"matrix_url": f"{reverse('web:matrix')}?{query}" if asked else reverse("web:matrix"), "query": query}
    if found is not None:
        sides = {side.slug: side for side in found.sides}
        context |= {"against": found.sides[0], **shown(found, sides, campaign=campaign)}
    return render_page(request, "web/compare/claims.html", context)


def _campaign(text: str) -> int | None:
    """Raises Invalid."""
    if text and whole_number(text) is None:
        raise Invalid([FieldProblem("campaign", f"{text[:40]!r} is not a number", "leave it out")])
    return int(text) if text else None
