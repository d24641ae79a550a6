"""The Agents page: state and current job of each agent, what they ask to measure, and how to add one."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.current_user import administrator, writer
from apps.core.problems import Invalid
from apps.dispatch import api as dispatch
from apps.dispatch.api import AGENT_ALIVE_FOR, queries
from apps.web.accounts.guards import administrators_only
from apps.web.components.pages import is_partial, render_page

EXAMPLE_SLUG = "mysql-small"  # of the file that the page shows


class DecisionForm(forms.Form):
    agent = forms.CharField(max_length=80)
    system = forms.CharField(max_length=80)
    decision = forms.ChoiceField(choices=[("allow", "Allow"), ("refuse", "Refuse")])


class EnrolmentForm(forms.Form):
    systems = forms.CharField(
        label="Systems that it may measure", required=False, max_length=4000, help_text="slugs, separated by blanks"
    )


@require_safe
def show_all(request: HttpRequest) -> HttpResponse:
    return render_page(request, "web/agents/agents.html", _context(request), part="web/agents/table.html")


@require_POST
@administrators_only
def decide(request: HttpRequest) -> HttpResponse:
    """Allow a system to an agent, or refuse it."""
    form = DecisionForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Name an agent, a system, and the decision.")
        return redirect("web:agents")
    asked, is_allowed = form.cleaned_data, form.cleaned_data["decision"] == "allow"
    try:
        dispatch.decide(
            agent=asked["agent"], slug=asked["system"], is_allowed=is_allowed, by=writer(request), now=timezone.now()
        )
    except Invalid as refused:
        messages.error(request, str(refused))
    else:
        when = "at its next report, within a minute" if is_allowed else "at once"
        what = "may" if is_allowed else "may not"
        messages.success(request, f"{asked['agent']} {what} measure {asked['system']}, {when}.")
    return redirect("web:agents")


@require_POST
@administrators_only
def enrol(request: HttpRequest) -> HttpResponse:
    """A one-time code for a new agent; shown once, in this answer."""
    form, code = EnrolmentForm(request.POST), ""
    if form.is_valid():
        try:
            code = dispatch.make_enrolment(
                systems=form.cleaned_data["systems"].split(), by=writer(request), now=timezone.now()
            )
        except Invalid as refused:
            form.add_error("systems", str(refused))
    context = {**_context(request), "form": form, "code": code}
    if code:
        context["slugs"] = form.cleaned_data["systems"].split() or [EXAMPLE_SLUG]
    return render_page(request, "web/agents/agents.html", context, status=200 if code else 422)


def _context(request: HttpRequest) -> dict[str, object]:
    agents = queries.list_agents(now=timezone.now())
    return {
        "agents": agents,
        "refused": [(agent, system) for agent in agents if agent.is_alive for system in agent.refused_systems],
        "asked": () if is_partial(request) else queries.asked_systems(),
        "alive_for": AGENT_ALIVE_FOR.total_seconds(),
        "address": request.build_absolute_uri("/").rstrip("/"),
        "form": EnrolmentForm(),
        "slugs": [EXAMPLE_SLUG],
        "may_decide": administrator(request) is not None,
    }
