"""Management of teams, their subscriptions and users' own addresses."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from apps.accounts.models import User
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid
from apps.core.text import counted
from apps.notifications import wording
from apps.notifications.collect import receivers_of
from apps.notifications.deliver import waiting
from apps.notifications.encryption import UNREADABLE
from apps.notifications.models import CHOOSABLE, Delivery, Subscription, Team
from apps.notifications.queries import masked
from apps.notifications.webhooks import addresses
from apps.regressions.api import filters
from apps.regressions.models import Note

LONGEST_NAME = 80
SHORTEST_SECRET, LONGEST_SECRET = 16, 100
Kind, Digest = Subscription.Kind, Subscription.Digest


class NoSuchNotification(LookupError):
    """No such team, subscription or delivery."""


# ---------------------------------------------------------------- teams


def keep_team(*, team_id: int | None, name: str, members: Sequence[str]) -> Team:
    """Create or change a team with members (user names). Raises Invalid (`name`, `members`), NoSuchNotification."""
    problems: list[FieldProblem] = []
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or "\0" in name:
        problems.append(FieldProblem("name", f"must have 1 to {LONGEST_NAME} characters", "name the team"))
    found = {user.username: user for user in User.objects.filter(username__in=members, is_active=True)}
    if unknown := sorted(set(members) - set(found)):
        problems.append(FieldProblem("members", f"unknown users: {', '.join(unknown)[:200]}", "use user names"))
    if problems:
        raise Invalid(problems)
    team = Team() if team_id is None else team_of(team_id)
    team.name = name
    try:
        with transaction.atomic():
            team.save()
            before = _members(team)
            team.members.set(found.values())
            record(Action.TEAM_SAVE, f"team {team.pk} {name}", before=before, after=_members(team))
    except IntegrityError:
        raise Invalid([FieldProblem("name", f"team {name!r} already exists", "choose another name")]) from None
    return team


@transaction.atomic
def delete_team(*, team_id: int) -> None:
    """Raises Invalid while it has subscriptions, NoSuchNotification."""
    team = team_of(team_id)
    if count := team.subscriptions.count():
        message = f"{team.name} has {counted(count, 'subscription')}"
        raise Invalid([FieldProblem("", message, "delete them first")])
    record(Action.TEAM_DELETE, f"team {team.pk} {team.name}", before=_members(team))
    team.delete()


def _members(team: Team) -> str:
    return ", ".join(team.members.order_by("username").values_list("username", flat=True))


def team_of(team_id: int) -> Team:
    found = Team.objects.filter(pk=team_id).first()
    if found is None:
        raise NoSuchNotification(f"There is no team {team_id}.")
    return found


# ---------------------------------------------------------------- subscriptions


def keep_subscription(
    *,
    subscription_id: int | None,
    by: User,
    team: int,
    kind: str,
    address: str,
    events: Sequence[str],
    asks: Mapping[str, Any],
    digest: str,
    hour: int,
    zone: str,
    secret: str = "",
    is_enabled: bool = True,
) -> Subscription:
    """Create or change a subscription; its kind is fixed. An empty `secret` keeps the present one, or generates one;
    an empty or masked `address` of a chat keeps the present one.

    Raises Invalid naming each field, NoSuchNotification."""
    subscription = Subscription(created_by=by) if subscription_id is None else subscription_of(subscription_id)
    problems: list[FieldProblem] = []
    values: dict[str, Any] = {
        "team": Team.objects.filter(pk=team).first(),
        "kind": kind,
        "address": _address(subscription, kind, address, problems),
        "secret": _secret(subscription, kind, secret, problems),
        "events": [each.value for each in CHOOSABLE if each in events],
        "asks": _asks(asks, problems),
        "digest": digest,
        "hour": hour,
        "zone": zone,
    }
    choices = {
        "team": (values["team"] is not None, f"there is no team {team}"),
        "kind": (kind in Kind.values, f"{kind[:40]!r} is not known: use {', '.join(Kind.values)}"),
        "events": (bool(events) and set(events) <= set(CHOOSABLE), f"choose from {', '.join(CHOOSABLE)}"),
        "digest": (digest in Digest.values, f"{digest[:40]!r} is not known: use {', '.join(Digest.values)}"),
        "hour": (0 <= hour < 24, "is not between 0 and 23"),
        "zone": (_is_zone(zone), f"{zone[:60]!r} is not a time zone: use a name like Europe/Helsinki"),
    }
    problems += [FieldProblem(field, message) for field, (is_fine, message) in choices.items() if not is_fine]
    if subscription_id is not None and kind != subscription.kind:
        problems.append(FieldProblem("kind", f"is fixed as {subscription.kind}", "make another subscription"))
    if problems:
        raise Invalid(problems)
    for name, value in values.items():
        setattr(subscription, name, value)
    _switch(subscription, is_enabled)
    return subscription


@transaction.atomic
def _switch(subscription: Subscription, is_enabled: bool) -> None:
    """Save it. Events before it was enabled are not sent; waiting ones are given up when it is disabled."""
    if subscription.pk is None or (is_enabled and not subscription.is_enabled):
        subscription.after = Note.objects.aggregate(newest=Max("pk"))["newest"] or 0
    if subscription.pk is not None and not is_enabled:
        now = timezone.now()
        waiting().filter(subscription=subscription).update(given_up_at=now, answer="the subscription was disabled")
        subscription.notice_set.filter(bundled_at=None).delete()
    subscription.is_enabled = is_enabled
    known = Subscription.objects.filter(pk=subscription.pk).select_related("team").first()
    subscription.save()
    before, after = "", _summary(subscription)
    if known:
        before, after = _summary(known), after + _renewed(known, subscription)
    record(Action.SUBSCRIPTION_SAVE, f"subscription {subscription.pk}", before=before, after=after)


def _summary(subscription: Subscription) -> str:
    """With the masked address only: that of a chat webhook is a secret."""
    state = "on" if subscription.is_enabled else "disabled"
    where = f" {masked(subscription.address)}" if subscription.address else ""
    when = subscription.digest
    if subscription.digest != Digest.AT_ONCE:
        when = f"{when} at {subscription.hour:02}:00 {subscription.zone}"
    asked = "&".join(f"{name}={value}" for name, value in sorted(subscription.asks.items())) or "all findings"
    events = ", ".join(subscription.events)
    return f"{subscription.team.name}, {subscription.kind}{where}, {state}, {when}: {events}; {asked}"


def _renewed(before: Subscription, after: Subscription) -> str:
    """What changed that the summary does not show."""
    changed = [name for name in ("address", "secret") if getattr(before, name) != getattr(after, name)]
    return f" ({' and '.join(changed)} changed)" if changed else ""


@transaction.atomic
def delete_subscription(*, subscription_id: int) -> None:
    """Delete it with its deliveries. Raises NoSuchNotification."""
    subscription = subscription_of(subscription_id)
    record(Action.SUBSCRIPTION_DELETE, f"subscription {subscription_id}", before=_summary(subscription))
    subscription.delete()


def subscription_of(subscription_id: int) -> Subscription:
    found = Subscription.objects.select_related("team").filter(pk=subscription_id).first()
    if found is None:
        raise NoSuchNotification(f"There is no subscription {subscription_id}.")
    return found


@transaction.atomic
def send_test(*, subscription_id: int, now: datetime) -> list[Delivery]:
    """Test deliveries, one per receiver. Raises Invalid if there is none, NoSuchNotification."""
    subscription = subscription_of(subscription_id)
    content = wording.content([], kind=subscription.kind, team=subscription.team.name)
    receivers = receivers_of(subscription)
    if not receivers:
        problem = f"no member of {subscription.team.name} has an address"
        raise Invalid([FieldProblem("address", problem, "state one, or let its members state theirs")])
    record(
        Action.SUBSCRIPTION_TEST,
        f"subscription {subscription_id}",
        after=counted(len(receivers), "delivery", plural="deliveries"),
    )
    return [
        Delivery.objects.create(subscription=subscription, to=to, content=content, made_at=now, next_at=now)
        for to in receivers
    ]


def _address(subscription: Subscription, kind: str, address: str, problems: list[FieldProblem]) -> str:
    known: str = subscription.address
    if subscription.pk and subscription.is_chat and known != UNREADABLE and address.strip() in ("", masked(known)):
        return known  # never shown whole: kept unless another is given
    if kind != Kind.EMAIL:
        try:
            return addresses.check(address)
        except Invalid as error:
            problems += error.errors
        return ""
    address = address.strip()
    return address if not address or _is_mailbox(address, "address", problems) else ""


def _secret(subscription: Subscription, kind: str, secret: str, problems: list[FieldProblem]) -> str:
    if kind != Kind.WEBHOOK:
        return ""
    if (
        secret
        and secret != UNREADABLE
        and not (SHORTEST_SECRET <= len(secret) <= LONGEST_SECRET and secret.isprintable())
    ):
        message = f"must have {SHORTEST_SECRET} to {LONGEST_SECRET} characters"
        problems.append(FieldProblem("secret", message, "leave it empty to have one generated"))
    known = [each for each in (secret, subscription.secret) if each and each != UNREADABLE]
    return known[0] if known else secrets.token_urlsafe(32)


def _asks(asks: Mapping[str, Any], problems: list[FieldProblem]) -> dict[str, Any]:
    try:
        wanted = filters.read(asks)
    except Invalid as error:
        problems += [FieldProblem(f"asks.{each.field}", each.message, each.remedy) for each in error.errors]
        return {}
    if wanted.owner == filters.ME:
        problems.append(FieldProblem("asks.owner", "a team has no 'me'", "use a user name"))
    # A misspelt name would never match. A release or a workload may be a future one.
    missing = [each for each in filters.unknown(wanted) if each.field not in ("release", "family")]
    problems += [FieldProblem(f"asks.{each.field}", each.message, each.remedy) for each in missing]
    return {name: value for name, value in wanted.as_json().items() if name != "sort"}


def _is_zone(zone: str) -> bool:
    try:
        ZoneInfo(zone)
    except (ValueError, OSError, LookupError):
        return False
    return bool(zone)


# ---------------------------------------------------------------- people


@transaction.atomic
def keep_own_address(*, user: User, address: str) -> None:
    """Set the address for a user's own notifications; empty: none. Nobody is admitted by it. Raises Invalid."""
    address, problems = address.strip(), list[FieldProblem]()
    if address:
        _is_mailbox(address, "address", problems)
    if problems:
        raise Invalid(problems)
    record(Action.PERSON_ADDRESS, f"person {user.username}", before=user.email, after=address)
    user.email = address
    user.save(update_fields=["email"])


def _is_mailbox(address: str, field: str, problems: list[FieldProblem]) -> bool:
    try:
        validate_email(address)
    except ValidationError:
        problems.append(FieldProblem(field, f"{address[:60]!r} is not an e-mail address", "use name@example.com"))
        return False
    return True
