"""The agent's HTTP client, and the one table that maps a status to a message's fate."""

import enum
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import httpx
import msgspec

from workers.agent.runtime.spool import SpoolMessage
from workers.protocol import versions, wire

T = TypeVar("T")
TIMEOUT = httpx.Timeout(30, connect=5)
LOST = frozenset({409, 410})
# Of the server's refusals. A proxy before it answers 404 while the server restarts, or 413 by a limit of its own.
PROBLEM = "application/problem+json"
# s that a Retry-After is obeyed; a renewal's is shorter than the lease, which would be lost otherwise.
LONGEST_WAIT, RENEWAL_WAIT = 300.0, 20.0


class Unreachable(Exception):
    """No usable answer: the server is down, overloaded or broken. Worth a retry."""


class LeaseGone(Exception):
    """The job is no longer leased to this agent."""


class Rejected(Exception):
    """The server refused the request; the text is the reason."""


class AskedToWait(httpx.HTTPError):
    """The server's Retry-After has not passed yet, so that nothing was sent."""


class MessageFate(enum.Enum):
    STORED = "stored"
    RETRY = "retry"
    UNAUTHORIZED = "unauthorized"  # kept and retried: a token can be corrected
    REFUSED = "refused"
    FOREIGN = "foreign"  # kept and retried: refused by another than the server


class SentMessage(NamedTuple):
    """How a spooled message was answered. `status` None: not at all; `text`: for a log or a reason."""

    status: int | None
    text: str
    fate: MessageFate


def verdict(status: int | None, media_type: str = "") -> MessageFate:
    """`status` None: no answer came, so the server may never have seen it. `media_type`: of the answer."""
    if status is not None and 200 <= status < 300:
        return MessageFate.STORED
    if status in (401, 403):
        return MessageFate.UNAUTHORIZED
    if status is None or status in (408, 425, 429) or not 400 <= status < 500:
        return MessageFate.RETRY
    return MessageFate.REFUSED if media_type.partition(";")[0].strip().lower() == PROBLEM else MessageFate.FOREIGN


class ServerClient:
    """Thread-safe. Asks an address again only after the time that the server stated there in Retry-After."""

    def __init__(self, *, url: str, token: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._clock = clock
        self._not_before: dict[str, float] = {}  # by path
        self._http = self._connection(url, token)

    def use(self, *, url: str, token: str) -> None:
        """Switches to a changed address or token; requests in progress end on the old connection."""
        with self._lock:
            self._http = self._connection(url, token)
            self._not_before.clear()

    def close(self) -> None:
        self._http.close()

    def hello(self, message: wire.HelloMessage) -> wire.HelloAnswer:
        answer = self._ask("POST", "agent/hello", message)
        return _parsed(wire.HelloAnswer, answer)

    def claim(self) -> wire.JobMessage | None:
        answer = self._ask("POST", "agent/claim", None)
        return None if answer.status_code == 204 else _parsed(wire.JobMessage, answer)

    def renew(self, job: int, message: wire.RenewMessage) -> wire.RenewAnswer:
        """Raises LeaseGone."""
        path = f"agent/jobs/{job}/renew"
        return _parsed(wire.RenewAnswer, self._ask("POST", path, message, longest_wait=RENEWAL_WAIT))

    def fail_over(self, system: str, message: wire.FailoverMessage) -> wire.FailoverAnswer:
        """Raises LeaseGone when no job runs on the system or AWS cannot; Unreachable also when AWS gave no answer."""
        return _parsed(wire.FailoverAnswer, self._ask("POST", f"agent/systems/{system}/failover", message))

    def clock(self) -> float:
        """The server's clock, s since the epoch."""
        return _parsed(wire.ClockMessage, self._ask("GET", "agent/clock", None)).now

    def sampling(self, message: wire.SamplingMessage) -> wire.SamplingAnswer:
        return _parsed(wire.SamplingAnswer, self._ask("POST", "agent/sampling", message))

    def health(self) -> tuple[bool, str]:
        """Whether the server reports itself healthy, and its text."""
        try:
            answer = self._request("GET", "health/", b"", {})
        except httpx.HTTPError as error:
            return False, f"{type(error).__name__}: {error}"
        return answer.is_success, answer_text(answer)

    def send(self, message: SpoolMessage) -> SentMessage:
        try:
            answer = self._request(message.method, message.path, message.body, message.headers)
        except httpx.HTTPError as error:
            return SentMessage(None, f"{type(error).__name__}: {error}", verdict(None))
        return SentMessage(answer.status_code, answer_text(answer), _verdict_of(answer))

    def _ask(self, method: str, path: str, message: Any, *, longest_wait: float = LONGEST_WAIT) -> httpx.Response:
        """Raises Unreachable, LeaseGone, Rejected."""
        body = b"{}" if message is None else wire.to_json(message)
        try:
            answer = self._request(method, path, body, {"Content-Type": "application/json"}, longest_wait=longest_wait)
        except httpx.HTTPError as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from error
        fate = _verdict_of(answer)
        if fate is MessageFate.REFUSED and answer.status_code in LOST:
            raise LeaseGone(answer_text(answer))
        match fate:
            case MessageFate.STORED:
                return answer
            case MessageFate.RETRY | MessageFate.FOREIGN:
                raise Unreachable(answer_text(answer))
            case _:
                raise Rejected(answer_text(answer))

    def _request(
        self, method: str, path: str, body: bytes, headers: dict[str, str], *, longest_wait: float = LONGEST_WAIT
    ) -> httpx.Response:
        with self._lock:
            http = self._http
            rest = self._not_before.get(path, 0.0) - self._clock()
        if rest > 0:
            raise AskedToWait(f"the server asks to be left alone at {path} for {rest:.0f} s more")
        answer = http.request(method, path, content=body, headers=headers)
        with self._lock:
            self._not_before.pop(path, None)
            if _verdict_of(answer) is MessageFate.RETRY and (wait := _retry_after(answer)):
                self._not_before[path] = self._clock() + min(wait, longest_wait)
        return answer

    @staticmethod
    def _connection(url: str, token: str) -> httpx.Client:
        headers = {"Authorization": f"Agent {token}", "Accept": "application/json", **versions.stated()}
        return httpx.Client(base_url=f"{url}/api/v1/", headers=headers, timeout=TIMEOUT)


def _verdict_of(answer: httpx.Response) -> MessageFate:
    return verdict(answer.status_code, answer.headers.get("content-type", ""))


def _retry_after(answer: httpx.Response) -> float:
    """Seconds; 0: none, or a date, which a clock that is wrong would misread."""
    text = answer.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0


def _parsed(kind: type[T], answer: httpx.Response) -> T:
    try:
        return wire.from_json(kind, answer.content)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Unreachable(f"{answer.request.url}: an answer that is no {kind.__name__}: {error}") from error


def answer_text(answer: httpx.Response) -> str:
    """Status with the problem document's text, or the beginning of any other body."""
    text = answer.text[:500]
    try:
        problem = answer.json()
    except ValueError:
        return f"{answer.status_code} {text}".strip()
    if isinstance(problem, dict):
        words = [str(problem[key]) for key in ("title", "detail") if problem.get(key)]
        words += [str(error) for error in problem.get("errors") or []]
        text = ": ".join(words) or text
    return f"{answer.status_code} {text}".strip()
