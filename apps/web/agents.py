"""The Agents page: state and current job of each agent, and how to add one."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.dispatch.api import AGENT_ALIVE_FOR, queries
from apps.web.components.pages import render_page


@require_safe
def show_all(request: HttpRequest) -> HttpResponse:
    context = {
        "agents": queries.list_agents(now=timezone.now()),
        "alive_for": AGENT_ALIVE_FOR.total_seconds(),
        "address": request.build_absolute_uri("/").rstrip("/"),
    }
    return render_page(request, "web/agents/agents.html", context, part="web/agents/table.html")
