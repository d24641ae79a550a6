"""A receiver that answers byte by byte does not hold a worker, and an attempt that nobody finished is counted."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from apps.notifications import deliver
from apps.notifications.models import Delivery
from apps.notifications.webhooks import post
from tests.notifications.test_sending import a_delivery, sent

pytestmark = pytest.mark.django_db
# s
BYTE, SOON = 0.02, 0.4


@contextmanager
def a_dripping_receiver(head: bytes) -> Iterator[str]:
    """Its address. It sends `head`, then a byte at a time until nobody listens any more."""
    is_over = threading.Event()

    def answer(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(head)
            while not is_over.wait(BYTE):
                try:
                    connection.sendall(b"x")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer, args=[server])
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        is_over.set()
        thread.join()


@pytest.fixture
def soon(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr(post, "EXCHANGE", SOON)


def test_an_answer_that_never_ends_is_tried_again_after_its_deadline(soon: None) -> None:
    with a_dripping_receiver(b"HTTP/1.1 200 OK\r\nX-Slow: ") as address:
        delivery = sent(a_delivery(address=address))
    assert (delivery.state, delivery.answer) == ("to be tried again", f"no answer: not whole within {SOON} s")


def test_a_status_counts_although_its_text_never_ends(soon: None) -> None:
    with a_dripping_receiver(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n") as address:
        delivery = sent(a_delivery(address=address))
    assert (delivery.state, delivery.answer) == ("sent", "200 OK")


def test_a_delivery_whose_workers_were_all_killed_is_given_up() -> None:
    delivery = a_delivery()
    Delivery.objects.update(attempts=deliver.ATTEMPTS, answer="no answer yet")
    assert not deliver.send(delivery_id=delivery.pk, now=timezone.now() + timedelta(days=1))
    delivery.refresh_from_db()
    assert delivery.state == "given up"
    assert delivery.answer == "8 attempts ended without an answer"
    assert deliver.due(now=timezone.now() + timedelta(days=9)) == []
    assert deliver.retry(delivery_id=delivery.pk, now=timezone.now())
