"""Teams, subscriptions and deliveries for pages and API, as seen by a `viewer`; None: not signed in.

Without `may_see`, which goes with the permission to write, addresses are masked and secrets left out; nobody sees the
address of a chat whole. Anonymous viewers see no names of members. Deliveries to a person are shown to that person and
to administrators.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlsplit

from django.db.models import Count, Exists, Max, OuterRef, Prefetch, Q, QuerySet

from apps.accounts.models import User
from apps.core.answers import Hidden, Name, OneOf, component
from apps.core.problems import Invalid
from apps.core.units import NBSP
from apps.notifications import chat
from apps.notifications.encryption import UNREADABLE
from apps.notifications.models import CHOOSABLE, Delivery, Notice, NotificationEvent, Subscription, Team
from apps.regressions.api import filters

MASKED = "a chat's in part, as it is a secret; others in part for who may not write, by role or token's scope"
RECENT = timedelta(days=7)
MOST_FINDINGS = 3
STATES = {
    "waiting": Q(sent_at=None, given_up_at=None),
    "sent": Q(sent_at__isnull=False),
    "given up": Q(given_up_at__isnull=False),
}


@component("Subscription")
@dataclass(frozen=True)
class SubscriptionRow:
    """`asks_words`: the filter as text."""

    id: int
    team_id: Annotated[int, Name("team"), "id"]
    team: Annotated[str, Name("team_name")]
    kind: Annotated[str, ", ".join(Subscription.Kind.values)]
    kind_words: Hidden[str]
    address: Annotated[str, f"mailbox or webhook; empty: each member's own mailbox; {MASKED}"]
    secret: Annotated[str, "signs requests to a webhook; empty for who may not write, by role or token's scope"]
    asks: Annotated[dict[str, Any], "filter, as in GET /findings/; empty: all findings"]
    asks_words: Hidden[str]
    events: tuple[Annotated[str, OneOf(CHOOSABLE)], ...]
    events_words: Hidden[str]
    digest: Annotated[str, OneOf(Subscription.Digest.values)]
    digest_words: Hidden[str]
    hour: Annotated[int, "hour of the day at which a digest is sent, in `zone`"]
    zone: str
    is_enabled: bool
    lacks: Annotated[str, "why it has no recipients; empty: it has"]
    created_by: str
    created_at: datetime

    @property
    def shown(self) -> str:
        return shown(self.address)


@dataclass(frozen=True)
class TeamRow:
    id: int
    name: str
    size: Annotated[int, "number of members"]
    members: Annotated[tuple[str, ...], "user names; empty if not signed in"]
    mute: Annotated[tuple[str, ...], "members without an e-mail address; empty if not signed in"]
    subscriptions: Hidden[tuple[SubscriptionRow, ...]]


@dataclass(frozen=True)
class NotifiedFinding:
    id: int
    title: str


@component("Delivery")
@dataclass(frozen=True)
class DeliveryRow:
    """`address`: mailbox or webhook. `is_test`: without findings."""

    id: int
    subscription: Annotated[int | None, "id; null: to a person"]
    to: Annotated[str, "name of the team or person"]
    kind: Hidden[str]
    address: Annotated[str, MASKED]
    is_test: bool
    findings: Annotated[tuple[NotifiedFinding, ...], "the first of its findings"]
    total: Annotated[int, "number of its findings"]
    state: Annotated[str, "waiting, to be tried again, sent, given up"]
    attempts: int
    made_at: datetime
    next_at: Annotated[datetime | None, "time of the next attempt; null: none"]
    sent_at: datetime | None
    given_up_at: datetime | None
    answer: Annotated[str, "last response, or connection error"]

    @property
    def shown(self) -> str:
        return shown(self.address)

    @property
    def more(self) -> int:
        return self.total - len(self.findings)


@dataclass(frozen=True)
class DeliveryCounts:
    """Deliveries of the last days; `last_given_up`: reason of the newest one given up. `subscriptions`: number of
    enabled ones with recipients."""

    teams: int
    subscriptions: int
    sent: int
    waiting: int
    given_up: int
    last_given_up: str


def teams(*, viewer: User | None, may_see: bool, only: QuerySet[Team] | None = None) -> list[TeamRow]:
    found = (Team.objects.all() if only is None else only).prefetch_related(
        Prefetch("members", User.objects.filter(is_active=True).order_by("username")),
        Prefetch("subscriptions", Subscription.objects.select_related("team", "created_by").order_by("pk")),
    )
    return [_team_row(team, viewer, may_see=may_see) for team in found]


def _team_row(team: Team, viewer: User | None, *, may_see: bool) -> TeamRow:
    members = list(team.members.all())
    named = members if viewer else []
    has_mailbox = any(user.email for user in members)
    return TeamRow(
        id=team.pk,
        name=team.name,
        size=len(members),
        members=tuple(user.username for user in named),
        mute=tuple(user.username for user in named if not user.email),
        subscriptions=tuple(
            _subscription_row(each, may_see=may_see, has_mailbox=has_mailbox) for each in team.subscriptions.all()
        ),
    )


def subscription_row(subscription: Subscription, *, may_see: bool) -> SubscriptionRow:
    has_mailbox = mailboxes(subscription.team).exists()
    return _subscription_row(subscription, may_see=may_see, has_mailbox=has_mailbox)


def mailboxes(team: Team) -> QuerySet[User]:
    return team.members.filter(is_active=True).exclude(email="")


def lacks(subscription: Subscription, *, has_mailbox: bool) -> str:
    if subscription.kind != Subscription.Kind.EMAIL or subscription.address or has_mailbox:
        return ""
    return f"no member of {subscription.team.name} has an e-mail address yet"


def _subscription_row(subscription: Subscription, *, may_see: bool, has_mailbox: bool) -> SubscriptionRow:
    """Requires team and creator loaded."""
    words = {
        Subscription.Digest.AT_ONCE: "at once",
        Subscription.Digest.DAILY: f"daily at {subscription.hour:02}:00, {subscription.zone}",
        Subscription.Digest.WEEKLY: f"on Mondays at {subscription.hour:02}:00, {subscription.zone}",
    }
    return SubscriptionRow(
        id=subscription.pk,
        team_id=subscription.team_id,
        team=subscription.team.name,
        kind=subscription.kind,
        kind_words=subscription.get_kind_display(),
        address=subscription.address if may_see and not subscription.is_chat else masked(subscription.address),
        secret=subscription.secret if may_see else "",
        asks=subscription.asks,
        asks_words=_asks_words(subscription.asks),
        events=tuple(subscription.events),
        events_words=", ".join(NotificationEvent(each).label for each in subscription.events),
        digest=subscription.digest,
        digest_words=words[Subscription.Digest(subscription.digest)],
        hour=subscription.hour,
        zone=subscription.zone,
        is_enabled=subscription.is_enabled,
        lacks=lacks(subscription, has_mailbox=has_mailbox),
        created_by=subscription.created_by.username,
        created_at=subscription.created_at,
    )


def _asks_words(asks: dict[str, Any]) -> str:
    try:
        asked = filters.read(asks).as_json()
    except Invalid as error:
        return f"nothing: {error}"
    smallest = asked.pop("smallest", None)
    words = [f"from {100 * smallest:g}{NBSP}%"] if smallest else []
    for name, value in asked.items():
        joint = " and " if name == "label" else " or "
        words.append(f"{name} {joint.join(value) if isinstance(value, list) else value}")
    return "; ".join(words) or "all findings"


def masked(address: str) -> str:
    """Recognisable, but not usable."""
    if address in ("", UNREADABLE):
        return address
    if "://" in address:
        parts = urlsplit(address)
        return f"{parts.scheme}://{parts.netloc}/…"
    name, _, host = address.rpartition("@")
    return f"{name[:1]}…@{host}"


def shown(address: str) -> str:
    """Address in a list: a webhook's is long and often secret, so it is masked."""
    return masked(address) if "://" in address else address


