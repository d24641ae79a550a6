"""Bodies: who may send how much, in which time."""

import asyncio
import errno
import json
import threading
from collections.abc import Iterable
from io import BytesIO
from typing import Any

import pytest

from config.serving import requests
from config.serving.requests import BodyLimit
from tests.serving.conversation import KNOWN, Client, an_application, ask, echo
from tests.support.waiting import LIMIT

SHORT = BodyLimit(size=1000, patience=0.05, rate=1000)


def answer(client: Client, **request: str) -> Client:
    return asyncio.run(ask(an_application(), client, **request))


def test_a_body_arrives_whole_in_any_pieces() -> None:
    chunks = [b"a" * 10, b"", b"b" * 2_000_000, b"c"]
    client = answer(Client(chunks), authorization=KNOWN, transfer_encoding="chunked")
    assert (client.status, client.body) == (200, b"".join(chunks))


def test_a_request_without_a_body_waits_for_none() -> None:
    client = answer(Client([]), method="GET")
    assert (client.status, client.body, client.read) == (200, b"", 0)


def test_a_stranger_sends_the_api_nothing() -> None:
    sent = Client([b"x" * 100])
    client = answer(sent, path="/api/v1/agent/hello/", authorization="Agent wrong", content_length="100")
    assert (client.read, client.headers["x-length"]) == (0, "0")


def test_a_stranger_sends_forms_only() -> None:
    size = requests.STRANGER.size
    form = answer(Client([b"x" * size]), path="/sign-in/", content_length=str(size))
    assert (form.status, form.headers["x-length"]) == (200, str(size))
    announced = answer(Client([b"x"]), path="/sign-in/", content_length=str(size + 1))
    assert (announced.status, announced.read) == (413, 0)
    assert "without signing in" in json.loads(announced.body)["detail"]


def test_a_body_longer_than_allowed_is_refused_while_it_arrives() -> None:
    chunks = [b"x" * 60_000] * 10
    client = answer(Client(chunks), path="/sign-in/", transfer_encoding="chunked")
    assert (client.status, client.read) == (413, 2)
    assert client.headers["connection"] == "close"


@pytest.mark.parametrize("sent", [[], [b"1234567890"]])
def test_a_body_that_does_not_come_to_its_end_is_refused_in_time(
    monkeypatch: pytest.MonkeyPatch, sent: list[bytes]
) -> None:
    monkeypatch.setattr(requests, "KNOWN", SHORT)
    client = answer(Client(sent, stalls=True), authorization=KNOWN, content_length="500")
    assert client.status == 408
    assert f"{sum(map(len, sent))} bytes of the body arrived" in json.loads(client.body)["detail"]


def test_more_time_is_given_for_what_arrived() -> None:
    assert SHORT.seconds(0) == 0.05
    assert SHORT.seconds(500) == 0.55


def test_a_sender_who_leaves_gets_no_thread() -> None:
    called: list[Any] = []

    def wsgi(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        called.append(environ)
        return list(echo(environ, start_response))

    client = Client([b"half"], closes=True)
    asyncio.run(ask(an_application(wsgi), client, authorization=KNOWN, content_length="8"))
    assert (called, client.status) == ([], 0)


def test_stalled_bodies_leave_the_threads_to_others() -> None:
    async def crowd() -> Client:
        application = an_application(threads=1)
        stalled = [
            asyncio.create_task(ask(application, Client([b"x"], stalls=True), authorization=KNOWN, content_length="9"))
            for _ in range(1000)
        ]
        await asyncio.sleep(0)
        answered = await asyncio.wait_for(ask(application, Client([]), method="GET"), timeout=LIMIT)
        for task in stalled:
            task.cancel()
        await asyncio.gather(*stalled, return_exceptions=True)
        return answered

    assert asyncio.run(crowd()).status == 200


def test_a_batch_does_not_wait_for_pages() -> None:
    free = threading.Event()

    def slow_pages(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/":
            free.wait(LIMIT)
        return echo(environ, start_response)

    async def crowd() -> tuple[Client, list[Client]]:
        application = an_application(slow_pages, threads=2)
        pages = [asyncio.create_task(ask(application, Client([]), method="GET")) for _ in range(5)]
        path = "/api/v1/agent/runs/x/batches/0"
        sent = ask(application, Client([b"batch"]), path=path, method="PUT", authorization=KNOWN, content_length="5")
        batch = await asyncio.wait_for(sent, timeout=LIMIT)
        assert not any(page.done() for page in pages)
        free.set()
        return batch, await asyncio.gather(*pages)

    batch, pages = asyncio.run(crowd())
    assert (batch.status, batch.body) == (200, b"batch")
    assert {page.status for page in pages} == {200}


def test_who_was_known_is_looked_up_once_a_minute() -> None:
    looked: list[str] = []

    def is_known(meta: Any) -> bool:
        looked.append(meta["HTTP_AUTHORIZATION"])
        return "known" in looked[-1]

    async def several() -> None:
        application = an_application()
        application._is_known = is_known
        for secret in ("known", "known", "other", "other"):
            await ask(application, Client([b"x"]), path="/api/v1/runs/", authorization=secret, content_length="1")

    asyncio.run(several())
    assert looked == ["known", "other", "other"]


def test_a_caller_who_cannot_be_looked_up_is_asked_to_come_again() -> None:
    def broken(_: Any) -> bool:
        raise ConnectionError("no database")

    async def once() -> Client:
        application = an_application()
        application._is_known = broken
        return await ask(application, Client([b"x"]), authorization=KNOWN, content_length="1")

    assert asyncio.run(once()).status == 503


def test_a_body_for_which_no_temporary_file_has_room_is_to_be_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(BytesIO):
        def __init__(self, **_: object) -> None:
            super().__init__()

        def write(self, _: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(requests, "SpooledTemporaryFile", Full)
    client = answer(Client([b"x"]), authorization=KNOWN, content_length="1")
    assert client.status == 507
    assert "send it again" in json.loads(client.body)["detail"]
