"""One request to the ASGI application, and what it answers."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from config.serving.application import Application

KNOWN = "Token known"


def scope_of(method: str, path: str, headers: Mapping[str, str], *, query: str = "") -> dict[str, Any]:
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }


def echo(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answers with the body that it was sent."""
    body = environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Type", "application/octet-stream"), ("X-Length", str(len(body)))])
    return [body]


def an_application(wsgi: Any = echo, *, threads: int = 2, beat: Callable[[], Any] = int) -> Application:
    def is_known(meta: Mapping[str, Any]) -> bool:
        return meta.get("HTTP_AUTHORIZATION") == KNOWN

    return Application(wsgi, is_known=is_known, threads=threads, agent_threads=1, beat=beat)


@dataclass
class Client:
    """`chunks`: the body as it arrives; after them nothing comes if it `stalls`. `takes`: called with each answer."""

    chunks: list[bytes]
    stalls: bool = False
    closes: bool = False
    takes: Callable[[Mapping[str, Any]], Any] | None = None
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    read: int = 0  # chunks

    async def receive(self) -> Mapping[str, Any]:
        if self.read < len(self.chunks):
            self.read += 1
            more = self.stalls or self.closes or self.read < len(self.chunks)
            return {"type": "http.request", "body": self.chunks[self.read - 1], "more_body": more}
        if self.closes:
            return {"type": "http.disconnect"}
        await asyncio.Event().wait()
        raise AssertionError

    async def send(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message["body"]
        if self.takes is not None:
            await self.takes(message)


async def ask(
    application: Application, client: Client, *, method: str = "POST", path: str = "/", query: str = "", **headers: str
) -> Client:
    """`headers`: with underscores for hyphens."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    await application(scope_of(method, path, given, query=query), client.receive, client.send)
    return client
