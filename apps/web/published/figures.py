"""The page of all published figures: filters, the figures by question, charts."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.catalog.models import Platform
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import Address
from apps.published import queries
from apps.published.format import QUESTIONS
from apps.published.models import Article
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
    given, problems = request.GET, tuple[FieldProblem, ...]()
    try:
        chosen = read(given)
        figures = queries.narrowed(every, chosen)
    except Invalid as error:
        chosen, figures, given, problems = FigureFilter(), [], QueryDict(), error.errors
    platforms = queries.list_platforms(every)
    asked = {figure.question for figure in every}
    charts = queries.list_charts(figures)
    context = {
        "every": every,
        "figures": figures,
        "problems": problems,
        "filtered": chosen != FigureFilter(),
        "questions": queries.list_questions(figures),
        "charts": charts,
        "chart_heights": chart_heights(charts),
        "no_interval": NO_INTERVAL,
        "platform_toggles": [
            Toggle(p.name, _toggled(given, "platform", p.slug), p.slug in chosen.platforms, p.color) for p in platforms
        ],
        "question_toggles": [
            Toggle(text, _toggled(given, "question", key), key in chosen.questions)
            for key, text in QUESTIONS.items()
            if key in asked
        ],
        "article_toggles": [
            Toggle(title, _toggled(given, "article", slug), True)
            for slug, title in {figure.article.slug: figure.article.title for figure in every}.items()
            if slug in chosen.articles
        ],
    }
    return render_page(request, "web/published/figures.html", context, status=400 if problems else 200)


def read(given: QueryDict) -> FigureFilter:
    """Raises Invalid."""
    address = Address(given, "platform", "question", "article")
    chosen = FigureFilter(
        platforms=tuple(address.choices("platform", list(Platform.objects.values_list("slug", flat=True)))),
        questions=tuple(address.choices("question", QUESTIONS)),
        articles=tuple(address.choices("article", list(Article.objects.values_list("slug", flat=True)))),
    )
    address.check()
    return chosen


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
