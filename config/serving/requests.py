"""Bodies of requests: who may send how much, in which time."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Any

from apps.core import limits
from apps.core.server.space import FULL

Receive = Callable[[], Awaitable[Mapping[str, Any]]]

IN_MEMORY = limits.MIB  # a larger body is kept in a file


@dataclass(frozen=True)
class BodyLimit:
    """`size`: bytes. A body has `patience` seconds, and a second more for each `rate` bytes of it that arrived."""

    size: int
    patience: float
    rate: float

    def seconds(self, arrived: int) -> float:
        return self.patience + arrived / self.rate


# Enough for the sign-in form, and for any form of a person whose session just ended.
STRANGER = BodyLimit(size=64 * limits.KIB, patience=10, rate=16 * limits.KIB)
# The largest is a form with an artifact; addresses have limits of their own below this.
KNOWN = BodyLimit(size=limits.ARTIFACT + limits.AROUND_A_FILE, patience=20, rate=16 * limits.KIB)


class RefusedBody(Exception):
    """`status`, `title` and the message: the answer."""

    def __init__(self, status: int, title: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.title, self.detail = status, title, detail


class SenderGone(Exception):
    """The sender closed the connection before the end of the body."""


def announced(scope: Mapping[str, Any]) -> int | None:
    """Bytes that the head announces; None: unknown, as with chunks, or not a number. 0: there is no body."""
    headers = dict(scope["headers"])
    length = headers.get(b"content-length")
    if length is None:
        return None if b"transfer-encoding" in headers or scope["http_version"] == "2" else 0
    return int(length) if length.isdigit() and len(length) <= 18 else None


async def read(receive: Receive, limit: BodyLimit, length: int | None) -> SpooledTemporaryFile[bytes]:
    """The whole body, at its beginning. Raises RefusedBody (408, 413, 507) or SenderGone."""
    if length is not None and length > limit.size:
        raise _too_large(limit)
    body: SpooledTemporaryFile[bytes] = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  closed by the caller
    began, arrived, more = time.monotonic(), 0, True
    try:
        while more:
            left = began + limit.seconds(arrived) - time.monotonic()
            message = await asyncio.wait_for(receive(), timeout=max(left, 0))
            if message["type"] == "http.disconnect":
                raise SenderGone
            chunk = message.get("body", b"")
            arrived += len(chunk)
            if arrived > limit.size:
                raise _too_large(limit)
            body.write(chunk)
            more = message.get("more_body", False)
    except TimeoutError:
        body.close()
        taken = time.monotonic() - began
        detail = f"{arrived:,} bytes of the body arrived in {taken:.0f} s, and not its end. Send it again, faster."
        raise RefusedBody(408, "Too slow", detail) from None
    except OSError as error:
        body.close()
        if error.errno not in FULL:
            raise
        detail = "The folder for temporary files has no room for the body: free some space there, then send it again."
        raise RefusedBody(507, "Insufficient Storage", detail) from error
    except BaseException:
        body.close()
        raise
    body.seek(0)
    return body


def _too_large(limit: BodyLimit) -> RefusedBody:
    who = "without signing in or a valid token" if limit is STRANGER else "in one request"
    return RefusedBody(413, "Too large", f"At most {limit.size:,} bytes are taken {who}.")
