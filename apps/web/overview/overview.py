"""The Overview page: current activity, measured workloads by platform, open findings, published results."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.catalog.models import System
from apps.dispatch.api import queries as dispatch
from apps.published import queries as published
from apps.published.values import FigureValue
from apps.regressions.api import FindingFilter
from apps.regressions.api import finding_queries as regressions
from apps.runs.api import how_many
from apps.runs.api import queries as runs
from apps.runs.models import Run
from apps.runs.pure import Amount
from apps.web.components.pages import is_partial, render_page
from apps.web.findings.wording import list_answer
from apps.web.overview.platforms import NEWEST_RUNS, load_matrix

LATEST_RUNS = 10
LATEST_CAMPAIGNS = 5
# Upper limit of the run count.
MOST_COUNTED = 10_000
LARGEST_FINDINGS = 3
PUBLISHED_FIGURES = 6
FIGURES_AN_ARTICLE = 2
# The three architectures compared by the articles.
COMPARED = ("aurora", "pxc", "mha")


@dataclass(frozen=True)
class Totals:
    runs: Amount
    open_runs: int
    systems: int


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    agents = dispatch.list_agents(now=now)
    context: dict[str, Any] = {
        "agents": agents,
        "busy": [agent for agent in agents if agent.job],
        "alive": sum(agent.is_alive for agent in agents),
    }
    if not is_partial(request):
        context |= {
            "totals": _totals(),
            "campaigns": dispatch.list_campaigns(now=now, limit=LATEST_CAMPAIGNS),
            "rows": runs.list_runs(runs.RunFilter(), limit=LATEST_RUNS),
            "matrix": load_matrix(),
            "newest_runs": NEWEST_RUNS,
            "findings": _findings(),
            "published_figures": chosen_figures(published.figures_about(COMPARED)),
        }
    return render_page(request, "web/overview/overview.html", context, part="web/overview/now.html")


def chosen_figures(figures: Sequence[FigureValue]) -> list[FigureValue]:
    """A few published ratios between the three architectures, with a limit per article."""
    taken: Counter[str] = Counter()
    chosen = []
    for figure in figures:
        if figure.is_ratio and figure.stated and taken[figure.article.slug] < FIGURES_AN_ARTICLE:
            taken[figure.article.slug] += 1
            chosen.append(figure)
    return chosen[:PUBLISHED_FIGURES]


def _findings() -> dict[str, Any]:
    """The largest open findings, and a one-sentence summary."""
    wanted = FindingFilter(state=("open",))
    rows = regressions.list_findings(wanted, limit=LARGEST_FINDINGS)
    return {"rows": rows, "answer": list_answer(regressions.count_by_state(wanted), [])}


def _totals() -> Totals:
    return Totals(
        runs=how_many(Run.objects.all(), MOST_COUNTED),
        open_runs=Run.objects.filter(state=Run.State.OPEN).count(),
        systems=System.objects.filter(archived_at=None).count(),
    )
