"""What a receiver refuses is shown with what to do about it, and a receiver that is too busy is waited for."""

import pytest
from django.utils import timezone

from apps.notifications import deliver
from tests.notifications.made import Receiver
from tests.notifications.test_sending import a_delivery, sent

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("kind", "status", "said", "state", "remedy"),
    [
        ("slack", 403, "invalid_token", "given up", "create another in Slack and enter its address"),
        ("slack", 404, "no_service", "given up", "create another in Slack"),
        ("slack", 410, "channel_is_archived", "given up", "unarchive the channel"),
        ("slack", 400, "invalid_blocks", "given up", "report it as a defect"),
        ("slack", 429, "rate_limited", "to be tried again", "choose a digest"),
        ("teams", 401, '{"error":{"code":"DirectApiAuthorizationRequired"}}', "given up", "let anyone trigger"),
        ("teams", 400, '{"error":{"code":"WorkflowTriggerIsNotEnabled"}}', "given up", "turn the workflow on"),
        ("teams", 413, "", "given up", "accepts less in one message"),
        (
            "mattermost",
            400,
            '{"id":"web.incoming_webhook.invalid.app_error"}',
            "given up",
            "create another in Mattermost",
        ),
        ("mattermost", 501, '{"id":"web.incoming_webhook.disabled.app_error"}', "to be tried again", "System Console"),
        ("webhook", 403, "invalid_token", "given up", "whether the webhook still exists"),
    ],
)
def test_a_refusal_is_shown_with_its_remedy(
    receiver: Receiver, kind: str, status: int, said: str, state: str, remedy: str
) -> None:
    receiver.answers, receiver.said = [status], said.encode()
    delivery = sent(a_delivery(kind=kind, address=receiver.url))
    assert delivery.state == state
    assert delivery.answer.startswith(f"{status} ")
    assert remedy in delivery.answer
    assert said in delivery.answer


def test_a_long_refusal_leaves_room_for_its_remedy(receiver: Receiver) -> None:
    receiver.answers, receiver.said = [403], b"invalid_token " + b"x" * 5000
    delivery = sent(a_delivery(kind="slack", address=receiver.url))
    assert len(delivery.answer) <= deliver.LONGEST_ANSWER
    assert delivery.answer.endswith("enter its address)")


@pytest.mark.parametrize(("header", "seconds"), [("900", 900), ("5", 60), ("9" * 30, 86_400), ("soon", 60)])
def test_a_receiver_that_says_when_is_not_asked_sooner(receiver: Receiver, header: str, seconds: float) -> None:
    receiver.answers, receiver.retry_after = [429], header
    delivery, began = a_delivery(kind="slack", address=receiver.url), timezone.now()
    sent(delivery, since=began)
    assert (delivery.next_at - began).total_seconds() == seconds
