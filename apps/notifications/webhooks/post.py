"""One POST to a webhook: allowed targets only, no redirects, short timeouts, one deadline."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx

from apps.notifications.webhooks import addresses
from apps.notifications.webhooks.outcome import Outcome, is_retryable

# s, each: until a connection, and until each next byte.
CONNECT, ANSWER = 5.0, 10.0
# s, of all of it: a receiver may send one byte every few seconds for ever.
EXCHANGE = 20.0
LONGEST_WAIT = 86_400.0
# Bytes read of a response: enough for the reason of a rejection.
READ = 400


class _Deadline:
    """Ends the connection of an exchange once its time is over."""

    def __init__(self) -> None:
        self.has_passed = False
        self._connection: socket.socket | None = None

    def follow(self, event: str, found: dict[str, Any]) -> None:
        """For httpcore's extension "trace", which gives each new connection, and it anew with TLS."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._connection = found["return_value"].get_extra_info("socket")
            if self.has_passed:
                self.end()

    def end(self) -> None:
        self.has_passed = True
        if self._connection is not None:
            with suppress(OSError):  # closed meanwhile
                # Not that of an SSLSocket, which takes its state from the thread that reads.
                socket.socket.shutdown(self._connection, socket.SHUT_RDWR)


@contextmanager
def _deadline() -> Iterator[_Deadline]:
    deadline = _Deadline()
    timer = threading.Timer(EXCHANGE, deadline.end)
    timer.daemon = True
    timer.start()
    try:
        yield deadline
    finally:
        timer.cancel()


def post(url: str, body: bytes, *, headers: dict[str, str]) -> Outcome:
    try:
        return _post(httpx.URL(url), body, headers)
    except addresses.Forbidden as error:
        return Outcome(is_sent=False, again=False, words=f"{error}; SPLASHBOARD_WEBHOOK_NETWORKS can allow it")
    except addresses.UnknownHost as error:
        return Outcome(is_sent=False, again=True, words=str(error))
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
        return Outcome(is_sent=False, again=False, words=f"not a webhook address: {error}")
    except httpx.HTTPError as error:
        words = f"no answer: {error or type(error).__name__}"
        return Outcome(is_sent=False, again=is_retryable(None), words=words)


def _post(url: httpx.URL, body: bytes, headers: dict[str, str]) -> Outcome:
    host = url.raw_host.decode().strip("[]")
    sent = {**headers, "Host": url.netloc.decode(), "Content-Type": "application/json", "User-Agent": "Splashboard"}
    found = addresses.resolve(host, url.port or (443 if url.scheme == "https" else 80))
    timeout = httpx.Timeout(ANSWER, connect=CONNECT)
    with _deadline() as deadline, httpx.Client(trust_env=False, follow_redirects=False, timeout=timeout) as client:
        for address in found:
            # Connects to the checked address: a second lookup of the name may give another one.
            extensions = {"sni_hostname": host, "trace": deadline.follow}
            request = client.build_request(
                "POST", url.copy_with(host=address), content=body, headers=sent, extensions=extensions
            )
            try:
                return _outcome(client.send(request, stream=True))
            except httpx.HTTPError as error:
                if deadline.has_passed:
                    raise httpx.ReadTimeout(f"not whole within {EXCHANGE:g} s") from error
                if address == found[-1] or not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
                    raise
    raise AssertionError("a resolved name has an address")


def _outcome(answer: httpx.Response) -> Outcome:
    received = b""
    try:
        for chunk in answer.iter_raw(READ):
            received += chunk
            if len(received) >= READ:
                break
    except httpx.HTTPError:
        pass  # the status is the answer, its text is for people
    finally:
        answer.close()
    words = f"{answer.status_code} {answer.reason_phrase}".strip()
    if text := " ".join(received[:READ].decode(errors="replace").replace("\0", " ").split()):
        words += f": {text}"
    if answer.is_redirect:
        words = f"{words} (redirects are not followed: subscribe the address it leads to)"
    return Outcome(
        is_sent=answer.is_success,
        again=is_retryable(answer.status_code),
        words=words,
        status=answer.status_code,
        after=_seconds(answer.headers.get("retry-after", "")),
    )


def _seconds(header: str) -> float:
    """Of a Retry-After in seconds, at most a day; 0: none."""
    return min(float(header), LONGEST_WAIT) if header.isascii() and header.isdecimal() else 0.0
