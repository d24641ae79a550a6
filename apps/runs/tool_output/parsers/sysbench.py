"""Exact parser of the output of sysbench 1.0.20 and 1.1. Pure: bytes in, frozen values with their byte ranges out.

Every line is consumed by a rule or kept in `unparsed`; no input raises an error. After a checkpoint, sysbench's final
totals and histogram cover only the time since it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

from apps.runs.samples.histograms import place_of
from apps.runs.tool_output.once import once
from apps.runs.tool_output.parsers.sysbench_lines import (
    BUCKET,
    CHECKPOINT,
    END_OF_REPORT,
    FIGURES,
    FILES_OF_1_1,
    HEADER,
    INTERVALS,
    MESSAGE,
    NOTICE,
    REPEATED,
    with_points,
)

LAST_OF_FILES = "latency_sum"
FILE_RATES = ("file_reads_per_second", "file_writes_per_second", "file_fsyncs_per_second")
PARSER = "sysbench"
VERSION = "3"


@dataclass(frozen=True)
class OutputNumber:
    """A number and its byte range, `output[start:end]`."""

    value: float
    start: int
    end: int


@dataclass(frozen=True)
class SysbenchInterval:
    """One line of `--report-interval`, with the queue line of the same second.

    `values`, per second unless noted: throughput, queries, reads, writes, others, errors, reconnects, latency (ms, the
    `percentile` of the interval), queue_length and concurrency (events); events (cpu), memory_mib, file_reads_mib,
    file_writes_mib, file_fsyncs. None: no data, for example the latency of an interval in which nothing finished or
    which a checkpoint cut.
    """

    second: int
    threads: int | None
    percentile: int | None
    values: dict[str, float | None]


@dataclass(frozen=True)
class Checkpoint:
    """The report at `second`: totals since the previous checkpoint or the start."""

    second: int
    figures: dict[str, OutputNumber]


@dataclass(frozen=True)
class SysbenchHistogram:
    """Events by latency, ms: `counts[i]` in the bucket `values[i]`. Byte range: `output[start:end]`."""

    values: tuple[OutputNumber, ...]
    counts: tuple[int, ...]
    start: int
    end: int

    def percentile(self, percent: float) -> OutputNumber | None:
        """None without events."""
        return self.values[place_of(percent, list(accumulate(self.counts)))] if any(self.counts) else None


@dataclass(frozen=True)
class SysbenchMessage:
    """FATAL, ALERT, WARNING, …; `after`: second of the last interval printed before it; `count` with repetitions."""

    level: str
    text: str
    after: int | None
    count: int = 1


@dataclass(frozen=True)
class ParsedSysbench:
    """`totals`: name -> figure of the final report (names in FIGURES). `complete`: has a final report."""

    version: str = ""
    threads: int | None = None
    rate: float | None = None
    report_interval: int | None = None
    intervals: list[SysbenchInterval] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    totals: dict[str, OutputNumber] = field(default_factory=dict)
    histogram: SysbenchHistogram | None = None
    messages: list[SysbenchMessage] = field(default_factory=list)
    unparsed: list[str] = field(default_factory=list)
    second_run: int = 0  # offset at which another run's output begins; 0: it is of one run

    @property
    def complete(self) -> bool:
        needed = {"total_time", "events", "latency_sum", "thread_events_avg"}
        if "events" in self.totals and self.totals["events"].value == 0:
            needed.remove("latency_sum")  # without events, no latency is reported
        return needed <= self.totals.keys() or _has_files_of_1_1(self.totals)

    @property
    def has_known_lines(self) -> bool:
        return bool(self.totals or self.intervals or self.messages or self.version) or self.threads is not None

    @property
    def kind(self) -> str:
        """ "oltp", "cpu", "memory" or "fileio", from what was counted; empty: nothing was."""
        seen = self.totals.keys() | {name for interval in self.intervals for name in interval.values}
        return next((kind for name, kind in KINDS.items() if name in seen), "")

    def contradictions(self) -> list[tuple[int, str]]:
        """Seconds that a run cannot have printed like this, and why."""
        return [
            (one.second, f"interval {one.second} s is printed " + ("twice" if again else f"after {before.second} s"))
            for before, one in pairwise(self.intervals)
            if (again := one.second == before.second) or one.second < before.second
        ]

    def fatal(self) -> str:
        """The first fatal message, or empty."""
        return next((message.text for message in self.messages if message.level == "FATAL"), "")


# What only tests of one kind count, in intervals or in all.
KINDS = {
    **dict.fromkeys(("transactions", "throughput"), "oltp"),
    "memory_mib": "memory",
    **dict.fromkeys(("file_fsyncs", "file_reads_per_second"), "fileio"),
    **dict.fromkeys(("events_per_second", "events"), "cpu"),
}


@once
def parse(output: bytes) -> ParsedSysbench:
    return _Reader().read(with_points(output))


class _Reader:
    def __init__(self) -> None:
        self.header: dict[str, bytes] = {}
        self.intervals: list[SysbenchInterval] = []
        self.checkpoints: list[Checkpoint] = []
        self.totals: dict[str, OutputNumber] = {}
        # Target of figures: a checkpoint's report until its last line, else the final report. Lines of an interval may
        # come in between, since another thread of sysbench prints them.
        self.section = self.totals
        self.buckets: list[tuple[OutputNumber, int, int]] = []  # value, count, end of the line
        self.messages: list[SysbenchMessage] = []
        self.last_was_message = False
        self.unparsed: list[str] = []
        self.second_run = self.begins = self.threads_at = 0

    def read(self, output: bytes) -> ParsedSysbench:
        for start, line, terminated in _lines(output):
            if not self._consume(line, start, terminated):
                self.unparsed.append(line.decode("utf-8", "backslashreplace"))
                self.last_was_message = False
        for figures in (self.totals, *(checkpoint.figures for checkpoint in self.checkpoints)):
            _drop_latency_of_nothing(figures)
        threads, rate, interval = (self.header.get(name) for name in ("threads", "rate", "report_interval"))
        return ParsedSysbench(
            version=self.header.get("version", b"").decode("utf-8", "backslashreplace"),
            threads=int(threads) if threads else None,
            rate=float(rate) if rate else None,
            report_interval=int(interval) if interval else None,
            intervals=self.intervals,
            checkpoints=self.checkpoints,
            totals=self.totals,
            histogram=self._histogram(),
            messages=self.messages,
            unparsed=self.unparsed,
            second_run=self.second_run,
        )

    def _consume(self, line: bytes, start: int, terminated: bool) -> bool:
        if repeated := REPEATED.match(line):
            return self._repeat(int(repeated[1]))
        was_message, self.last_was_message = self.last_was_message, False
        if NOTICE.match(line):
            self.last_was_message = was_message and not line.strip()
            if line.startswith(b"Latency histogram"):
                self.buckets = []
            return True
        return (
            self._interval(line, start)
            or (terminated and self._bucket(line, start))
            or self._figures(line, start, terminated)
            or self._message(line)
            or self._head(line, start)
        )

    def _repeat(self, times: int) -> bool:
        if self.last_was_message:
            last = self.messages[-1]
            self.messages[-1] = replace(last, count=last.count + times)
        return True

    def _interval(self, line: bytes, start: int) -> bool:
        if checkpoint := CHECKPOINT.match(line):
            self.section = {}
            self.checkpoints.append(Checkpoint(second=int(checkpoint["second"]), figures=self.section))
            return True
        for pattern, names in INTERVALS:
            if found := pattern.match(line):
                last = self.intervals[-1].second if self.intervals else 0
                has_ended = END_OF_REPORT in self.totals or _has_files_of_1_1(self.totals)
                if has_ended and int(found["second"]) < last:
                    self.second_run = self.second_run or start
                self._add_interval(found, names)
                return True
        return False

    def _add_interval(self, found: re.Match[bytes], names: tuple[str, ...]) -> None:
        labels = found.re.groupindex
        plain = [found[i] for i in range(1, found.re.groups + 1) if i not in labels.values()]
        values = {name: _number(text) for name, text in zip(names, plain, strict=True)}
        done = [values[name] for name in ("throughput", "events") if name in values] or [
            value for name, value in values.items() if name.startswith("file_")
        ]
        second = int(found["second"])
        # A checkpoint resets the current interval's histogram: its latency would be that of the few events since.
        cut = bool(self.checkpoints) and self.checkpoints[-1].second == second
        if "latency" in values and (cut or (values["latency"] == 0 and not any(done))):
            values["latency"] = None
        if cut and "file_fsyncs" in values:
            # fileio resets its counters as well: the rates would cover only a moment.
            values = dict.fromkeys(values)
        last = self.intervals[-1] if self.intervals else None
        if "queue_length" in values and last and last.second == second and "queue_length" not in last.values:
            self.intervals[-1] = replace(last, values=last.values | values)
            return
        self.intervals.append(
            SysbenchInterval(
                second=second,
                threads=int(found["threads"]) if "threads" in labels else None,
                percentile=int(found["percentile"]) if "percentile" in labels else None,
                values=values,
            )
        )

    def _bucket(self, line: bytes, start: int) -> bool:
        found = BUCKET.match(line)
        if found:
            value = OutputNumber(float(found[1]), start + found.start(1), start + found.end(1))
            self.buckets.append((value, int(found[2]), start + found.end()))
        return found is not None

    def _figures(self, line: bytes, start: int, terminated: bool) -> bool:
        for pattern, names in FIGURES:
            found = pattern.match(line)
            # An unterminated last line may lack digits; the last line of a report may only lack its line end.
            if not found or not (terminated or names[0] == END_OF_REPORT):
                continue
            for group, name in enumerate(names, start=1):
                number = _number(found[group])
                key = name + found["percentile"].decode() if name == "latency_p" else name
                if name and number is not None:
                    if self.section is self.totals and key in self.totals and self.totals[key].value != number:
                        self.second_run = self.second_run or start
                    self.section[key] = OutputNumber(number, start + found.start(group), start + found.end(group))
            if names[0] == END_OF_REPORT or (names[0] == LAST_OF_FILES and _has_files_of_1_1(self.section)):
                self.section = self.totals
            return True
        return False

    def _message(self, line: bytes) -> bool:
        found = MESSAGE.match(line)
        if not found:
            return False
        level, text = found["level"] or b"ERROR", found["text"] if found["bare"] is None else found["bare"]
        after = self.intervals[-1].second if self.intervals else None
        self.messages.append(SysbenchMessage(level.decode(), text.decode("utf-8", "backslashreplace"), after))
        self.last_was_message = True
        return True

    def _head(self, line: bytes, start: int) -> bool:
        for pattern, name in HEADER:
            if found := pattern.match(line):
                self._begin(name, start)
                self.header.setdefault(name, found[1])
                return True
        return False

    def _begin(self, name: str, start: int) -> None:
        """Notes where a header begins; the output of `prepare` before a run has its first line alone."""
        if name == "version":
            self.begins = start
            is_second = bool(self.intervals or self.totals) or "threads" in self.header
        else:
            is_second = name == "threads" and "threads" in self.header
        if is_second:
            self.second_run = self.second_run or (self.begins if self.begins > self.threads_at else start)
        if name == "threads":
            self.threads_at = start

    def _histogram(self) -> SysbenchHistogram | None:
        if not self.buckets:
            return None
        return SysbenchHistogram(
            values=tuple(value for value, _, _ in self.buckets),
            counts=tuple(count for _, count, _ in self.buckets),
            start=self.buckets[0][0].start,
            end=self.buckets[-1][2],
        )


def _lines(output: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """Each line's offset in `output`, its text without line end, and whether it is terminated."""
    start = 0
    while start < len(output):
        end = output.find(b"\n", start)
        if end < 0:
            yield start, output[start:], False
            return
        yield start, output[start:end].removesuffix(b"\r"), True
        start = end + 1


def _number(text: bytes) -> float | None:
    """None for nan and inf."""
    if not text.removeprefix(b"-")[:1].isdigit():
        return None
    return float(text) if b"." in text else int(text)


def _has_files_of_1_1(figures: Mapping[str, OutputNumber]) -> bool:
    """Whether they are a whole report of fileio of 1.1, which has neither time nor events."""
    return {FILES_OF_1_1, LAST_OF_FILES} <= figures.keys()


def _drop_latency_of_nothing(figures: dict[str, OutputNumber]) -> None:
    """Drops the latencies that sysbench prints even without events."""
    # Without the last of them, a report of 1.1's fileio is not whole.
    kept = LAST_OF_FILES if FILES_OF_1_1 in figures else ""
    done = [figures[name].value for name in (FILE_RATES if kept else ("events",)) if name in figures]
    if done and not any(done):
        for name in [name for name in figures if name.startswith("latency_") and name != kept]:
            del figures[name]
