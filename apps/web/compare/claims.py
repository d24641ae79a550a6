"""The Claims page: claims about several systems by kind of load, with agreement across tools."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.comparison.api import tool_agreement
from apps.core.problems import Invalid
from apps.core.query import Address
from apps.web.compare.sections.agreement import shown
from apps.web.components.pages import render_page, status_of
from apps.web.matrix.matrix import usual_sides


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    address = Address(request.GET, "side", "campaign")
    systems, campaign = address.texts("side") or list(usual_sides()), address.number("campaign")
    try:
        address.check()
        found = tool_agreement(systems, campaign=campaign)
    except Invalid as error:
        context: dict[str, Any] = {"problems": error.errors}
        status = status_of(error)
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
