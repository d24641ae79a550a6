"""The page of all published figures: filters, the figures by question, charts."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.published import queries
from apps.published.format import QUESTIONS
from apps.published.values import BarChart, FigureFilter
from apps.published.wording import NO_INTERVAL
from apps.web.components.pages import render_page

# Chart heights in pixels: axis and title, then each bar.
CHART_HEIGHT, BAR_HEIGHT, TALL_BAR_HEIGHT = 78, 34, 42


@dataclass(frozen=True)
class Toggle:
    """A filter choice; its address toggles it and keeps the others."""

    label: str
    address: str
    chosen: bool
    color: int | None = None


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    every = queries.list_figures()
    chosen = FigureFilter(
        platforms=tuple(text for text in request.GET.getlist("platform") if text),
        questions=tuple(text for text in request.GET.getlist("question") if text),
        articles=tuple(text for text in request.GET.getlist("article") if text),
    )
    filtered = any((chosen.platforms, chosen.questions, chosen.articles))
    figures = queries.narrowed(every, chosen)
    platforms = queries.list_platforms(every)
    asked = {figure.question for figure in every}
    charts = queries.list_charts(figures)
    context = {
        "every": every,
        "figures": figures,
        "filtered": filtered,
        "questions": queries.list_questions(figures),
        "charts": charts,
        "chart_heights": chart_heights(charts),
        "no_interval": NO_INTERVAL,
        "platform_toggles": [
            Toggle(p.name, _toggled(request.GET, "platform", p.slug), p.slug in chosen.platforms, p.color)
            for p in platforms
        ],
        "question_toggles": [
            Toggle(text, _toggled(request.GET, "question", key), key in chosen.questions)
            for key, text in QUESTIONS.items()
            if key in asked
        ],
        "article_toggles": [
            Toggle(title, _toggled(request.GET, "article", slug), True)
            for slug, title in {figure.article.slug: figure.article.title for figure in every}.items()
            if slug in chosen.articles
        ],
    }
    return render_page(request, "web/published/figures.html", context)


def _toggled(given: QueryDict, name: str, value: str) -> str:
    query = given.copy()
    values = query.getlist(name)
    query.setlist(name, [v for v in values if v != value] if value in values else [*values, value])
    text = query.urlencode()
    return reverse("web:published-figures") + (f"?{text}" if text else "")


def chart_heights(charts: Iterable[BarChart]) -> list[tuple[BarChart, int]]:
    return [(chart, _height(chart)) for chart in charts]


def _height(chart: BarChart) -> int:
    """In pixels."""
    bar = TALL_BAR_HEIGHT if any(bar.group for bar in chart.bars) else BAR_HEIGHT
    return CHART_HEIGHT + bar * len(chart.bars)
