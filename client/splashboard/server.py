"""HTTP access to the server: requests, retries and error handling."""

from __future__ import annotations

import json
import os
import queue
import random
import socket
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException
from typing import Any

from splashboard import __version__, files, shapes
from splashboard.failures import Misuse, RefusedField, RequestRefused, ServerUnreachable

API = "/api/v1/"
LONGEST_PAUSE = 15.0  # s between two attempts
NOTHING_DONE = (429, 507)  # too many requests, no room: what was sent was not kept
SHORTEST_WAIT = 1.0  # s: minimum timeout of an attempt, even near the deadline
# s without a byte of an answer, after which a question is asked again: a lost one may not take the whole deadline.
LONGEST_SILENCE = 60.0
LOGIN = "an engineer or administrator creates it with `manage.py create_token USER NAME`; set it as SPLASHBOARD_TOKEN"


@dataclass(frozen=True)
class ServerAnswer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self, shape: Any) -> Any:
        """The body as `shapes.checked` returns it. Raises ServerUnreachable when the answer is not Splashboard's."""
        try:
            document = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise ServerUnreachable(
                f"the answer is not JSON: {printable(self.body[:80])!r}; is it a Splashboard?"
            ) from error
        if shapes.is_deep(document):
            raise ServerUnreachable(
                f"the answer is nested too deeply: {printable(self.body[:80])!r}; is it a Splashboard?"
            )
        return shapes.checked(document, shape)

    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


class _NoAnswer(Exception):
    """`arrived` False: the request certainly never reached the server. `final`: a retry is useless."""

    def __init__(self, text: str, *, arrived: bool = True, final: bool = False) -> None:
        super().__init__(text)
        self.arrived = arrived
        self.final = final


def is_retryable(status: int | None) -> bool:
    """None: no answer. 507: the server's disk is full, and writes are accepted again once there is room. Not 501: it
    stays."""
    return status is None or status in (408, 425, 429) or (status >= 500 and status != 501)


