"""Forms of notifications: a team, and a subscription with its filter."""

from collections.abc import Callable
from typing import Any, TypeVar
from zoneinfo import available_timezones

from django.contrib import messages
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.current_user import writer
from apps.accounts.models import User
from apps.catalog.models import HardwareClass, Platform
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import whole_number
from apps.notifications import queries, services
from apps.notifications.models import CHOOSABLE, Subscription, Team, usual_events
from apps.regressions.api import filters
from apps.web.accounts import writers_only
from apps.web.components.pages import render_page
from apps.web.notifications.notifications import refused

Found = TypeVar("Found")
# Filter fields as in the list of findings; `kind` is that of the findings.
ASKED = tuple(name for name in filters.NAMES if name != "sort")
# Labels of events.
EVENTS = {
    "found": "Found: a new finding, or a new change in one; missing results of a schedule",
    "reopened": "Re-opened: the change returned, or its acceptance ended",
    "verify": "To verify: newer runs no longer confirm it",
    "state": "State set by a person: confirmed, accepted, fixed, merged, …",
    "comment": "Comments",
}


# ---------------------------------------------------------------- teams


@require_http_methods(["GET", "HEAD", "POST"])
@writers_only
def team(request: HttpRequest, team_id: int | None = None) -> HttpResponse:
    known = _found(lambda: services.team_of(team_id)) if team_id is not None else None
    if request.method != "POST":
        members = list(known.members.values_list("username", flat=True)) if known else []
        return _team_page(request, known, name=known.name if known else "", members=members)
    name, members = request.POST.get("name", ""), request.POST.getlist("members")
    try:
        kept = services.keep_team(team_id=team_id, name=name, members=members)
    except Invalid as error:
        return _team_page(request, known, name=name, members=members, problems=error.errors)
    messages.info(request, f"The team {kept.name} is saved.")
    return redirect("web:notifications")


def _team_page(
    request: HttpRequest,
    known: Team | None,
    *,
    name: str,
    members: list[str],
    problems: tuple[FieldProblem, ...] = (),
) -> HttpResponse:
    people = User.objects.filter(is_active=True).order_by("username")
    context = {
        "team": known,
        "name": name,
        "members": members,
        "people": people,
        "problems": _by_field(problems),
        "longest": services.LONGEST_NAME,
    }
    return render_page(request, "web/notifications/team.html", context, status=422 if problems else 200)


@require_POST
@writers_only
def delete_team(request: HttpRequest, team_id: int) -> HttpResponse:
    try:
        _found(lambda: services.delete_team(team_id=team_id))
    except Invalid as error:
        return refused(request, error)
    messages.info(request, "The team is deleted.")
    return redirect("web:notifications")


# ---------------------------------------------------------------- subscriptions


@require_http_methods(["GET", "HEAD", "POST"])
@writers_only
def subscription(request: HttpRequest, subscription_id: int | None = None) -> HttpResponse:
    """The filter of a new subscription may be prefilled from the query string, as in the list of findings."""
    known = _found(lambda: services.subscription_of(subscription_id)) if subscription_id is not None else None
    if request.method != "POST":
        return _subscription_page(request, known, _kept(known) if known else _usual(request.GET))
    try:
        kept = services.keep_subscription(subscription_id=subscription_id, by=writer(request), **_stated(request.POST))
    except Invalid as error:
        return _subscription_page(request, known, _typed(request.POST), problems=error.errors)
    lacks = queries.lacks(kept, has_mailbox=queries.mailboxes(kept.team).exists())
    if lacks and kept.is_enabled:
        remedy = "let its members state theirs under Notifications, or state one in the subscription"
        messages.warning(request, f"Subscription saved, but {lacks}, so no notification is sent: {remedy}.")
        return redirect("web:notifications")
    text = "is notified from now on" if kept.is_enabled else "is not notified: the subscription is off"
    messages.info(request, f"{kept.team.name} {text}.")
    return redirect("web:notifications")


@require_POST
@writers_only
def delete_subscription(request: HttpRequest, subscription_id: int) -> HttpResponse:
    _found(lambda: services.delete_subscription(subscription_id=subscription_id))
    messages.info(request, "The subscription is deleted.")
    return redirect("web:notifications")