def visible(viewer: User | None) -> QuerySet[Delivery]:
    if viewer is not None and viewer.role == User.Role.ADMINISTRATOR:
        return Delivery.objects.all()
    of_teams = Q(person=None)
    return Delivery.objects.filter(of_teams | Q(person=viewer) if viewer else of_teams)


def deliveries(*, viewer: User | None, subscription: int | None = None, state: str = "") -> QuerySet[Delivery]:
    """The newest first, with everything `delivery_rows` needs."""
    found = visible(viewer).select_related("subscription__team", "person").order_by("-pk")
    if subscription is not None:
        found = found.filter(subscription=subscription)
    if state:
        found = found.filter(STATES[state])
    return found.prefetch_related(
        Prefetch("notices", Notice.objects.select_related("note__finding").order_by("note_id"))
    )


def delivery_rows(found: Sequence[Delivery], *, may_see: bool) -> list[DeliveryRow]:
    return [_delivery_row(delivery, may_see=may_see) for delivery in found]


def _delivery_row(delivery: Delivery, *, may_see: bool) -> DeliveryRow:
    found = {notice.note.finding_id: notice.note.finding.title for notice in delivery.notices.all()}
    subscription = delivery.subscription
    address = delivery.to or (subscription.address if subscription else "")
    person = delivery.person.username if delivery.person else ""
    is_open = delivery.sent_at is None and delivery.given_up_at is None
    return DeliveryRow(
        id=delivery.pk,
        subscription=delivery.subscription_id,
        to=subscription.team.name if subscription else person,
        kind=subscription.get_kind_display() if subscription else Subscription.Kind.EMAIL.label,
        address=address if may_see and not (subscription and subscription.is_chat) else masked(address),
        is_test=not found,
        findings=tuple(NotifiedFinding(pk, title) for pk, title in list(found.items())[:MOST_FINDINGS]),
        total=len(found),
        state=delivery.state,
        attempts=delivery.attempts,
        made_at=delivery.made_at,
        next_at=delivery.next_at if is_open else None,
        sent_at=delivery.sent_at,
        given_up_at=delivery.given_up_at,
        answer=_answer(delivery, may_see=may_see),
    )


