"""Deliveries go out once, to where they may go, and what goes wrong is said and tried again."""

import json
import re
import smtplib
import socket
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from django.conf import settings as django_settings
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from apps.core.problems import Invalid
from apps.notifications import collect, deliver, services
from apps.notifications.models import Delivery
from apps.notifications.webhooks import addresses, signatures
from tests.notifications.made import Receiver, a_finding, a_note, a_subscription
from tests.paths import DOCS
from tests.support.waiting import LIMIT
from workers import tasks

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def a_delivery(**subscription: Any) -> Delivery:
    a_subscription(**subscription)
    a_note(a_finding())
    collect.collect()
    collect.bundle(now=timezone.now())
    return Delivery.objects.get()


def sent(delivery: Delivery, after: timedelta = timedelta(0), *, since: datetime | None = None) -> Delivery:
    """Tried so long after `since`, by default now."""
    deliver.send(delivery_id=delivery.pk, now=(since or timezone.now()) + after)
    delivery.refresh_from_db()
    return delivery


# ---------------------------------------------------------------- webhooks


def test_a_webhook_is_signed_so_that_its_receiver_can_tell(receiver: Receiver) -> None:
    delivery = sent(a_delivery(address=f"{receiver.url}/hook?x=1"))
    assert (delivery.state, delivery.answer) == ("sent", "200 OK: said by the receiver")
    ((path, headers, body),) = receiver.received
    assert path == "/hook?x=1"
    assert headers["X-Splashboard-Delivery"] == str(delivery.pk) == str(json.loads(body)["delivery"])
    assert headers["Content-Type"] == "application/json"
    secret, now = delivery.subscription.secret if delivery.subscription else "", int(timezone.now().timestamp())
    assert signatures.verify(headers["X-Splashboard-Signature"], body, secret=secret, now=now)
    assert not signatures.verify(headers["X-Splashboard-Signature"], body + b" ", secret=secret, now=now)
    assert not signatures.verify(headers["X-Splashboard-Signature"], body, secret="another", now=now)
    assert not signatures.verify(headers["X-Splashboard-Signature"], body, secret=secret, now=now + 3600)


def test_the_documents_example_takes_what_is_sent_and_nothing_else(receiver: Receiver) -> None:
    document = (DOCS / "howto" / "notifications.md").read_text()
    (example,) = re.findall(r"^```python\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)
    shown: dict[str, Any] = {}
    exec(example, shown)
    delivery = sent(a_delivery(address=receiver.url))
    assert delivery.subscription is not None
    ((_, headers, body),) = receiver.received
    header, secret = headers["X-Splashboard-Signature"], delivery.subscription.secret
    assert shown["is_from_splashboard"](header, body, secret)
    assert not shown["is_from_splashboard"](header, body + b" ", secret)
    assert not shown["is_from_splashboard"]("", body, secret)
    (described,) = (
        json.loads(each) for each in re.findall(r"^```json\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)
    )
    posted = json.loads(body)
    assert set(described) == set(posted)
    assert set(described["findings"][0]) == set(posted["findings"][0])
    assert set(described["findings"][0]["events"][0]) == set(posted["findings"][0]["events"][0])


@pytest.mark.parametrize("header", ["", "v1=5f", "t=x,v1=5f", "t=1,v1=", "t", "t=٣,v1=é"])
def test_what_is_no_signature_is_refused(header: str) -> None:
    assert not signatures.verify(header, b"{}", secret="s", now=1)


@pytest.mark.parametrize("kind", ["slack", "teams", "mattermost"])
def test_a_chat_gets_its_message_alone_without_a_signature(receiver: Receiver, kind: str) -> None:
    delivery = sent(a_delivery(kind=kind, address=receiver.url))
    ((_, headers, body),) = receiver.received
    assert json.loads(body) == delivery.content["body"]
    assert "X-Splashboard-Signature" not in headers


def test_what_is_sent_is_not_sent_again(receiver: Receiver) -> None:
    delivery = sent(a_delivery(address=receiver.url))
    assert not deliver.send(delivery_id=delivery.pk, now=timezone.now() + timedelta(days=1))
    assert not deliver.retry(delivery_id=delivery.pk, now=timezone.now())
    assert len(receiver.received) == 1


def test_an_outage_is_waited_for_with_growing_pauses(receiver: Receiver) -> None:
    receiver.answers = [503, 503, 200]
    delivery, began = a_delivery(address=receiver.url), timezone.now()
    delivery = sent(delivery, since=began)
    assert delivery.state == "to be tried again"
    assert delivery.answer.startswith("503 Service Unavailable")
    assert sent(delivery, timedelta(seconds=30), since=began).attempts == 1, "a minute has not passed"
    assert sent(delivery, timedelta(minutes=2), since=began).attempts == 2
    assert delivery.next_at - began > timedelta(minutes=6)
    assert sent(delivery, timedelta(minutes=8), since=began).state == "sent"
    bodies = {body for _, _, body in receiver.received}
    assert len(bodies) == 1, "the same at every attempt"


def test_a_pause_that_a_clock_set_which_was_ahead_is_over(receiver: Receiver) -> None:
    delivery = a_delivery(address=receiver.url)
    now = timezone.now()
    Delivery.objects.update(next_at=now + timedelta(days=2))
    assert deliver.due(now=now) == [delivery.pk]
    assert sent(delivery).state == "sent"


def test_a_receiver_that_stays_away_is_given_up_with_the_reason_and_can_be_tried_again(receiver: Receiver) -> None:
    receiver.answers = [500]
    delivery, after = a_delivery(address=receiver.url), timedelta(0)
    while delivery.given_up_at is None:
        delivery = sent(delivery, after)
        after += timedelta(days=1, seconds=1)
    assert delivery.attempts == len(deliver.PAUSES) + 1
    receiver.answers = [200]
    assert deliver.retry(delivery_id=delivery.pk, now=timezone.now())
    assert sent(delivery).state == "sent"


@pytest.mark.parametrize(("status", "state"), [(404, "given up"), (410, "given up"), (429, "to be tried again")])
def test_a_refusal_is_not_repeated_but_for_haste(receiver: Receiver, status: int, state: str) -> None:
    receiver.answers = [status]
    delivery = sent(a_delivery(address=receiver.url))
    assert delivery.state == state
    assert str(status) in delivery.answer


def test_redirects_are_not_followed(receiver: Receiver) -> None:
    receiver.answers = [302]
    delivery = sent(a_delivery(address=receiver.url))
    assert delivery.state == "given up"
    assert "redirects are not followed" in delivery.answer
    assert [path for path, _, _ in receiver.received] == ["/"]


def test_nobody_there_is_said_and_tried_again(settings: Settings) -> None:
    settings.WEBHOOK_NETWORKS = ["127.0.0.1/32"]
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        delivery = sent(a_delivery(address=f"http://127.0.0.1:{port}/"))
    assert delivery.state == "to be tried again"
    assert delivery.answer.startswith("no answer: ")


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1"),
        *("::1", "fd00::1", "fe80::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::"),
        *("::127.0.0.1", "::10.0.0.1", "fec0::1", "feff::1"),
    ],
)
def test_addresses_inside_are_not_asked(address: str) -> None:
    assert not addresses.is_allowed(address)
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(Invalid, match="is not public"):
        addresses.check(f"https://{host}/hook")


