"""Reports of failovers and schema changes that others measured: from a CSV of a client's attempts, and from logs.

The figures are worked out by the same rules as those of our own probe. Prints a report to standard output.
"""

import csv
import math
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from workers.agent.faults import events
from workers.agent.faults.faults import WORDS, Fault
from workers.agent.faults.lanes import Attempt
from workers.agent.faults.phases import Sign, State, SteadyState
from workers.agent.faults.record import Record
from workers.agent.faults.run import counts_of, latencies
from workers.agent.programs import stalls
from workers.agent.programs.report import emit, emit_begin
from workers.agent.programs.stalls import LoadInterval
from workers.protocol.workloads.schema_changes import SETTLE

COLUMNS = "start and end (s, or ISO 8601), ok (1 or 0); due, server and error where known"
TRUE, FALSE = ("1", "true", "yes", "ok"), ("0", "false", "no", "")
# Of MHA's manager, and of syslog, which HAProxy writes.
CTIME = re.compile(r"\w{3} (\w{3} +\d+ [\d:]{8} \d{4}) - ")
SYSLOG = re.compile(r"(\w{3} +\d+ [\d:]{8}) ")
LARGEST_CLOCK = 86_400 * 30  # s; a larger number is a time of day since 1970


class NotMeasured(ValueError):
    """The text names file and line, what is wrong and the remedy."""


@dataclass(frozen=True)
class MeasuredFailover:
    """What is known of a failover beside the attempts. `at`: time of the fault, as in the files."""

    fault: str
    at: str
    node: str
    states: Path | None = None
    manager: Path | None = None
    proxy: Path | None = None


def failover(attempts: Path, known: MeasuredFailover) -> None:
    """Raises NotMeasured, or OSError."""
    control, _, role = known.fault.partition("_")
    if control not in WORDS:
        raise NotMeasured(f"--fault {known.fault!r} is not known: use one of {', '.join(sorted(WORDS))}, then _writer")
    clock = _Clock()
    rows = list(_rows(attempts, ("start", "end", "ok"), COLUMNS))
    clock.begin(min((clock.read(row["start"], place) for place, row in rows), default=0.0))
    record = Record()
    emit_begin("failover")
    inserts = [_attempt(number, row, place, clock) for number, (place, row) in enumerate(rows)]
    for one in sorted(inserts, key=lambda one: one.end):
        record.insert(one)
    at = clock.since(known.at, "--fault-at")
    until = math.ceil(max(one.end for one in inserts))
    if not 0 < at < until:
        raise NotMeasured(f"--fault-at {known.at} is not between the first and the last attempt")
    for state in _states(known.states, clock):
        record.state(state)
    for file, add in ((known.manager, record.add_manager_sign), (known.proxy, record.add_proxy_sign)):
        _signs(file, clock, add)
    for second in range(until):
        ended, _ = record.ended(second, second + 1)
        quick = latencies([one for one in ended if one.error is None])
        p95 = {"latency.p95": quick.get("latency.p95")}
        emit("interval", t=second + 1, seconds=1, counts=counts_of(ended, []), values=p95)
    struck = events.InjectedFault(Fault(control, known.node, role), at, at)
    interval = statistics.median([later - due for due, later in pairwise(sorted(one.due for one in inserts))] or [0.05])
    values = events.phase_values(record, struck, warmup=0.0, interval=interval, rule=SteadyState())
    figures = {**latencies([one for one in inserts if one.error is None]), **values}
    figures["failover.errors"] = sum(one.error is not None for one in inserts)
    for (code, text), times in record.errors_by_kind(0, math.inf).items():
        emit("error", t=round(times[0], 3), code=code or None, text=text, count=len(times))
    _total(until, counts_of(inserts, []), figures)


def schema_change(attempts: Path, *, statement: str, began: str, ended: str) -> None:
    """Of a load's transactions, one a row. Raises NotMeasured, or OSError."""
    clock = _Clock()
    rows = list(_rows(attempts, ("start", "end", "ok"), COLUMNS))
    clock.begin(min((clock.read(row["start"], place) for place, row in rows), default=0.0))
    found = [_attempt(number, row, place, clock) for number, (place, row) in enumerate(rows)]
    start, end = clock.since(began, "--from"), clock.since(ended, "--to")
    until = math.ceil(max(one.end for one in found))
    if not 0 < start <= end <= until:
        raise NotMeasured(f"the statement lasts from {began} to {ended}, which is not within the attempts")
    emit_begin("ddl_under_load")
    done = sorted(one.end for one in found if one.error is None)
    seconds = []
    for second in range(until):
        own = [one for one in found if second <= one.end < second + 1]
        counts = counts_of(own, [])
        seconds.append(LoadInterval(second + 1, 1, counts["transactions"]))
        quick = latencies([one for one in own if one.error is None])
        values = {"latency.p95": quick.get("latency.p95")}
        emit("interval", t=second + 1, seconds=1, counts=counts, values=values)
    last = min(end + SETTLE, until)
    gap = stalls.longest_gap(done, since=start, until=last)
    base = stalls.baseline(seconds, since=0, until=start)
    figures: dict[str, float] = {"ddl.duration": end - start, "ddl.gap": gap}
    figures["ddl.gap_before"] = stalls.longest_gap(done, since=0, until=start)
    if base:
        stall = stalls.stall(seconds, base=base, spans=[(start, last)], share=50)
        figures |= {"ddl.baseline": base, "ddl.stall.length": stall.length, "ddl.stall.depth": stall.depth}
    span = {"from": round(start, 4), "to": round(end, 4)}
    detail = {"statement": statement, "seconds": round(end - start, 4), "gap": gap}
    emit("event", event="ddl", label=f"{statement} took {end - start:.3f} s", **span, detail=detail)
    _total(until, counts_of(found, []), latencies([one for one in found if one.error is None]) | figures)


