"""The page of published results: one answer a question."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.published import queries
from apps.web.components.pages import render_page
from apps.web.published import wording
from apps.web.published.cards import cards
from apps.web.published.spreads import spread_cards


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    if request.GET:
        # Filters are of the figures' page; they were once of this one.
        return redirect(f"{reverse('web:published-figures')}?{request.GET.urlencode()}")
    figures = queries.list_figures()
    found = cards(figures)
    context = {
        "figures": len(figures),
        "articles": queries.list_articles(),
        "cards": found,
        "answer": wording.overall([(card.title, card.fastest) for card in found if card.key not in wording.APART]),
        "spreads": spread_cards(),
    }
    return render_page(request, "web/published/results.html", context)
