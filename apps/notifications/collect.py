"""Notices from notes, deliveries from notices; both under one lock, against duplicates by concurrent workers."""

import logging
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db import connection, transaction
from django.db.models import Max, QuerySet

from apps.accounts.models import User
from apps.core.problems import Invalid
from apps.notifications import wording
from apps.notifications.events import concerned, event_of
from apps.notifications.models import Considered, Delivery, Notice, Subscription
from apps.notifications.queries import mailboxes
from apps.regressions.api import filters
from apps.regressions.models import Note

log = logging.getLogger(__name__)

# Key of this app's PostgreSQL advisory lock.
LOCK = 7_305_002
AT_ONCE = 500
# Notes become visible at commit, not in the order of their ids: this many older ids are checked again.
LATE = 1000
# Notices per delivery.
MOST_NOTICES = 200


@transaction.atomic
def collect() -> int:
    """Make notices of the new notes; returns the number of notes processed."""
    if not _alone():
        return 0
    newest = Considered.objects.aggregate(newest=Max("pk"))["newest"] or 0
    notes = list(
        Note.objects.filter(pk__gt=newest - LATE, considered=None)
        .select_related("finding", "by")
        .prefetch_related("mentions")
        .order_by("pk")[:AT_ONCE]
    )
    if not notes:
        return 0
    notices = [*_of_teams(notes), *_of_people(notes)]
    Notice.objects.bulk_create(notices, ignore_conflicts=True)
    Considered.objects.bulk_create([Considered(note=note) for note in notes], ignore_conflicts=True)
    return len(notes)


def _of_teams(notes: Sequence[Note]) -> Iterable[Notice]:
    noted = [(note, event) for note in notes if (event := event_of(note)) is not None]
    if not noted:
        return
    findings = {note.finding_id for note, _ in noted}
    for subscription in Subscription.objects.filter(is_enabled=True):
        wanted = [
            (note, event) for note, event in noted if event in subscription.events and note.pk > subscription.after
        ]
        if not wanted:
            continue
        try:
            asked = filters.matching(filters.read(subscription.asks)).filter(pk__in=findings)
        except Invalid as error:
            log.error("subscription %s has an invalid filter and is skipped: %s", subscription.pk, error)
            continue
        matching = set(asked.values_list("pk", flat=True))
        for note, event in wanted:
            if note.finding_id in matching:
                yield Notice(subscription=subscription, note=note, event=event)


def _of_people(notes: Sequence[Note]) -> Iterable[Notice]:
    for note in notes:
        for person, event in concerned(note):
            yield Notice(person=person, note=note, event=event)


@transaction.atomic
def bundle(*, now: datetime) -> int:
    """Make deliveries of the due notices; returns their number."""
    if not _alone():
        return 0
    waiting = Notice.objects.filter(bundled_at=None)
    made = 0
    for subscription in Subscription.objects.filter(
        is_enabled=True, pk__in=waiting.values("subscription")
    ).select_related("team"):
        due = _load(waiting.filter(subscription=subscription, made_at__lte=boundary(subscription, now=now)))
        if due:
            made += _deliver(due, kind=subscription.kind, team=subscription, now=now)
    for person in User.objects.filter(pk__in=waiting.exclude(person=None).values("person")).order_by("pk"):
        made += _deliver(_load(waiting.filter(person=person)), kind=Subscription.Kind.EMAIL, person=person, now=now)
    return made


def boundary(subscription: Subscription, *, now: datetime) -> datetime:
    """Notices up to this time are due: for a digest, its last scheduled time."""
    if subscription.digest == Subscription.Digest.AT_ONCE:
        return now
    local = now.astimezone(_zone(subscription))
    last = local.replace(hour=subscription.hour, minute=0, second=0, microsecond=0, fold=0)
    days = local.weekday() if subscription.digest == Subscription.Digest.WEEKLY else 0
    last -= timedelta(days=days)
    if last > local:
        last -= timedelta(days=7 if subscription.digest == Subscription.Digest.WEEKLY else 1)
    return last.astimezone(UTC)


def _zone(subscription: Subscription) -> tzinfo:
    """UTC for a zone that is no longer known here: a digest at another hour is better than none for anybody."""
    try:
        return ZoneInfo(subscription.zone)
    except (ZoneInfoNotFoundError, ValueError):
        log.error("subscription %s: unknown time zone %r, UTC is used", subscription.pk, subscription.zone)
        return UTC


def _load(notices: QuerySet[Notice]) -> list[Notice]:
    of_finding = ("owner", "platform", "hardware_class", "release", "baseline")
    related = ("note__by", *(f"note__finding__{name}" for name in of_finding))
    return list(notices.select_related(*related).order_by("note_id")[:MOST_NOTICES])


def _deliver(
    notices: Sequence[Notice],
    *,
    kind: str,
    now: datetime,
    team: Subscription | None = None,
    person: User | None = None,
) -> int:
    content = wording.content(notices, kind=kind, team=team.team.name if team else "")
    receivers = [person.email] if person else receivers_of(team) if team else []
    for to in receivers:
        delivery = Delivery.objects.create(
            subscription=team, person=person, to=to, content=content, made_at=now, next_at=now
        )
        delivery.notices.set(notices)
    if not receivers:
        delivery = Delivery.objects.create(
            subscription=team, content=content, made_at=now, given_up_at=now, answer="no team member has an address"
        )
        delivery.notices.set(notices)
    Notice.objects.filter(pk__in=[notice.pk for notice in notices]).update(bundled_at=now)
    return len(receivers)


def receivers_of(subscription: Subscription) -> list[str]:
    """Mailboxes; a single empty string for a webhook."""
    if subscription.kind != Subscription.Kind.EMAIL:
        return [""]
    if subscription.address:
        return [subscription.address]
    return sorted(set(mailboxes(subscription.team).values_list("email", flat=True)))


def _alone() -> bool:
    """False: another worker holds the lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        return bool(cursor.fetchone()[0])