@pytest.mark.parametrize(
    ("network", "address"), [("::1/128", "::1"), ("fd00::/8", "fd00::1"), ("127.0.0.1/32", "::ffff:127.0.0.1")]
)
def test_networks_of_the_installation_are_asked(settings: Settings, network: str, address: str) -> None:
    settings.WEBHOOK_NETWORKS = [network]
    assert addresses.is_allowed(address)
    assert not addresses.is_allowed("fec0::1")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "0x7f.1", "2130706433", "0177.0.0.1", "127.1"])
def test_names_and_numbers_that_lead_inside_are_refused_when_they_are_typed(host: str) -> None:
    with pytest.raises(Invalid, match="which is not public"):
        addresses.check(f"http://{host}:8080/hook")


def test_a_name_that_nobody_knows_yet_or_that_takes_long_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()

    def lookup(host: str, *_: Any, **__: Any) -> list[Any]:
        if host == "slow.example":
            asked.wait(LIMIT)
        raise socket.gaierror("not known")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    monkeypatch.setattr(addresses, "LOOKUP", 0.01)
    for url in ("https://later.example/hook", "https://slow.example/hook"):
        assert addresses.check(url) == url
    asked.set()


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1"])
def test_public_addresses_are_asked(address: str) -> None:
    assert addresses.is_allowed(address)


@pytest.mark.parametrize(
    "url",
    ["", "ftp://x/", "https://", "https://a:b@example.com/", "https://exa mple.com/", "https://x:99999/", "http://["],
)
def test_what_is_no_address_of_a_webhook_is_refused(url: str) -> None:
    with pytest.raises(Invalid) as refused:
        addresses.check(url)
    assert [each.field for each in refused.value.errors] == ["address"]


def test_a_name_that_leads_inside_is_not_asked(receiver: Receiver, settings: Settings) -> None:
    delivery = a_delivery(address=receiver.url.replace("127.0.0.1", "localhost"))
    settings.WEBHOOK_NETWORKS = []
    sent(delivery)
    delivery.refresh_from_db()
    assert delivery.state == "given up"
    assert "not public" in delivery.answer
    assert receiver.received == []


