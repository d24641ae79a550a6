"""Statements executed on a node in the measured phase, by digest: performance_schema read at both ends of the phase."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import msgspec

from workers.agent.runtime.config import NodeConfig, SystemConfig
from workers.agent.samplers import HiddenFromSampler, SourceFailed
from workers.agent.samplers.connection import Asking

log = logging.getLogger("splashboard.agent.digests")
ARTIFACT = "digests.jsonl"
MOST = 50  # statements kept per node, the longest-running; the others are summed
TEXT_LIMIT = 1000  # characters of a statement
TICK = 0.1  # s
TIMEOUT = 3.0  # s for all nodes together: a frozen or disconnected node delays nothing
PICOSECONDS = 10**12
# Name in the artifact -> column. Cumulative counters: the phase's value is the difference of two readings.
COUNTS = {
    "count": "COUNT_STAR",
    "seconds": "SUM_TIMER_WAIT",
    "lock_seconds": "SUM_LOCK_TIME",
    "errors": "SUM_ERRORS",
    "rows_affected": "SUM_ROWS_AFFECTED",
    "rows_sent": "SUM_ROWS_SENT",
    "rows_examined": "SUM_ROWS_EXAMINED",
    "tmp_disk_tables": "SUM_CREATED_TMP_DISK_TABLES",
    "without_index": "SUM_NO_INDEX_USED",
}
TIMES = ("seconds", "lock_seconds")
TABLE = "performance_schema.events_statements_summary_by_digest"
READ = f"SELECT SCHEMA_NAME, DIGEST, {', '.join(COUNTS.values())} FROM {TABLE} WHERE DIGEST IS NOT NULL"  # noqa: S608
TEXTS = f"SELECT SCHEMA_NAME, DIGEST, LEFT(DIGEST_TEXT, {TEXT_LIMIT}) FROM {TABLE} WHERE DIGEST IN "  # noqa: S608

WHAT = "statements by digest"
UPTIME = "SHOW GLOBAL STATUS LIKE 'Uptime'"
REMEDY = "let the driving agent reach the node by an account that may read its performance_schema"

Key = tuple[str, str]  # schema, digest


@dataclass(frozen=True)
class DigestSnapshot:
    """`t`: s on the run's clock; counts as in the server, times in picoseconds."""

    t: float
    rows: Mapping[Key, tuple[int, ...]]


def read(server: Asking, *, now: Callable[[], float]) -> DigestSnapshot:
    """Raises SourceFailed."""
    rows = server.ask(READ)
    return DigestSnapshot(now(), {(schema or "", digest): tuple(map(int, counts)) for schema, digest, *counts in rows})


def read_again(server: Asking, before: DigestSnapshot, *, now: Callable[[], float]) -> DigestSnapshot:
    """Of the same start of the server as `before`; once more over a new connection where that one was lost. Raises
    SourceFailed."""
    try:
        return read(server, now=now)
    except SourceFailed:
        ((_, uptime),) = server.ask(UPTIME)
        if int(uptime) + 1 <= now() - before.t:
            raise SourceFailed("the server was started anew in the measured phase") from None
        return read(server, now=now)


def difference(
    before: DigestSnapshot, after: DigestSnapshot
) -> tuple[list[tuple[Key, dict[str, Any]]], dict[str, Any]]:
    """Statements executed between two snapshots, longest-running first, and the sum of all."""
    steps: dict[Key, tuple[int, ...]] = {}
    for key, counts in after.rows.items():
        old = before.rows.get(key)
        # A lower count: the digest was evicted and re-entered.
        step = counts if old is None or old[0] > counts[0] else tuple(b - a for a, b in zip(old, counts, strict=True))
        if step[0]:
            steps[key] = step
    place = list(COUNTS).index("seconds")
    longest = sorted(steps, key=lambda key: steps[key][place], reverse=True)[:MOST]
    total = tuple(map(sum, zip(*steps.values(), strict=True))) if steps else (0,) * len(COUNTS)
    return [(key, _named(steps[key])) for key in longest], _named(total)


def _named(counts: tuple[int, ...]) -> dict[str, Any]:
    return {
        name: round(count / PICOSECONDS, 9) if name in TIMES else count
        for name, count in zip(COUNTS, counts, strict=True)
    }


class DigestReader:
    """One thread per node reads its digests at the start of the measured phase and after the load."""

    def __init__(
        self, system: SystemConfig, *, now: Callable[[], float], begins_at: Callable[[], float | None]
    ) -> None:
        """`begins_at()`: start of the measured phase, s on the run's clock; None: not known yet."""
        self._system = system
        self._now = now
        self._begins_at = begins_at
        self._ended = threading.Event()
        self._lines: dict[str, bytes] = {}
        self._unread: dict[str, str] = {}
        self._begun: set[str] = set()  # nodes of which the first of both snapshots has statements
        self._threads = [
            threading.Thread(target=self._work, args=(node,), name=f"digests {node.name}", daemon=True)
            for node in system.nodes
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def finish(self) -> bytes:
        """The artifact: one line per node that answered in time; empty without any."""
        self._ended.set()
        deadline = time.monotonic() + TIMEOUT
        for thread in self._threads:
            thread.join(timeout=max(0.0, deadline - time.monotonic()))
        lines = dict(self._lines)  # late answers are ignored
        return b"".join(lines[node] for node in sorted(lines))

    def hidden(self) -> dict[str, HiddenFromSampler]:
        """After `finish`: missing digests. The waits sampler reports nodes that it samples and that show none."""
        unread, begun = dict(self._unread), set(self._begun)
        others = {node.name for node in self._system.nodes if not node.sampled}
        missing = (begun | others) & unread.keys() - self._lines.keys()
        return {
            name: HiddenFromSampler(WHAT, unread[name], "" if name in begun else REMEDY) for name in sorted(missing)
        }

    def _work(self, node: NodeConfig) -> None:
        while not self._is_measured():
            if self._ended.wait(TICK):
                return
        self._unread[node.name] = "it did not answer in time"
        with closing(Asking(self._system, node.address)) as server:
            try:
                before = read(server, now=self._now)
                if before.rows:
                    self._begun.add(node.name)
                self._ended.wait()
                after = read_again(server, before, now=self._now)
            except SourceFailed as problem:
                log.info("no statements by digest of %s: %s", node.name, problem)
                self._unread[node.name] = str(problem)
                return
            if after.rows:
                self._lines[node.name] = msgspec.json.encode(_line(node, server, before, after)) + b"\n"
            else:
                self._unread[node.name] = "performance_schema is OFF"

    def _is_measured(self) -> bool:
        begin = self._begins_at()
        return begin is not None and self._now() >= begin


def _line(node: NodeConfig, server: Asking, before: DigestSnapshot, after: DigestSnapshot) -> dict[str, Any]:
    statements, total = difference(before, after)
    texts: dict[Key, str] = {}
    if statements:
        wanted = ", ".join(f"'{digest}'" for _, digest in {key for key, _ in statements})
        try:
            texts = {(schema or "", digest): text for schema, digest, text in server.ask(f"{TEXTS}({wanted})")}
        except SourceFailed as problem:
            log.warning("the texts of statements could not be read: %s", problem)
    return {
        "kind": "digests",
        "node": node.name,
        "from": round(before.t, 6),
        "to": round(after.t, 6),
        "total": total,
        "statements": [
            {"schema": key[0], "digest": key[1], "text": texts.get(key, ""), **counts} for key, counts in statements
        ],
    }
