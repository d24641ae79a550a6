"""Sends deliveries: claimed by one worker, retried with growing pauses, finally given up with the reason."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet

from apps.core.audit.api import Action, record
from apps.notifications.chat import encoded
from apps.notifications.email import mail
from apps.notifications.encryption import UNREADABLE
from apps.notifications.models import Delivery, Subscription
from apps.notifications.webhooks import signatures
from apps.notifications.webhooks.outcome import Outcome
from apps.notifications.webhooks.remedies import remedy_of

# Longer than any attempt. If a worker dies meanwhile, the next one takes over and may send a second copy.
LEASE = timedelta(minutes=2)
# Pauses after each attempt, minutes; none after the last: two days in all.
PAUSES = (1, 5, 15, 60, 180, 720, 1440)
LONGEST_PAUSE = timedelta(days=1)  # also of a receiver's Retry-After
ATTEMPTS = len(PAUSES) + 1
MOST_DUE = 100
LONGEST_ANSWER = 500


def waiting() -> QuerySet[Delivery]:
    return Delivery.objects.filter(sent_at=None, given_up_at=None)


def due(*, now: datetime) -> list[int]:
    """Ids of deliveries due now, the longest waiting first."""
    return list(waiting().filter(_is_due(now)).order_by("next_at").values_list("pk", flat=True)[:MOST_DUE])


def send(*, delivery_id: int, now: datetime) -> bool:
    """One attempt. False: it failed, or another worker has the delivery."""
    won = (
        waiting()
        .filter(_is_due(now), pk=delivery_id)
        .update(next_at=now + LEASE, attempts=F("attempts") + 1, answer="no answer yet")
    )
    if won != 1:
        return False
    delivery = Delivery.objects.select_related("subscription").get(pk=delivery_id)
    if delivery.attempts > ATTEMPTS:  # each worker that made one was killed before it could say so
        words = f"{ATTEMPTS} attempts ended without an answer"
        Delivery.objects.filter(pk=delivery_id).update(given_up_at=now, attempts=ATTEMPTS, answer=words)
        return False
    outcome = _attempt(delivery, now=now)
    kept: dict[str, Any] = {"answer": _answer(delivery, outcome)}
    if outcome.is_sent:
        kept["sent_at"] = now
    elif outcome.again and delivery.attempts < ATTEMPTS:
        pause = timedelta(minutes=PAUSES[delivery.attempts - 1])
        kept["next_at"] = now + max(pause, timedelta(seconds=outcome.after))
    else:
        kept["given_up_at"] = now
    Delivery.objects.filter(pk=delivery_id).update(**kept)
    return outcome.is_sent


def _is_due(now: datetime) -> Q:
    """Further ahead than the longest pause: the clock was set back since."""
    return Q(next_at__lte=now) | Q(next_at__gt=now + LONGEST_PAUSE)


@transaction.atomic
def retry(*, delivery_id: int, now: datetime) -> bool:
    """Resume a delivery that was given up, or skip its pause. False: it was sent, or is being sent."""
    kept = Delivery.objects.filter(pk=delivery_id, sent_at=None).exclude(answer="no answer yet", given_up_at=None)
    won = kept.update(given_up_at=None, attempts=0, next_at=now) == 1
    if won:
        record(Action.DELIVERY_RETRY, f"delivery {delivery_id}")
    return won


def _attempt(delivery: Delivery, *, now: datetime) -> Outcome:
    subscription = delivery.subscription
    if subscription is None or subscription.kind == Subscription.Kind.EMAIL:
        if not delivery.to:
            return Outcome(is_sent=False, again=False, words="no team member has an address")
        return mail(**delivery.content, to=delivery.to, number=delivery.pk, made_at=delivery.made_at)
    if UNREADABLE in (subscription.address, subscription.secret):
        return Outcome(is_sent=False, again=False, words=f"address or secret {UNREADABLE}")
    # Imported here: only the worker posts; every process would load the HTTP library at start.
    from apps.notifications.webhooks.post import post  # noqa: PLC0415

    body = {"delivery": delivery.pk, **delivery.content["body"]}
    if subscription.is_chat:
        return post(subscription.address, encoded(delivery.content["body"]), headers={})
    content = encoded(body)
    at = int(now.timestamp())
    headers = {
        signatures.HEADER: signatures.signed(content, secret=subscription.secret, at=at),
        "X-Splashboard-Delivery": str(delivery.pk),
    }
    return post(subscription.address, content, headers=headers)


def _answer(delivery: Delivery, outcome: Outcome) -> str:
    """The receiver's words, cut where they leave no room for the remedy."""
    remedy = remedy_of(delivery.subscription.kind if delivery.subscription else "", outcome)
    words = outcome.words.replace("\0", " ")
    return f"{words[: LONGEST_ANSWER - len(remedy) - 3]} ({remedy})" if remedy else words[:LONGEST_ANSWER]
