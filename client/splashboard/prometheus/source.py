"""HTTP access to Prometheus' query API, as Prometheus, VictoriaMetrics, Mimir and PMM serve it."""

from __future__ import annotations

import base64
import gzip
import json
import math
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any

TRIES = 4
FIRST_PAUSE = 0.5  # s, doubled after each try
LARGEST_ANSWER = 512 * 1024 * 1024  # bytes, unpacked
MOST_POINTS = 11_000  # of a series in one query_range: Prometheus' own limit
Labels = Mapping[str, str]


class PrometheusTrouble(Exception):
    """`status`: of a refusal; None: no usable answer. `too_many`: the same for a shorter time may work."""

    def __init__(self, text: str, *, status: int | None = None, too_many: bool = False) -> None:
        super().__init__(text)
        self.status = status
        self.too_many = too_many


@dataclass(frozen=True)
class Access:
    """Where a server is, and how to get in. `bearer` and `user` exclude each other; `tenant`: Mimir's. `ca`: file of
    certificates; empty: the system's."""

    url: str
    user: str = ""
    password: str = field(default="", repr=False)
    bearer: str = field(default="", repr=False)
    tenant: str = ""
    ca: str = ""
    insecure: bool = False
    timeout: float = 60.0

    def problem(self) -> str:
        """What is wrong with it, with the remedy; empty: nothing."""
        try:
            parts = urllib.parse.urlsplit(self.url)
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            return f"{self.url!r} is not an address: write it as http://prometheus:9090"
        if parts.username or parts.password:
            return "the address holds a name or a password, which others would see: give the name as user"
        if not good or parts.query or parts.fragment or not self.url.isascii():
            return f"{self.url!r} is not an address: write it as http://prometheus:9090"
        if self.user and self.bearer:
            return "user and bearer token are both given: give one of them"
        if parts.scheme == "http" and (self.ca or self.insecure):
            return "TLS options are given for an http:// address: write https://"
        return ""