def _answer(delivery: Delivery, *, may_see: bool) -> str:
    """Masks the mailbox, which mail servers often include."""
    if may_see or not delivery.to:
        return delivery.answer
    return delivery.answer.replace(delivery.to, masked(delivery.to))


def standing(*, viewer: User | None, may_see: bool, now: datetime) -> DeliveryCounts:
    recent = visible(viewer).filter(made_at__gt=now - RECENT)
    counts = recent.aggregate(
        **{name.replace(" ", "_"): Count("pk", filter=asked) for name, asked in STATES.items()},
        newest=Max("pk", filter=STATES["given up"]),
    )
    newest = Delivery.objects.filter(pk=counts.pop("newest")).first()
    return DeliveryCounts(
        teams=Team.objects.count(),
        subscriptions=_reaching().count(),
        last_given_up=_answer(newest, may_see=may_see) if newest else "",
        **counts,
    )


def _reaching() -> QuerySet[Subscription]:
    """Enabled subscriptions with at least one recipient."""
    with_mailbox = User.objects.filter(teams=OuterRef("team"), is_active=True).exclude(email="")
    elsewhere = ~Q(kind=Subscription.Kind.EMAIL) | ~Q(address="")
    return Subscription.objects.filter(elsewhere | Q(Exists(with_mailbox)), is_enabled=True)


def message_of(delivery: Delivery) -> str:
    """Readable content: the text of a mail or chat message, the body of a webhook."""
    body = delivery.content.get("body")
    if body is None:
        return f"{delivery.content['subject']}\n\n{delivery.content['text']}"
    if (text := chat.text_of(body)) is not None:
        return text
    return json.dumps({"delivery": delivery.pk, **body}, ensure_ascii=False, indent=2)
