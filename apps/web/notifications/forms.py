"""Forms of notifications: a team, and a subscription with its filter."""

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar
from zoneinfo import available_timezones

from django import forms
from django.contrib import messages
from django.db.models import Exists, OuterRef
from django.forms.models import model_to_dict
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.current_user import writer
from apps.accounts.models import User
from apps.catalog.models import HardwareClass, Platform
from apps.core.problems import Invalid
from apps.core.text import counted
from apps.notifications import queries, services
from apps.notifications.models import CHOOSABLE, Subscription, Team, usual_events
from apps.regressions.api import filters
from apps.web.accounts.guards import writers_only
from apps.web.components.forms import PageForm, Texts
from apps.web.components.pages import render_page
from apps.web.notifications.notifications import refused

Found = TypeVar("Found")
# Filter fields as in the list of findings; `kind` is that of the findings.
ASKED = tuple(name for name in filters.NAMES if name != "sort")
KINDS = [("", "any"), ("change", "changes"), ("missing", "missing results")]
DIGESTS = [(value, words.lower()) for value, words in Subscription.Digest.choices]
NOT_CHOSEN = dict.fromkeys(("required", "invalid"), "is not chosen (choose one from the list)")
HOURS = [(hour, hour) for hour in range(24)]
# Labels of events.
EVENTS = {
    "found": "Found: a new finding, or a new change in one; missing results of a schedule",
    "reopened": "Re-opened: the change returned, or its acceptance ended",
    "verify": "To verify: newer runs no longer confirm it",
    "state": "State set by a person: confirmed, accepted, fixed, merged, …",
    "comment": "Comments",
}


# ---------------------------------------------------------------- teams


class TeamForm(PageForm):
    name = forms.CharField(label="Name", required=False)
    members = Texts(label="Members", required=False)


@require_http_methods(["GET", "HEAD", "POST"])
@writers_only
def team(request: HttpRequest, team_id: int | None = None) -> HttpResponse:
    known = _found(lambda: services.team_of(team_id)) if team_id is not None else None
    if request.method != "POST":
        members = known.members.values_list("username", flat=True) if known else ()
        return _team_page(request, known, TeamForm(initial={"name": known.name if known else "", "members": members}))
    form = TeamForm(request.POST)
    kept = form.attempt(lambda: services.keep_team(team_id=team_id, **form.cleaned_data))
    if kept is None:
        return _team_page(request, known, form)
    messages.info(request, f"The team {kept.name} is saved.")
    return redirect("web:notifications")


def _team_page(request: HttpRequest, known: Team | None, form: TeamForm) -> HttpResponse:
    context = {
        "team": known,
        "form": form,
        "problems": form.problems(),
        "people": User.objects.filter(is_active=True).order_by("username"),
        "longest": services.LONGEST_NAME,
    }
    return render_page(request, "web/notifications/team.html", context, status=422 if form.errors else 200)


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


class SubscriptionForm(PageForm):
    """The filter's fields are named as in the list of findings, so the subscription's own kind is `channel`."""

    names: ClassVar = {"kind": "channel"} | {f"asks.{name}": name for name in ASKED}

    team = forms.IntegerField(label="Team", error_messages=NOT_CHOSEN)
    channel = forms.CharField(label="By", required=False, widget=forms.Select(choices=Subscription.Kind.choices))
    address = forms.CharField(label="Address", required=False)
    secret = forms.CharField(label="Secret of a webhook", required=False, strip=False)
    events = Texts(label="Events", required=False)
    platform = forms.CharField(label="Platform", required=False)
    hardware = forms.CharField(label="Hardware", required=False)
    kind = forms.CharField(label="Kind", required=False, widget=forms.Select(choices=KINDS))
    release = forms.CharField(label="Release", required=False)
    family = forms.CharField(label="Load tool", required=False)
    smallest = forms.CharField(label="Smallest size", required=False)
    owner = forms.CharField(label="Owner", required=False)
    label = forms.CharField(label="Labels", required=False)
    text = forms.CharField(label="Words", required=False)
    verdict = Texts(label="Verdict", required=False)
    state = Texts(label="State after the event", required=False)
    digest = forms.CharField(label="Sent", required=False, widget=forms.Select(choices=DIGESTS))
    hour = forms.IntegerField(label="Hour", error_messages=NOT_CHOSEN, widget=forms.Select(choices=HOURS))
    zone = forms.CharField(label="Time zone", required=False)
    is_enabled = forms.BooleanField(required=False)

    def clean_label(self) -> list[str]:
        return str(self.cleaned_data["label"]).replace(",", " ").split()

    def keep(self, *, subscription_id: int | None, by: User) -> Subscription:
        values = dict(self.cleaned_data)
        asks = {name: asked for name in ASKED if (asked := values.pop(name))}
        kind = values.pop("channel")
        return services.keep_subscription(subscription_id=subscription_id, by=by, kind=kind, asks=asks, **values)


