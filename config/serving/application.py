"""The ASGI application: reads bodies, and gives threads to requests that are complete."""

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import IO, Any

from apps.core.server.outages import RETRY_AFTER
from config.serving import requests, responses
from config.serving.environment import environ_of

log = logging.getLogger(__name__)

KNOWN_FOR = 60.0  # s for which a caller is not looked up again
MOST_KNOWN = 10_000
CREDENTIALS = (b"authorization", b"cookie")
AGENTS = "/api/v1/agent/"
BEATS_EVERY = 5.0  # s


class Application:
    """`wsgi` in a few threads, and what agents send in `agent_threads` of their own: a batch takes a millisecond and
    must not queue behind pages. `is_known`, called in one of them: whether the headers are those of somebody known.

    `beat`, called every BEATS_EVERY from the server's start on, for as long as event loop and threads take their turns:
    how others see that this process does not hang.
    """

    def __init__(
        self,
        wsgi: responses.Application,
        *,
        is_known: Callable[[Mapping[str, Any]], bool],
        threads: int,
        agent_threads: int,
        beat: Callable[[], None],
    ) -> None:
        self._wsgi = wsgi
        self._is_known = is_known
        self._known: dict[bytes, float] = {}  # digest of credentials: when to look them up again
        self._threads = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="request")
        self._agents = ThreadPoolExecutor(max_workers=agent_threads, thread_name_prefix="agent")
        self._beat = beat

    async def __call__(self, scope: Mapping[str, Any], receive: requests.Receive, send: responses.Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']} is not served")
        try:
            body = await self._body(scope, receive)
        except requests.SenderGone:
            return
        except requests.RefusedBody as refused:
            await _refuse(send, refused)
            return
        with body:
            response = responses.Response()
            environ = environ_of(scope, body)
            threads = self._threads_of(scope)
            running = asyncio.get_running_loop().run_in_executor(threads, response.run, self._wsgi, environ)
            try:
                await response.send_to(send)
            except responses.ReaderGone:
                pass
            finally:
                # The thread reads the body until it ends.
                await asyncio.shield(running)

    async def _live(self, receive: requests.Receive, send: responses.Send) -> None:
        """From the start of the server to its end (ASGI's lifespan protocol)."""
        await receive()
        heart = asyncio.create_task(self._keep_beating())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        heart.cancel()
        await send({"type": "lifespan.shutdown.complete"})

    async def _keep_beating(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await loop.run_in_executor(self._agents, _take_turn)
            await loop.run_in_executor(self._threads, self._beat)
            await asyncio.sleep(BEATS_EVERY)

    def _threads_of(self, scope: Mapping[str, Any]) -> ThreadPoolExecutor:
        return self._agents if scope["path"].startswith(AGENTS) else self._threads

    async def _body(self, scope: Mapping[str, Any], receive: requests.Receive) -> IO[bytes]:
        length = requests.announced(scope)
        if length == 0:
            return BytesIO()
        if await self._knows(scope):
            return await requests.read(receive, requests.KNOWN, length)
        if scope["path"].startswith("/api/"):
            # The API refuses strangers by their headers.
            return BytesIO()
        return await requests.read(receive, requests.STRANGER, length)

    async def _knows(self, scope: Mapping[str, Any]) -> bool:
        """Remembers who was known. Raises requests.RefusedBody (503)."""
        credentials = [value for name, value in scope["headers"] if name in CREDENTIALS]
        digest = hashlib.sha256(b"\n".join(credentials)).digest()
        now = time.monotonic()
        if self._known.get(digest, 0.0) > now:
            return True
        environ = environ_of(scope, BytesIO())
        try:
            threads = self._threads_of(scope)
            known = await asyncio.get_running_loop().run_in_executor(threads, self._is_known, environ)
        except Exception as error:
            log.exception("a caller could not be looked up")
            detail = "Who sends this could not be looked up. Nothing was stored; send it again later."
            raise requests.RefusedBody(503, "Out of service", detail) from error
        if known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[digest] = now + KNOWN_FOR
        return known


def _take_turn() -> None:
    """Of a thread that is free."""


async def _refuse(send: responses.Send, refused: requests.RefusedBody) -> None:
    problem = {"type": "about:blank", "title": refused.title, "status": refused.status, "detail": refused.detail}
    body = json.dumps(problem).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    if refused.status == 503:
        headers.append((b"retry-after", str(RETRY_AFTER).encode()))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