def _total(until: float, counts: Mapping[str, int], figures: Mapping[str, float]) -> None:
    rounded = {name: round(value, 4) for name, value in figures.items()}
    emit("total", **{"from": 0.0, "to": until}, counts=counts, values=rounded)
    emit("end")


# ---------------------------------------------------------------- files


class _Clock:
    """Times of the files as seconds since the first attempt began."""

    def __init__(self) -> None:
        self._zero = 0.0

    def begin(self, zero: float) -> None:
        self._zero = zero

    def since(self, text: str, place: str) -> float:
        return self.read(text, place) - self._zero

    def read(self, text: str, place: str) -> float:
        """Raises NotMeasured."""
        try:
            seconds = float(text)
        except ValueError:
            try:
                moment = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
            except ValueError as error:
                raise NotMeasured(f"{place}: {text!r:.60} is no time: give s, or ISO 8601") from error
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        if not math.isfinite(seconds):
            raise NotMeasured(f"{place}: {text!r:.60} is no time: give s, or ISO 8601")
        return seconds

    @property
    def year(self) -> int:
        """Of the attempts, which syslog leaves out."""
        return datetime.fromtimestamp(self._zero, UTC).year if self._zero > LARGEST_CLOCK else 0


def _rows(file: Path, needed: Sequence[str], words: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Place in the file and row. Raises NotMeasured."""
    with file.open(newline="", encoding="utf-8", errors="replace") as stream:
        reader = csv.DictReader(stream)
        missing = [name for name in needed if name not in (reader.fieldnames or ())]
        if missing:
            raise NotMeasured(f"{file}: line 1 lacks the column {missing[0]}: the columns are {words}")
        empty = True
        for row in reader:
            empty = False
            yield f"{file}: line {reader.line_num}", {name: text or "" for name, text in row.items() if name}
        if empty:
            raise NotMeasured(f"{file}: it has no rows")


def _attempt(number: int, row: Mapping[str, str], place: str, clock: _Clock) -> Attempt:
    start, end = clock.since(row["start"], place), clock.since(row["end"], place)
    if end < start:
        raise NotMeasured(f"{place}: the attempt ends before it starts")
    ok = row["ok"].strip().lower()
    if ok not in (*TRUE, *FALSE):
        raise NotMeasured(f"{place}: ok is {row['ok']!r:.60}: give 1 or 0")
    due = clock.since(row["due"], place) if row.get("due") else start
    error = None if ok in TRUE else _error(row.get("error", ""))
    return Attempt(number, 0, 1, due, start, end, row.get("server", ""), error)


def _error(text: str) -> tuple[int, str]:
    code = re.search(r"\b\d{4}\b", text)
    return (int(code[0]) if code else 0, text or "failed")


def _states(file: Path | None, clock: _Clock) -> Iterable[State]:
    """Rows of a node's state from `t` on."""
    if file is None:
        return
    last: dict[str, float] = {}
    for place, row in _rows(file, ("t", "node", "answers", "writable"), "t, node, answers, writable, and cluster"):
        t, node = clock.since(row["t"], place), row["node"]
        answers, writable = (row[name].strip().lower() in TRUE for name in ("answers", "writable"))
        yield State(t, last.get(node, t), node, answers, writable, row.get("cluster", ""))
        last[node] = t


def _signs(file: Path | None, clock: _Clock, add: Callable[[Sign], None]) -> None:
    """Lines of a log that begin with a time; others belong to the line before."""
    if file is None:
        return
    found = 0
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        moment, text = _timed(line, f"{file}: line {number}", clock)
        if moment is not None:
            found += 1
            add(Sign(moment, text))
    if not found:
        raise NotMeasured(f"{file}: no line begins with a time: s, ISO 8601, syslog's or that of MHA's manager")


def _timed(line: str, place: str, clock: _Clock) -> tuple[float | None, str]:
    for pattern, layout, year in ((CTIME, "%b %d %H:%M:%S %Y", ""), (SYSLOG, "%b %d %H:%M:%S %Y", f" {clock.year}")):
        if (known := pattern.match(line)) and (year or pattern is CTIME):
            text = " ".join(f"{known[1]}{year}".split())
            try:
                # Such logs have the local time of their host, which is taken for this one's.
                moment = datetime.strptime(text, layout).astimezone()
            except ValueError:
                return None, line
            return clock.since(moment.isoformat(), place), line[known.end() :]
    first, _, rest = line.partition(" ")
    try:
        return clock.since(first, place), rest
    except NotMeasured:
        return None, line