def test_the_address_that_was_checked_is_the_one_that_is_asked(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is public when it is looked up first, and leads inside when it is looked up again."""
    asked: list[str] = []

    def lookup(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    delivery = a_delivery(address=receiver.url.replace("127.0.0.1", "hook.example"))
    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    sent(delivery)
    assert asked[0] == "hook.example"
    assert "hook.example" not in asked[1:], "looked up a second time"
    assert receiver.received[0][1]["Host"].startswith("hook.example:")


@pytest.mark.django_db(transaction=True)
def test_two_workers_send_a_delivery_once(receiver: Receiver) -> None:
    delivery, start = a_delivery(address=receiver.url), threading.Barrier(4)

    def work() -> None:
        start.wait()
        tasks.send_delivery(delivery_id=delivery.pk)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(receiver.received) == 1
    assert Delivery.objects.get().attempts == 1


def test_the_beat_finds_what_happened_and_what_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, Any]] = []

    def enqueue(_task: Any, **arguments: Any) -> bool:
        given.append(arguments)
        return True

    monkeypatch.setattr(tasks, "enqueue", enqueue)
    a_subscription()
    a_note(a_finding())
    assert tasks.notify() == 1
    assert [arguments["delivery_id"] for arguments in given] == [Delivery.objects.get().pk]


# ---------------------------------------------------------------- mail


class Mailbox:
    """A real SMTP server: keeps what it took, and refuses who it is told to."""

    def __init__(self) -> None:
        self.taken: list[EmailMessage] = []
        self.refusal = ""

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Any, address: str, _: Any) -> str:  # noqa: N802
        if self.refusal:
            return self.refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        parsed = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(parsed, EmailMessage)
        self.taken.append(parsed)
        return "250 taken"


@pytest.fixture
def mailbox(settings: Settings) -> Iterator[Mailbox]:
    handler = Mailbox()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(handler, hostname="127.0.0.1", port=port)
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    settings.EMAIL_HOST_USER, settings.EMAIL_USE_TLS, settings.EMAIL_USE_SSL = "", False, False
    yield handler
    controller.stop()


def test_a_mail_says_what_changed_as_text_and_as_html_with_the_way_to_it(mailbox: Mailbox) -> None:
    delivery = sent(a_delivery(kind="e-mail", address="storage@example.com"))
    assert (delivery.state, delivery.answer) == ("sent", "accepted by the mail server")
    (mail,) = mailbox.taken
    assert mail["To"] == "storage@example.com"
    assert mail["From"] == django_settings.DEFAULT_FROM_EMAIL
    assert mail["Auto-Submitted"] == "auto-generated"
    text, html = (mail.get_body(preferencelist=(kind,)) for kind in ("plain", "html"))
    assert text is not None
    assert html is not None
    address = f"{django_settings.ADDRESS}/findings/"
    for part in (text, html):
        assert "Throughput −12 %" in part.get_content()
        assert "Splashboard found 1 change" in part.get_content()
        assert address in part.get_content()


def test_without_a_mail_server_it_is_said_where_the_mail_lies(settings: Settings, tmp_path: Path) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH = str(tmp_path)
    delivery = sent(a_delivery(kind="e-mail", address="storage@example.com"))
    assert delivery.answer == "written to a file in var/mail: there is no mail server"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_second_copy_of_a_mail_carries_the_same_message_id(mailbox: Mailbox) -> None:
    """As after a worker that died between sending and saying so."""
    delivery = sent(a_delivery(kind="e-mail", address="storage@example.com"))
    Delivery.objects.update(sent_at=None)
    sent(delivery, timedelta(hours=1))
    assert len({mail["Message-ID"] for mail in mailbox.taken}) == 1
    assert len(mailbox.taken) == 2


@pytest.mark.parametrize(
    ("refusal", "state"), [("550 no such user", "given up"), ("451 greylisted", "to be tried again")]
)
def test_a_mailbox_that_is_not_there_is_given_up_one_that_is_busy_is_tried_again(
    mailbox: Mailbox, refusal: str, state: str
) -> None:
    mailbox.refusal = refusal
    delivery = sent(a_delivery(kind="e-mail", address="storage@example.com"))
    assert (delivery.state, delivery.answer) == (state, refusal)


def test_a_mail_server_that_is_away_is_waited_for(settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", unused.getsockname()[1]
        delivery = sent(a_delivery(kind="e-mail", address="storage@example.com"))
    assert delivery.state == "to be tried again"
    assert delivery.answer.startswith("no mail server: ")


def test_a_wrong_password_is_waited_for_because_it_may_be_put_right(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> int:
        raise smtplib.SMTPAuthenticationError(535, b"authentication failed")

    monkeypatch.setattr("django.core.mail.EmailMultiAlternatives.send", refuse)
    delivery = sent(a_delivery(kind="e-mail", address="storage@example.com"))
    assert (delivery.state, delivery.answer) == ("to be tried again", "535 authentication failed")


def test_a_test_says_that_nothing_has_happened(receiver: Receiver) -> None:
    subscription = a_subscription(address=receiver.url)
    (delivery,) = services.send_test(subscription_id=subscription.pk, now=timezone.now())
    assert sent(delivery).state == "sent"
    body = json.loads(receiver.received[0][2])
    assert (body["test"], body["findings"]) == (True, [])
