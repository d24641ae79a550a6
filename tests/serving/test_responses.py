"""Responses: whole, and no thread waits for whoever takes them slowly."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from config.serving import responses
from tests.serving.conversation import Client, an_application, ask, scope_of
from tests.support.waiting import LIMIT

MEGABYTE = b"x" * 1024 * 1024


def in_pieces(*pieces: bytes, closed: threading.Event | None = None, fails: bool = False) -> Any:
    """An application that answers with these."""

    def body() -> Iterator[bytes]:
        try:
            yield from pieces
            if fails:
                raise ValueError("in the middle")
        finally:
            if closed is not None:
                closed.set()

    def wsgi(_environ: Any, start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return body()

    return wsgi


def test_a_long_response_arrives_in_order() -> None:
    pieces = [bytes([number]) * 700_000 for number in range(30)]
    client = asyncio.run(ask(an_application(in_pieces(*pieces)), Client([]), method="GET"))
    assert client.body == b"".join(pieces)


def test_a_slow_reader_holds_no_thread() -> None:
    async def slowly_and_others() -> tuple[bytes, int]:
        application = an_application(in_pieces(*[MEGABYTE] * 8), threads=1)
        opened = asyncio.Event()

        async def wait(_: Any) -> None:
            await opened.wait()

        slow = asyncio.create_task(ask(application, Client([], takes=wait), method="GET"))
        other = await asyncio.wait_for(ask(application, Client([]), method="GET"), timeout=LIMIT)
        opened.set()
        return (await slow).body, len(other.body)

    assert asyncio.run(slowly_and_others()) == (MEGABYTE * 8, len(MEGABYTE) * 8)


def test_a_reader_who_takes_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "PATIENCE", 0.05)
    closed = threading.Event()

    async def never(message: Any) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    application = an_application(in_pieces(*[MEGABYTE] * 8, closed=closed))
    asyncio.run(asyncio.wait_for(ask(application, Client([], takes=never), method="GET"), timeout=LIMIT))
    assert closed.is_set()


def test_an_error_in_the_middle_ends_the_connection_not_the_text() -> None:
    closed = threading.Event()
    application = an_application(in_pieces(*[MEGABYTE] * 4, closed=closed, fails=True))
    with pytest.raises(ValueError, match="in the middle"):
        asyncio.run(ask(application, Client([]), method="GET"))
    assert closed.is_set()


def test_what_a_proxy_removes_cannot_come_back_with_an_underscore() -> None:
    seen: dict[str, Any] = {}

    def wsgi(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        seen.update(environ)
        start_response("204 No Content", [])
        return []

    async def request() -> None:
        client = Client([])
        scope = scope_of("GET", "/", {"X_Forwarded_Proto": "https", "Cookie": "a=1"}, query="q=%C3%A9")
        scope["headers"].append((b"cookie", b"b=2"))
        await an_application(wsgi)(scope, client.receive, client.send)

    asyncio.run(request())
    assert "HTTP_X_FORWARDED_PROTO" not in seen
    assert (seen["HTTP_COOKIE"], seen["QUERY_STRING"]) == ("a=1; b=2", "q=%C3%A9")