@require_http_methods(["GET", "HEAD", "POST"])
@writers_only
def subscription(request: HttpRequest, subscription_id: int | None = None) -> HttpResponse:
    """The filter of a new subscription may be prefilled from the query string, as in the list of findings."""
    known = _found(lambda: services.subscription_of(subscription_id)) if subscription_id is not None else None
    if request.method != "POST":
        initial = _kept(known) if known else _usual(request.GET)
        return _subscription_page(request, known, SubscriptionForm(initial=initial))
    form = SubscriptionForm(request.POST)
    kept = form.attempt(lambda: form.keep(subscription_id=subscription_id, by=writer(request)))
    if kept is None:
        return _subscription_page(request, known, form)
    lacks = queries.lacks(kept, has_mailbox=queries.mailboxes(kept.team).exists())
    if lacks and kept.is_enabled:
        remedy = "let its members state theirs under Notifications, or state one in the subscription"
        messages.warning(request, f"Subscription saved, but {lacks}, so no notification is sent: {remedy}.")
        return redirect("web:notifications")
    text = "is notified from now on" if kept.is_enabled else "is not notified: the subscription is off"
    if subscription_id is None and kept.secret and not kept.is_chat and not form.cleaned_data["secret"]:
        messages.info(request, f"{kept.team.name} {text}. The receiver needs the secret below, which was made for it.")
        return redirect("web:subscription", kept.pk)
    messages.info(request, f"{kept.team.name} {text}.")
    return redirect("web:notifications")


@require_POST
@writers_only
def delete_subscription(request: HttpRequest, subscription_id: int) -> HttpResponse:
    _found(lambda: services.delete_subscription(subscription_id=subscription_id))
    messages.info(request, "The subscription is deleted.")
    return redirect("web:notifications")


def delete_question(known: Subscription) -> str:
    """Names the receiver, and what is deleted with the subscription."""
    receiver = queries.shown(known.address) or "each member"
    deliveries = known.deliveries.count()
    lost = f"{counted(deliveries, 'delivery', plural='deliveries')} will be deleted with it; disabled, it keeps them."
    return (
        f"Delete the subscription of {known.team.name} to {receiver}? {lost if deliveries else 'It has no deliveries.'}"
    )


def _usual(query: QueryDict) -> dict[str, Any]:
    usual = {"team": Team.objects.values_list("pk", flat=True).first(), "channel": "e-mail", "events": usual_events(),
             "digest": "at once", "hour": 7, "zone": "UTC", "is_enabled": True}  # fmt: skip
    many = {"verdict": query.getlist("verdict"), "state": query.getlist("state")}
    plain = {name: query[name] for name in ("team", *ASKED) if name in query}
    return usual | plain | many | {"label": ", ".join(query.getlist("label"))}


def _kept(known: Subscription) -> dict[str, Any]:
    own: dict[str, Any] = model_to_dict(
        known, ["team", "address", "secret", "events", "digest", "hour", "zone", "is_enabled"]
    )
    if known.is_chat:
        own["address"] = queries.masked(known.address)
    return {**known.asks, **own, "channel": known.kind, "label": ", ".join(known.asks.get("label", ()))}


def _subscription_page(request: HttpRequest, known: Subscription | None, form: SubscriptionForm) -> HttpResponse:
    has_mailbox = Exists(User.objects.filter(teams=OuterRef("pk"), is_active=True).exclude(email=""))
    people = User.objects.filter(is_active=True).order_by("username").values_list("username", flat=True)
    context: dict[str, Any] = {
        "subscription": known,
        "form": form,
        "problems": form.problems(),
        "teams": [
            (str(team.pk), team.name if team.has_mailbox else f"{team.name} (no e-mail addresses)")
            for team in Team.objects.annotate(has_mailbox=has_mailbox)
        ],
        "events": [(event.value, EVENTS[event.value]) for event in CHOOSABLE],
        "states": ("open", *filters.STATES),
        "verdicts": filters.VERDICTS,
        "platforms": Platform.objects.order_by("name").values_list("slug", "name"),
        "hardware_classes": HardwareClass.objects.order_by("name").values_list("slug", "name"),
        "owners": [("nobody", "nobody"), *((name, name) for name in people)],
        "zones": sorted(available_timezones()),
        "delete_question": delete_question(known) if known else "",
    }
    return render_page(request, "web/notifications/subscription.html", context, status=422 if form.errors else 200)


# ---------------------------------------------------------------- shared


def _found(call: Callable[[], Found]) -> Found:
    try:
        return call()
    except services.NoSuchNotification as error:
        raise Http404(str(error)) from error