class _OneServer(urllib.request.HTTPRedirectHandler):
    """A redirect would take the credentials to another server."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class PrometheusSource:
    """Raises PrometheusTrouble from every method, also from the constructor."""

    def __init__(self, access: Access, *, sleep: Callable[[float], None] = time.sleep) -> None:
        if access.problem():
            raise PrometheusTrouble(access.problem(), status=400)
        self.url = access.url.rstrip("/")
        if self.url.endswith("/api/v1"):
            self.url = self.url[: -len("/api/v1")]
        self._timeout = access.timeout
        self._sleep = sleep
        self._headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "splashboard"}
        if access.user:
            pair = base64.b64encode(f"{access.user}:{access.password}".encode()).decode()
            self._headers["Authorization"] = f"Basic {pair}"
        if access.bearer:
            self._headers["Authorization"] = f"Bearer {access.bearer}"
        if access.tenant:
            self._headers["X-Scope-OrgID"] = access.tenant
        handlers: list[Any] = [_OneServer()]
        if self.url.startswith("https"):
            handlers.append(urllib.request.HTTPSHandler(context=_context(access)))
        self._opener = urllib.request.build_opener(*handlers)

    def now(self) -> float:
        """The server's own time, s since 1970."""
        found = self._ask("query", [("query", "time()")])
        try:
            # VictoriaMetrics answers with a vector, and as of some seconds ago, but states the time of the answer.
            answer = found["result"] if found["resultType"] == "scalar" else found["result"][0]["value"]
            return float(answer[0])
        except (KeyError, IndexError, TypeError, ValueError, OverflowError):
            raise self._strange("query") from None

    def latest(self, selector: str) -> float | None:
        """Time of the last sample, s since 1970, of the series that is furthest behind; None: there are none.
        `selector`: of one name."""
        found = self._ask("query", [("query", f"min(timestamp({selector}))")])
        try:
            values = [float(each["value"][1]) for each in found["result"]]
        except (KeyError, IndexError, TypeError, ValueError, OverflowError):
            raise self._strange("query") from None
        return min(values, default=None)

    def labels_of(self, selector: str, *, begin: float, end: float) -> list[Labels]:
        """Labels of the series with samples in that time; of VictoriaMetrics, on its days."""
        asked = [("match[]", selector), ("start", f"{begin:.3f}"), ("end", f"{end:.3f}")]
        found = self._ask("series", asked)
        if not isinstance(found, list):
            raise self._strange("series")
        return [each for each in found if _is_labels(each)]

    def scraped(self, *, begin: float, end: float) -> list[Labels]:
        """Labels of the targets that were scraped in that time."""
        length = math.ceil((end - begin) * 1000)
        found = self._ask("query", [("query", f"count_over_time(up[{length}ms])"), ("time", f"{end:.3f}")])
        try:
            return [each["metric"] for each in found["result"] if _is_labels(each["metric"])]
        except (KeyError, TypeError):
            raise self._strange("query") from None

    def types(self) -> dict[str, str]:
        """Metric -> its type; empty where the server has no metadata."""
        try:
            found = self._ask("metadata", [])
        except PrometheusTrouble:
            return {}
        if not isinstance(found, dict):
            return {}
        firsts = ((name, held[0]) for name, held in found.items() if isinstance(held, list) and held)
        return {name: str(one.get("type", "")) for name, one in firsts if isinstance(one, dict)}

    def samples(self, selector: str, *, begin: float, end: float) -> list[tuple[Labels, Sequence[Any]]]:
        """The samples as they were scraped, at their own times: labels -> [[s, text], …] after `begin` up to `end`."""
        # A millisecond more: whether the range contains its start depends on the version.
        length = math.ceil((end - begin) * 1000) + 1
        return self._matrix("query", [("query", f"{selector}[{length}ms]"), ("time", f"{end:.3f}")])

    def values(self, selector: str, *, begin: float, end: float, step: float) -> list[tuple[Labels, Sequence[Any]]]:
        """The values at `begin`, each `step` later and up to `end`, by query_range: each is the last sample before."""
        asked = [("query", selector), ("start", f"{begin:.3f}"), ("end", f"{end:.3f}"), ("step", f"{step:g}")]
        # VictoriaMetrics would round the times, and repeat an older value instead of the newest ones.
        return self._matrix("query_range", [*asked, ("nocache", "1"), ("latency_offset", "0s")])

    def _matrix(self, path: str, asked: Sequence[tuple[str, str]]) -> list[tuple[Labels, Sequence[Any]]]:
        found = self._ask(path, asked)
        try:
            series = [(each["metric"], each.get("values", ())) for each in found["result"]]
        except (KeyError, TypeError, AttributeError):
            raise self._strange(path) from None
        if not all(_is_labels(labels) for labels, _ in series):
            raise self._strange(path)
        return series

    def _strange(self, path: str) -> PrometheusTrouble:
        return PrometheusTrouble(f"{self.url}/api/v1/{path} gave no usable answer; is it a Prometheus?")

    def _ask(self, path: str, asked: Sequence[tuple[str, str]]) -> Any:
        """`data` of the answer."""
        pause = FIRST_PAUSE
        for last in [False] * (TRIES - 1) + [True]:
            try:
                return self._once(path, asked)
            except PrometheusTrouble as trouble:
                passing = trouble.status is None or trouble.status == 429 or trouble.status >= 500
                if last or not passing or trouble.too_many:
                    raise
            self._sleep(pause)
            pause *= 2
        raise AssertionError

    def _once(self, path: str, asked: Sequence[tuple[str, str]]) -> Any:
        address = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(asked)}"
        request = urllib.request.Request(address, headers=self._headers)  # noqa: S310  see Access.problem
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return self._data(path, _body(answer))
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error) from error
        except urllib.error.URLError as error:
            raise PrometheusTrouble(f"{self.url}: {_reason(error.reason)}") from error
        except (OSError, HTTPException, EOFError, zlib.error) as error:
            raise PrometheusTrouble(f"{self.url}: {_reason(error)}") from error

    def _data(self, path: str, body: bytes) -> Any:
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            raise self._strange(path) from None
        if not isinstance(document, dict) or document.get("status") != "success" or "data" not in document:
            raise self._strange(path)
        return document["data"]

    def _refusal(self, error: urllib.error.HTTPError) -> PrometheusTrouble:
        if 300 <= error.code < 400:
            there = error.headers.get("Location", "another address")
            return PrometheusTrouble(f"{self.url} redirects to {there}: give that address", status=error.code)
        try:
            document = json.loads(_body(error))
            text = str(document.get("error", "")) if isinstance(document, dict) else ""
        except (OSError, HTTPException, EOFError, zlib.error, ValueError, RecursionError):
            text = ""
        words = f"{self.url} answered {error.code}" + (f": {text[:300]}" if text else "")
        if error.code in (401, 403):
            words += " (it takes other credentials: give user and password, or a bearer token)"
        elif error.code == 404:
            words += " (is the address complete? Mimir's ends with /prometheus, as does that of PMM)"
        too_many = any(word in text for word in ("too many samples", "exceed", "limit", "timed out"))
        return PrometheusTrouble(words, status=error.code, too_many=too_many)


def _is_labels(found: object) -> bool:
    return isinstance(found, dict) and all(isinstance(text, str) for text in found.values())


def _context(access: Access) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=access.ca or None)
    except (OSError, ssl.SSLError) as error:
        raise PrometheusTrouble(f"{access.ca} holds no certificates: {_reason(error)}", status=400) from error
    if access.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _body(answer: Any) -> bytes:
    if answer.headers.get("Content-Encoding") != "gzip":
        body: bytes = answer.read(LARGEST_ANSWER + 1)
    else:
        with gzip.GzipFile(fileobj=answer) as unpacked:
            body = unpacked.read(LARGEST_ANSWER + 1)
    if len(body) > LARGEST_ANSWER:
        raise PrometheusTrouble("the answer is too large", status=422, too_many=True)
    return body


def _reason(error: object) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message} (name its authority's file as ca)"
    return str(getattr(error, "strerror", "") or error or type(error).__name__)
