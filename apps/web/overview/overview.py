"""The home page: the scorecard, open findings, what runs now, what arrived last."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.current_user import administrator
from apps.core.problems import Invalid
from apps.core.text import counted
from apps.dispatch.api import queries as dispatch
from apps.regressions.api import FindingFilter
from apps.regressions.api import finding_queries as regressions
from apps.rig import api as rig
from apps.runs.api import rows_of
from apps.runs.models import Run
from apps.web.components.pages import is_partial, render_page
from apps.web.findings.wording import list_answer
from apps.web.overview.scorecard import scorecard

NEWEST_RUNS = 2
RUNNING_CAMPAIGNS = 2
# Of the newest campaigns those that are not finished are shown.
NEWEST_CAMPAIGNS = 10
LARGEST_FINDINGS = 3


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    agents = [agent for agent in dispatch.list_agents(now=now) if agent.revoked_at is None]
    newest = dispatch.list_campaigns(now=now, limit=NEWEST_CAMPAIGNS)
    context: dict[str, Any] = {
        "agents": agents,
        "alive": sum(agent.is_alive for agent in agents),
        "campaigns": [each for each in newest if not each.progress.is_finished][:RUNNING_CAMPAIGNS],
        "restoring": (restoring := rig.restoring_examples(now)),
    }
    if not is_partial(request):
        context |= {
            "card": scorecard(),
            # By arrival: a submitted run may have been measured long ago.
            "rows": rows_of(Run.objects.order_by("-pk")[:NEWEST_RUNS]),
            "findings": _findings(),
            "has_examples": _may_remove(request) and not restoring and rig.are_examples_loaded(),
        }
    answer = render_page(request, "web/overview/overview.html", context, part="web/overview/now.html")
    if is_partial(request) and "restoring" in request.GET and not restoring:
        answer["HX-Refresh"] = "true"  # the figures around this part are complete now
    return answer


@require_POST
def remove_examples(request: HttpRequest) -> HttpResponse:
    if not _may_remove(request):
        raise PermissionDenied("This needs the role administrator.")
    try:
        done = rig.remove_examples()
    except Invalid as error:
        messages.error(request, str(error))
    else:
        messages.info(request, f"{counted(done, 'example run')} removed. `manage.py examples load` brings them back.")
    return redirect("web:overview")


def _may_remove(request: HttpRequest) -> bool:
    return administrator(request) is not None


def _findings() -> dict[str, Any]:
    """The largest open findings, and a one-sentence summary."""
    wanted = FindingFilter(state=("open",))
    rows = regressions.list_findings(wanted, limit=LARGEST_FINDINGS)
    return {"rows": rows, "answer": list_answer(regressions.count_by_state(wanted), [])}
