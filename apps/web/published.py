"""The pages of published results: figures about the platforms, and each article in full."""

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.published import queries
from apps.published.format import QUESTIONS
from apps.published.headlines import headlines
from apps.published.matrix import FEWEST_RATIOS
from apps.published.values import BarChart, FigureFilter
from apps.published.wording import NO_INTERVAL, label, plain
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


@dataclass(frozen=True)
class SetupFacts:
    """A named item of an article's set-up, with its published facts."""

    name: str
    facts: tuple[tuple[str, str], ...]


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
        "articles": queries.list_articles(),
        "headlines": headlines(figures, platforms),
        "questions": queries.list_questions(figures),
        "charts": charts,
        "chart_heights": [(chart, _height(chart)) for chart in charts],
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
    return render_page(request, "web/published/published.html", context)


@require_safe
def show_article(request: HttpRequest, slug: str) -> HttpResponse:
    detail = queries.load_article(slug)
    if detail is None:
        raise Http404(f"no published article has the name {slug!r}; the Published page lists them all")
    charts = queries.list_charts(detail.all_figures)
    setup = detail.setup
    context = {
        "article": detail.article,
        "detail": detail,
        "no_interval": NO_INTERVAL,
        "states_ratios": sum(figure.is_ratio for figure in detail.all_figures) >= FEWEST_RATIOS,
        "setup_groups": _setup_groups(setup),
        "releases": setup.get("releases", []),
        "bottlenecks": [_about_side(setup, found, "saturated") for found in setup.get("bottlenecks", [])],
        "errors": [_about_side(setup, found, "code") for found in setup.get("errors", [])],
        "notes": setup.get("notes", []),
        "charts": charts,
        "chart_heights": [(chart, _height(chart)) for chart in charts],
    }
    return render_page(request, "web/published/article.html", context)


def _toggled(given: QueryDict, name: str, value: str) -> str:
    query = given.copy()
    values = query.getlist(name)
    query.setlist(name, [v for v in values if v != value] if value in values else [*values, value])
    text = query.urlencode()
    return reverse("web:published") + (f"?{text}" if text else "")


def _height(chart: BarChart) -> int:
    """In pixels."""
    bar = TALL_BAR_HEIGHT if any(bar.group for bar in chart.bars) else BAR_HEIGHT
    return CHART_HEIGHT + bar * len(chart.bars)


def _facts(name: str, stated: dict[str, Any], *, skip: tuple[str, ...] = ("workload", "side")) -> SetupFacts:
    """Facts of an item, one per setting; nested settings become separate facts."""
    facts: list[tuple[str, str]] = []
    for key, value in stated.items():
        if key in skip:
            continue
        if isinstance(value, dict):
            facts += [(label(inner), plain(given)) for inner, given in value.items()]
        else:
            facts.append((label(key), QUESTIONS.get(value, "") if key == "question" else plain(value)))
    return SetupFacts(name=name, facts=tuple(facts))


def _setup_groups(setup: dict[str, Any]) -> list[dict[str, Any]]:
    sides = [_facts(side["name"], side, skip=("name",)) for side in setup.get("sides", {}).values()]
    return [
        {"title": "Sides", "entries": [side for side in sides if side.facts]},
        {"title": "Hardware", "entries": [_facts(key, each) for key, each in setup.get("hardware", {}).items()]},
        {
            "title": "Workloads",
            "entries": [_facts(label(key), each) for key, each in setup.get("workloads", {}).items()],
        },
        {"title": "Load levels", "entries": [_facts(label(e["workload"]), e) for e in setup.get("load_levels", [])]},
        {
            "title": "Surroundings",
            "entries": [_facts(name, setup[name]) for name in ("topology", "conditions", "client") if setup.get(name)],
        },
    ]


def _about_side(setup: dict[str, Any], found: dict[str, Any], what: str) -> dict[str, str]:
    conditions = "; ".join(f"{label(key)} {plain(value)}" for key, value in found.get("conditions", {}).items())
    return {
        "side": setup["sides"][found["side"]]["name"],
        "workload": label(found["workload"]),
        "conditions": conditions,
        "what": label(plain(found[what])),
    }