def _stated(posted: QueryDict) -> dict[str, Any]:
    hour, team_id = posted.get("hour", ""), posted.get("team", "")
    return {
        "team": int(team_id) if _is_number(team_id) else 0,
        "kind": posted.get("channel", ""),
        "address": posted.get("address", ""),
        "secret": posted.get("secret", ""),
        "events": posted.getlist("events"),
        "asks": _asks(posted),
        "digest": posted.get("digest", ""),
        "hour": int(hour) if _is_number(hour) else -1,
        "zone": posted.get("zone", ""),
        "is_enabled": "is_enabled" in posted,
    }


def _asks(query: QueryDict) -> dict[str, Any]:
    asks: dict[str, Any] = {}
    for name in ASKED:
        given = [each for each in query.getlist(name) if each.strip()]
        if name == "label":
            given = [word for each in given for word in each.replace(",", " ").split()]
        if given:
            asks[name] = given if len(given) > 1 else given[0]
    return asks


def _usual(query: QueryDict) -> dict[str, Any]:
    first = Team.objects.values_list("pk", flat=True).first()
    asks = {name: query.getlist(name) for name in ASKED}
    team_id = query.get("team", str(first or ""))
    return {"team": team_id, "channel": "e-mail", "events": usual_events(), "digest": "at once", "hour": "7",
            "zone": "UTC", "is_enabled": True} | _shown(asks)  # fmt: skip


def _kept(known: Subscription) -> dict[str, Any]:
    asks = {
        name: [str(each) for each in (value if isinstance(value, list) else [value])]
        for name, value in known.asks.items()
    }
    return {
        "team": str(known.team_id),
        "channel": known.kind,
        "address": known.address,
        "secret": known.secret,
        "events": known.events,
        "digest": known.digest,
        "hour": str(known.hour),
        "zone": known.zone,
        "is_enabled": known.is_enabled,
    } | _shown(asks)


def _typed(posted: QueryDict) -> dict[str, Any]:
    plain = {name: posted.get(name, "") for name in ("team", "channel", "address", "secret", "digest", "hour", "zone")}
    asks = {name: posted.getlist(name) for name in ASKED}
    return plain | {"events": posted.getlist("events"), "is_enabled": "is_enabled" in posted} | _shown(asks)


def _shown(asks: dict[str, list[str]]) -> dict[str, Any]:
    many = {name: asks.get(name, []) for name in ("state", "verdict")}
    labels = {"label": ", ".join(asks.get("label", []))}
    single = {name: next(iter(asks.get(name, [])), "") for name in ASKED if name not in ("state", "verdict", "label")}
    return many | labels | single


def _subscription_page(
    request: HttpRequest, known: Subscription | None, values: dict[str, Any], *, problems: tuple[FieldProblem, ...] = ()
) -> HttpResponse:
    context: dict[str, Any] = {
        "subscription": known,
        "values": values | {"team_id": int(values["team"]) if _is_number(values["team"]) else None},
        "problems": _by_field(problems),
        "teams": Team.objects.annotate(
            has_mailbox=Exists(User.objects.filter(teams=OuterRef("pk"), is_active=True).exclude(email=""))
        ),
        "channels": Subscription.Kind.choices,
        "digests": Subscription.Digest.choices,
        "events": [(event.value, EVENTS[event.value]) for event in CHOOSABLE],
        "states": ("open", *filters.STATES),
        "verdicts": filters.VERDICTS,
        "platforms": Platform.objects.order_by("name"),
        "hardware_classes": HardwareClass.objects.order_by("name"),
        "people": User.objects.filter(is_active=True).order_by("username"),
        "hours": [str(hour) for hour in range(24)],
        "zones": sorted(available_timezones()),
    }
    return render_page(request, "web/notifications/subscription.html", context, status=422 if problems else 200)


# ---------------------------------------------------------------- shared


def _by_field(problems: tuple[FieldProblem, ...]) -> dict[str, list[str]]:
    """The form's field for a subscription's `kind` is `channel`, because findings also have a kind."""
    found: dict[str, list[str]] = {}
    for problem in problems:
        field = {"kind": "channel"}.get(problem.field, problem.field.removeprefix("asks."))
        remedy = f" ({problem.remedy})" if problem.remedy else ""
        found.setdefault(field, []).append(f"{problem.message}{remedy}")
    return found


def _found(call: Callable[[], Found]) -> Found:
    try:
        return call()
    except services.NoSuchNotification as error:
        raise Http404(str(error)) from error


def _is_number(text: str) -> bool:
    return whole_number(text, digits=9) is not None