def printable(text: str | bytes) -> str:
    """Replaces terminal control characters, and spaces that do not break by others."""
    answer_text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    answer_text = answer_text.replace("\u00a0", " ")
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in answer_text)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirects: a redirected POST would become a GET, and the token would reach another server."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Server:
    """`timeout`: s per request including all retries. `on_retry` is called for each failed attempt."""

    api = API

    def __init__(
        self,
        *,
        url: str,
        token: str = "",
        timeout: float = 60.0,
        on_retry: Callable[[str], None] = lambda _words: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Raises Misuse when `url` is invalid."""
        self.url = _base(url)
        self.timeout = timeout
        self._token = token
        self.on_retry = on_retry
        self._clock = clock
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_NoRedirects())

    def read(self, path: str, parameters: Sequence[tuple[str, str]] = ()) -> ServerAnswer:
        """Raises RequestRefused, ServerUnreachable."""
        asked = f"?{urllib.parse.urlencode(parameters, errors='surrogateescape')}" if parameters else ""
        return self._ask("GET", f"{path}{asked}", None, "", repeatable=True)

    def send(self, path: str, body: bytes, *, kind: str, repeatable: bool) -> ServerAnswer:
        """`repeatable` False: a resend would be done twice, so it is retried only while it has certainly not arrived.

        Raises RequestRefused, ServerUnreachable.
        """
        return self._ask("POST", path, body, kind, repeatable=repeatable)

    def _ask(self, method: str, path: str, body: bytes | None, kind: str, *, repeatable: bool) -> ServerAnswer:
        until = self._clock() + self.timeout
        pause = 0.5
        while True:
            status, retry_after = None, None
            try:
                wait = max(SHORTEST_WAIT, until - self._clock())
                silence = min(wait, LONGEST_SILENCE) if method == "GET" else wait
                answer = _within(wait, partial(self._once, method, path, body, kind, silence=silence))
            except _NoAnswer as error:
                trouble, again, final = str(error), repeatable or not error.arrived, error.final
            else:
                status = answer.status
                if not is_retryable(status):
                    return self._checked(answer)
                trouble, final = f"the server answered {answer_text(answer)}", False
                again, retry_after = repeatable or status in NOTHING_DONE, answer.headers.get("retry-after")
            if final:
                raise ServerUnreachable(f"{self.url}: {trouble}")
            if not again:
                raise ServerUnreachable(
                    f"{self.url}: {trouble}. Whether it was done is uncertain: check before repeating it"
                )
            rest = _seconds(retry_after) or pause * random.uniform(0.8, 1.2)  # noqa: S311  spreads callers, no secret
            if self._clock() + rest >= until:
                raise ServerUnreachable(f"{self.url}: {trouble}; given up after {self.timeout:g} s (--timeout)")
            self.on_retry(f"{trouble}; trying again in {rest:.0f} s" if rest >= 1 else f"{trouble}; trying again")
            self._sleep(rest)
            pause = min(LONGEST_PAUSE, pause * 2)

    def _once(self, method: str, path: str, body: bytes | None, kind: str, *, silence: float) -> ServerAnswer:
        headers = {"Accept": "*/*", "User-Agent": f"splashboard-client/{__version__}"}
        if kind:
            headers["Content-Type"] = kind
        address = f"{self.url}{self.api}{path}"
        request = urllib.request.Request(address, body, {**headers, **self._headers()}, method=method)  # noqa: S310  see _base
        try:
            with self._opener.open(request, timeout=silence) as answer:
                return ServerAnswer(answer.status, _lower(answer.headers), answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return ServerAnswer(error.code, _lower(error.headers), _rest(error))
        except urllib.error.URLError as error:
            raise _no_answer(error.reason) from error
        except (OSError, HTTPException) as error:
            raise _no_answer(error) from error
        except UnicodeError as error:  # a name that DNS cannot hold
            raise Misuse(f"{self.url!r} is not a server's address") from error

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Token {self._token}"} if self._token else {}

    def _checked(self, answer: ServerAnswer) -> ServerAnswer:
        if 200 <= answer.status < 300:
            return answer
        if 300 <= answer.status < 400:
            there = printable(answer.headers.get("location", "another address"))
            raise Misuse(f"{self.url} redirects to {there}: give that address as --url")
        problem = _problem(answer)
        errors = problem.get("errors")
        problems = (
            tuple(_problem_of(each) for each in errors if isinstance(each, dict)) if isinstance(errors, list) else ()
        )
        sentence = answer_text(answer) if len(problems) < 2 else f"{answer.status}, {len(problems)} fields are wrong"
        words = f"the server refused this: {sentence}" if problem else f"{answer.status}; is {self.url} a Splashboard?"
        if answer.status in (401, 403):
            words += f" ({LOGIN})"
        raise RequestRefused(words, status=answer.status, problems=problems)


def token_of(stated: str = "", *, path: str | None = None) -> str:
    """`stated`, else from the file `path`, else from the environment; empty: none. Raises Misuse."""
    named = path or (None if os.environ.get("SPLASHBOARD_TOKEN") else os.environ.get("SPLASHBOARD_TOKEN_FILE"))
    named = None if stated else named
    token = files.read(named).decode("latin-1") if named else stated or os.environ.get("SPLASHBOARD_TOKEN", "")
    token = token.strip()
    if not token.isascii() or len(token.split()) > 1 or not token.isprintable():
        source = named or ("token" if stated else "SPLASHBOARD_TOKEN")
        raise Misuse(f"{source} does not hold a token: one word, without blanks")
    return token


def _within(wait: float, ask: Callable[[], ServerAnswer]) -> ServerAnswer:
    """The answer, if complete within `wait` s. A socket's timeout bounds only the pause between two bytes, and name
    resolution has none. Raises _NoAnswer."""
    outcome: queue.SimpleQueue[ServerAnswer | BaseException] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put(ask())
        except BaseException as error:  # re-raised below
            outcome.put(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        found = outcome.get(timeout=wait)
    except queue.Empty:
        raise _NoAnswer("the server's answer was incomplete at the deadline") from None
    if isinstance(found, BaseException):
        raise found
    return found


def answer_text(answer: ServerAnswer) -> str:
    """Status and the server's error text, in one line."""
    problem = _problem(answer)
    detail = printable(str(problem.get("detail") or problem.get("message") or problem.get("error") or ""))
    if not detail and answer.headers.get("content-type", "").startswith("text/plain"):
        detail = printable(answer.body[:200]).strip()
    return f"{answer.status}, {detail}" if detail else str(answer.status)


def _problem(answer: ServerAnswer) -> dict[str, Any]:
    """Problem details (RFC 9457); empty for other answers, such as a proxy's."""
    if "json" not in answer.headers.get("content-type", ""):
        return {}
    try:
        document = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _problem_of(error: Mapping[str, Any]) -> RefusedField:
    return RefusedField(*(printable(str(error.get(name) or "")) for name in ("field", "message", "remedy")))


def _base(url: str) -> str:
    """The server's root. Raises Misuse."""
    try:
        parts = urllib.parse.urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and parts.path.isascii()
    except ValueError:
        known = False
    if not known or parts.username or parts.query or parts.fragment:
        raise Misuse(f"{printable(url)!r} is not a server's address: write it as https://splashboard.example")
    return url.rstrip("/").removesuffix("/api/v1")


def _lower(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _rest(answer: urllib.error.HTTPError) -> bytes:
    try:
        return answer.read()
    except (OSError, HTTPException):
        return b""  # the status suffices


def _no_answer(reason: object) -> _NoAnswer:
    if isinstance(reason, ssl.SSLCertVerificationError):
        remedy = "name the certificates of its authority in SSL_CERT_FILE"
        return _NoAnswer(
            f"the server's certificate is not trusted: {reason.verify_message} ({remedy})", arrived=False, final=True
        )
    if isinstance(reason, socket.gaierror):
        return _NoAnswer(f"the server's name cannot be resolved: {reason.strerror}", arrived=False)
    if isinstance(reason, ConnectionRefusedError):
        return _NoAnswer("the server refuses connections", arrived=False)
    if isinstance(reason, (TimeoutError, socket.timeout)):  # two classes before Python 3.10
        return _NoAnswer("the server did not answer in time")
    return _NoAnswer(f"the connection to the server was lost: {str(reason) or type(reason).__name__}")


def _seconds(header: str | None) -> float:
    """Seconds of a numeric Retry-After, else 0."""
    return float(header) if header and header.isdecimal() else 0.0
