"""The page of one article: its set-up, figures and tables in full."""

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.published import queries
from apps.published.format import QUESTIONS
from apps.published.matrix import FEWEST_RATIOS
from apps.published.wording import NO_INTERVAL, label, plain
from apps.web.components.pages import render_page
from apps.web.published.figures import chart_heights


@dataclass(frozen=True)
class SetupFacts:
    """A named item of an article's set-up, with its published facts."""

    name: str
    facts: tuple[tuple[str, str], ...]


@require_safe
def show(request: HttpRequest, slug: str) -> HttpResponse:
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
        "bottlenecks": [
            _about_side(setup, found, "saturated") for found in setup.get("bottlenecks", []) if found.get("saturated")
        ],
        "errors": [_about_side(setup, found, "code") for found in setup.get("errors", [])],
        "notes": setup.get("notes", []),
        "charts": charts,
        "chart_heights": chart_heights(charts),
    }
    return render_page(request, "web/published/article.html", context)


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
