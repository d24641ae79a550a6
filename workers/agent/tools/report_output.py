"""The report of our own tools, JSON lines in their output, and its checks against the server's counters."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workers.agent.measure import database
from workers.agent.tools import Finished, RunCheckResult

WRITES = ("Com_insert", "Com_update", "Com_delete", "Com_replace")
# Statements executed beside the load: by samplers, health checks, heartbeats.
STRAY = 50
STRAY_SHARE = 0.01
COMPLAINT = re.compile(rb"FATAL: error ([0-9]+: .*?)\r?\n")


@dataclass(frozen=True)
class Reported:
    """`counts`: over the whole run, warm-up included; `values`: of the measured phase, by name; `setup`: statements
    before the load, not in `counts`; `complaint`: the server's text of the first error printed by sysbench.
    """

    counts: Mapping[str, int]
    values: Mapping[str, float]
    setup: Mapping[str, int]
    complaint: str = ""

    @property
    def writes(self) -> int:
        """Writing statements of the load, matched or not."""
        return self.counts["writes"] + self.counts["unmatched"]


def read(output: Path) -> Reported:
    """Raises OSError."""
    counts: Counter[str] = Counter()
    values: Mapping[str, float] = {}
    setup: Mapping[str, int] = {}
    complaint = ""
    with output.open("rb") as stream:
        for line in stream:
            if line.startswith(b'{"kind":"total"'):
                total = json.loads(line)
                # Each total covers the time since the one before.
                counts.update(total["counts"])
                values = total["values"]
            elif line.startswith(b'{"kind":"note","setup"'):
                setup = json.loads(line)["setup"]
            elif not complaint and (found := COMPLAINT.match(line)):
                complaint = found[1].decode(errors="replace")
    return Reported(counts, values, setup, complaint)


def executed(output: Path) -> Reported | None:
    """The statements reported by one of our programs; None: not reported. Raises OSError."""
    with output.open("rb") as stream:
        line = next((line for line in stream if line.startswith(b'{"kind":"note","executed"')), None)
    if line is None:
        return None
    document = json.loads(line)
    return Reported(Counter(document["executed"]), {}, document["setup"])


def took_part(reported: Reported) -> RunCheckResult:
    """Checks that transactions were executed."""
    opened, refused = (int(reported.values.get(f"client.connections.{what}", 0)) for what in ("opened", "refused"))
    held = opened > 0 and reported.counts["transactions"] > 0
    label = f"{reported.counts['transactions']} transactions over {opened} connections"
    if refused:
        label += f"; {refused} connections were refused ({reported.complaint or 'no reason given'})"
    return RunCheckResult("load", held, label)


def writes_agree(finished: Finished, reported: Reported) -> list[RunCheckResult]:
    """Checks the client's write count against the server's. No check when the server's counters are unknown."""
    server = _increase(finished, WRITES)
    if server is None:
        return []
    return [_agree(reported, server)]


def reads_agree(finished: Finished, reported: Reported) -> list[RunCheckResult]:
    """Like `writes_agree`, for SELECT, of which other clients send some too."""
    server = _increase(finished, ("Com_select", "Qcache_hits"))
    if server is None:
        return []
    client = reported.counts["reads"]
    held = server >= client * (1 - STRAY_SHARE)
    return [RunCheckResult("reads", held, f"the client counted {client} SELECT statements, the server {server}")]


def _agree(reported: Reported, server: int) -> RunCheckResult:
    client = reported.writes + reported.setup.get("writes", 0)
    # The server counts every attempt of a retried statement. What is more than that others wrote: the run did what it
    # claims all the same, and its quality checks tell of noisy neighbours.
    most = client * (1 + STRAY_SHARE) + STRAY + reported.counts["errors"]
    others = "; others wrote too" if server > most else ""
    label = f"the client counted {client} INSERT, UPDATE and DELETE statements, the server {server}{others}"
    return RunCheckResult("writes", server >= client * (1 - STRAY_SHARE), label)


def all_matched(reported: Reported, *, most: float = 0.0) -> RunCheckResult:
    """Checks that all writes but a share of `most` changed a row: a write without a match is fast and worthless."""
    unmatched = reported.counts["unmatched"]
    held = unmatched <= reported.writes * most
    return RunCheckResult("matched", held, f"{unmatched} of {reported.writes} writes matched no row")


def rows_are(finished: Finished, expected: Mapping[str, int]) -> RunCheckResult:
    """Checks the row count of each table. Raises DatabaseFailed."""
    found = count_rows(finished, list(expected))
    wrong = [
        f"{table} holds {found[table]} rows, not {rows}" for table, rows in expected.items() if found[table] != rows
    ]
    rows = f"{sum(found.values())} rows in {len(found)} table{'s' if len(found) > 1 else ''}, as reported"
    return RunCheckResult("rows", not wrong, "; ".join(wrong[:3]) or rows)


def rows_in_all_are(finished: Finished, tables: Sequence[str], expected: int) -> RunCheckResult:
    """Checks the row count of all tables together. Raises DatabaseFailed."""
    found = sum(count_rows(finished, tables).values())
    label = f"{found} rows in {len(tables)} table{'s' if len(tables) > 1 else ''}"
    return RunCheckResult("rows", found == expected, label if found == expected else f"{label}, not {expected}")


def count_rows(finished: Finished, tables: Sequence[str]) -> dict[str, int]:
    """Raises DatabaseFailed."""
    found = {}
    with database.session(finished.system, doing="count rows") as cursor:
        for table in tables:
            cursor.execute(f"SELECT COUNT(*) FROM `{finished.schema}`.`{table}`")  # noqa: S608  (names are ours)
            found[table] = int((cursor.fetchone() or (0,))[0])
    return found


def _increase(finished: Finished, names: Sequence[str]) -> int | None:
    """Increase of server counters; None: unknown, or the server was restarted in between."""
    before, after = finished.before, finished.after
    if not before or not after or after.get("Uptime", 0) < before.get("Uptime", 0):
        return None
    return sum(after.get(name, 0) - before.get(name, 0) for name in names)
