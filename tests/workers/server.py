"""A Splashboard that a test writes the answers of: real sockets, real HTTP, so that the agent's client is real too."""

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from apps.runs.samples.batches import Decoded, decode
from apps.runs.samples.columns import SampledNode
from tests.support.ports import ReservedPort
from tests.support.waiting import LIMIT
from workers.protocol import wire

Answer = tuple[int, bytes]


@dataclass(frozen=True)
class Received:
    """A request and how it was answered."""

    method: str
    path: str  # below /api/v1/
    headers: dict[str, str]
    body: bytes
    status: int

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class SeenRun:
    """What the server holds of a run."""

    opened: wire.RunMessage | None = None
    batches: dict[int, bytes] = field(default_factory=dict)
    artifacts: dict[str, bytes] = field(default_factory=dict)
    end: wire.RunEndMessage | None = None

    def decoded(self) -> Decoded:
        """Raises AssertionError when a batch that was announced is not there."""
        assert self.end is not None
        assert sorted(self.batches) == list(range(self.end.batches))
        return decode([self.batches[n] for n in range(self.end.batches)])

    def node(self, name: str) -> SampledNode:
        (found,) = (node for node in self.decoded().nodes if node.name == name)
        return found


class FakeServer:
    """`script(request path)` may give a status instead of the usual answer; `jobs` are handed out by claims."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.jobs: list[wire.JobMessage] = []
        self.runs: dict[str, SeenRun] = {}
        self.cancel = False
        self.retry_after = ""  # of the answers that `script` gives
        self.refusal = "application/problem+json"  # media type of answers from 400 on
        self.script: Callable[[str, str], int | None] = lambda _method, _path: None
        self._lock = threading.Lock()
        self._http: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None
        self._reserved = ReservedPort()

    @property
    def port(self) -> int:
        return self._reserved.number

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = LIMIT

            def do(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, answer = server.answer(self.command, self.path, dict(self.headers), body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.send_header("Content-Type", server.refusal if status >= 400 else "application/json")
                if server.retry_after and status >= 400:
                    self.send_header("Retry-After", server.retry_after)
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_PUT = do  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        ThreadingHTTPServer.allow_reuse_address = True
        self._http = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Gone: connections are refused, those that were open answer 503 and close."""
        if self._http and self._thread:
            self._http.shutdown()
            self._http.server_close()
            self._thread.join()
            self._http = None

    def close(self) -> None:
        """Gone for good."""
        self.stop()
        self._reserved.release()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Nobody listens; comes back under the same address."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        path = path.removeprefix("/api/v1/")
        with self._lock:
            status = 503 if self._http is None else self.script(method, path)
            answer = (status, b'{"title": "scripted"}') if status else self._usual(path, headers, body)
            self.received.append(Received(method, path, headers, body, answer[0]))
        return answer

    def _usual(self, path: str, headers: dict[str, str], body: bytes) -> Answer:
        match path.strip("/").split("/"):
            case ["health"]:
                return 200, b'{"state": "well"}'
            case ["agent", "hello"]:
                wire.from_json(wire.HelloMessage, body)
                return 200, wire.to_json(wire.HelloAnswer(agent="test"))
            case ["agent", "clock"]:
                return 200, wire.to_json(wire.ClockMessage(now=time.time()))
            case ["agent", "sampling"]:
                wire.from_json(wire.SamplingMessage, body)
                return 200, wire.to_json(wire.SamplingAnswer(runs=[]))
            case ["agent", "claim"]:
                return (200, wire.to_json(self.jobs.pop(0))) if self.jobs else (204, b"")
            case ["agent", "jobs", _, "renew"]:
                wire.from_json(wire.RenewMessage, body)
                return 200, wire.to_json(wire.RenewAnswer(cancel=self.cancel, lease_seconds=1))
            case ["agent", "jobs", _, "end"]:
                wire.from_json(wire.JobEndMessage, body)
                return 200, b"{}"
            case ["agent", "runs", uid, *rest]:
                return self._of_run(self.runs.setdefault(uid, SeenRun()), rest, headers, body)
        return 404, b'{"title": "no such address"}'

    @staticmethod
    def _of_run(run: SeenRun, rest: list[str], headers: dict[str, str], body: bytes) -> Answer:
        if rest and rest[0] in ("batches", "artifacts") and headers["X-Checksum"] != wire.checksum(body):
            return 422, b'{"title": "checksum"}'
        if rest and run.opened is None:
            return 404, b'{"title": "no such run"}'
        match rest:
            case []:
                run.opened = run.opened or wire.from_json(wire.RunMessage, body)
            case ["batches", number]:
                assert run.batches.setdefault(int(number), body) == body
            case ["artifacts", name]:
                assert run.artifacts.setdefault(name, body) == body
            case ["end"]:
                run.end = run.end or wire.from_json(wire.RunEndMessage, body)
        return 200, b"{}"

    # ------------------------------------------------------------ what tests ask

    def stored(self, ending: str = "") -> list[Received]:
        """Requests answered with 2xx whose path ends so."""
        return [r for r in list(self.received) if r.path.endswith(ending) and 200 <= r.status < 300]

    def job_ends(self) -> list[dict[str, Any]]:
        return [r.json() for r in self.stored("/end") if r.path.startswith("agent/jobs/")]

    def hellos(self) -> list[dict[str, Any]]:
        return [r.json() for r in self.stored("agent/hello")]


_numbers = itertools.count(1)


def a_job(*, system: str = "single", threads: tuple[int, ...] = (2,), **fields: Any) -> wire.JobMessage:
    number = next(_numbers)
    defaults: dict[str, Any] = {
        "id": number,
        "attempt": 1,
        "system": system,
        "tool": "sysbench",
        "workload": "write only",
        "parameters": {"test": "oltp_write_only", "tables": 2, "table_size": 500},
        "repetition": 1,
        "warmup": 0,
        "duration": 1,
        "lease_seconds": 1,
        "runs": [
            wire.PlannedRun(
                uid=f"00000000-0000-4000-8000-{number:06d}{place:06d}",
                load_level=wire.LoadLevelMessage(threads=count),
            )
            for place, count in enumerate(threads)
        ],
    }
    return wire.JobMessage(**{**defaults, **fields})
