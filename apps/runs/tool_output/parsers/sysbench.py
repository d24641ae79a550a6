"""Exact parser of the output of sysbench 1.0.20 and 1.1. Pure: bytes in, frozen values with their byte ranges out.

Every line is consumed by a rule or kept in `unparsed`; no input raises an error. After a checkpoint, sysbench's final
totals and histogram cover only the time since it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

from apps.runs.samples.histograms import place_of

PARSER = "sysbench"
VERSION = "2"


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
        return {"total_time", "events", "latency_sum", "thread_events_avg"} <= self.totals.keys() | (
            # Without events, no latency is reported.
            {"latency_sum"} if "events" in self.totals and self.totals["events"].value == 0 else set()
        )

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


# With exactly the decimals of sysbench's format, so that a truncated line is not read as a smaller number.
# No number of sysbench's has more digits; Python refuses to read 5,000.
N, N3, N4 = (rb"(-?\d{1,18}\.\d{%d}|-?nan|-?inf)" % decimals for decimals in (2, 3, 4))
I = rb"(\d{1,18})"  # noqa: E741  (an integer, short in patterns)
SECOND = rb"^\[ (?P<second>\d{1,18})s \] "

INTERVALS: tuple[tuple[re.Pattern[bytes], tuple[str, ...]], ...] = tuple(
    (re.compile(SECOND + pattern + rb"$"), names)
    for pattern, names in (
        (
            rb"thds: (?P<threads>\d{1,9}) tps: %s qps: %s \(r/w/o: %s/%s/%s\) lat \(ms,(?P<percentile>\d{1,9})%%\): %s "
            rb"err/s: %s reconn/s: %s" % ((N,) * 8),
            ("throughput", "queries", "reads", "writes", "others", "latency", "errors", "reconnects"),
        ),
        (rb"queue length: %s,? concurrency: %s" % (I, I), ("queue_length", "concurrency")),
        (
            rb"thds: (?P<threads>\d{1,9}) eps: %s lat \(ms,(?P<percentile>\d{1,9})%%\): %s" % (N, N),
            ("events", "latency"),
        ),
        (rb"%s MiB/sec" % N, ("memory_mib",)),
        (
            rb"reads: %s MiB/s writes: %s MiB/s fsyncs: %s/s latency \(ms,(?P<percentile>\d{1,9})%%\): %s"
            % (N, N, N, N3),
            ("file_reads_mib", "file_writes_mib", "file_fsyncs", "latency"),
        ),
    )
)

PER_SECOND = rb" +%s +\(%s per sec\.\)" % (I, N)
FIGURES: tuple[tuple[re.Pattern[bytes], tuple[str, ...]], ...] = tuple(
    (re.compile(rb"^" + pattern + rb"$"), names)
    for pattern, names in (
        (rb" {8}read: +" + I, ("reads",)),
        (rb" {8}write: +" + I, ("writes",)),
        (rb" {8}other: +" + I, ("others",)),
        (rb" {8}total: +" + I, ("queries_performed",)),
        (rb" {4}transactions:" + PER_SECOND, ("transactions", "transactions_per_second")),
        (rb" {4}queries:" + PER_SECOND, ("queries", "queries_per_second")),
        (rb" {4}ignored errors:" + PER_SECOND, ("errors", "errors_per_second")),
        (rb" {4}reconnects:" + PER_SECOND, ("reconnects", "reconnects_per_second")),
        (rb" {4}total time: +%ss" % N4, ("total_time",)),
        (rb" {4}total number of events: +" + I, ("events",)),
        (rb" {9}min: +" + N, ("latency_min",)),
        (rb" {9}avg: +" + N, ("latency_avg",)),
        (rb" {9}max: +" + N, ("latency_max",)),
        (rb" {9}sum: +" + N, ("latency_sum",)),
        (rb" {8} *(?P<percentile>\d{1,9})th percentile: +" + N, ("", "latency_p")),
        (rb" {4}events \(avg/stddev\): +%s/%s" % (N4, N), ("thread_events_avg", "thread_events_stddev")),
        (rb" {4}execution time \(avg/stddev\): +%s/%s" % (N4, N), ("thread_time_avg", "thread_time_stddev")),
        (rb" {4}events per second: +" + N, ("events_per_second",)),
        # Version 1.1, instead of "total time".
        (rb" {4}time elapsed: +%ss" % N4, ("total_time",)),
        (rb" {4}events/s \(eps\): +" + N4, ("",)),
        (rb"Total operations: %s \( *%s per second\)" % (I, N), ("operations", "operations_per_second")),
        (rb"%s MiB transferred \(%s MiB/sec\)" % (N, N), ("memory_mib", "memory_mib_per_second")),
        (rb" {4}reads/s: +" + N, ("file_reads_per_second",)),
        (rb" {4}writes/s: +" + N, ("file_writes_per_second",)),
        (rb" {4}fsyncs/s: +" + N, ("file_fsyncs_per_second",)),
        (rb" {4}read, MiB/s: +" + N, ("file_read_mib_per_second",)),
        (rb" {4}written, MiB/s: +" + N, ("file_written_mib_per_second",)),
    )
)

HEADER: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"^sysbench (\S+)(?: \(using .+\))?$"), "version"),
    (re.compile(rb"^Number of threads: (\d{1,18})$"), "threads"),
    (re.compile(rb"^Target transaction rate: (\d{1,18})/sec$"), "rate"),
    (re.compile(rb"^Report intermediate results every (\d{1,18}) second\(s\)$"), "report_interval"),
)
CHECKPOINT = re.compile(SECOND + rb"Checkpoint report:$")
BUCKET = re.compile(rb"^ *(\d{1,18}\.\d{3}) \|\** +(\d{1,18})$")
MESSAGE = re.compile(
    rb"^(?:(?P<level>FATAL|ALERT|CRITICAL|ERROR|WARNING|DEBUG|PANIC): (?P<text>.*)"
    rb"|(?P<bare>Error in my_thread_global_end\(\).*|Segmentation fault.*|Aborted.*|Killed|invalid option: .*))$"
)
REPEATED = re.compile(rb"^\(last message repeated (\d{1,18}) times\)$")
END_OF_REPORT = "thread_time_avg"

# Progress messages without results.
NOTICE = re.compile(
    rb"^(?:\s*"
    rb"|Running the test with following options:|Debug mode enabled\.|Report checkpoint\(s\) at .+ seconds"
    rb"|Initializing random number generator from (?:current time|seed \(\d+\)\.)|Initializing worker threads\.\.\."
    rb"|Threads started!|Done\.|(?:Time|Event) limit exceeded, exiting\.\.\.|Forcing shutdown in \d+ seconds"
    rb"|Number of unfinished transactions on forced shutdown: \d+|Additional request validation enabled\."
    rb"|SQL statistics:|    queries performed:|General statistics:|Latency \(ms\):|Threads fairness:"
    rb"|         percentile stats: +disabled|Latency histogram \(values are in milliseconds\)"
    rb"|       value  -+ distribution -+ count"
    # prepare, prewarm, cleanup
    rb"|Creating table '\w+'\.\.\.|Inserting \d+ records into '\w+'|Creating a secondary index on '\w+'\.\.\."
    rb"|Dropping table '\w+'\.\.\.|Prewarming table \w+|(?:real|user|sys)\t\d+m[\d.]+s"
    # cpu, memory
    rb"|Prime numbers limit: \d+|CPU speed:|Running memory speed test with the following options:"
    rb"|  block size: \d+KiB|  total size: \d+MiB|  operation: \w+|  scope: \w+"
    # fileio
    rb"|File operations:|Throughput:|\d+ files, \S+ each(?:, \S+ total)?|\S+ total file size|Block size \S+"
    rb"|Extra file open flags: .+|Number of IO requests: \d+|Read/Write ratio for combined random IO test: [\d.]+"
    rb"|(?:Periodic FSYNC|Calling fsync\(\)|Using|Doing) .+|Creating files for the test\.\.\."
    rb"|(?:Creating|Reusing existing|Extending existing) file \S+|Removing test files\.\.\."
    rb"|\d+ bytes written in [\d.]+ seconds \([\d.]+ MiB/sec\)\."
    rb")$"
)


def parse(output: bytes) -> ParsedSysbench:
    return _Reader().read(output)


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
        self.second_run = 0

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
            self._interval(line)
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

    def _interval(self, line: bytes) -> bool:
        if checkpoint := CHECKPOINT.match(line):
            self.section = {}
            self.checkpoints.append(Checkpoint(second=int(checkpoint["second"]), figures=self.section))
            return True
        for pattern, names in INTERVALS:
            if found := pattern.match(line):
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
                    self.section[key] = OutputNumber(number, start + found.start(group), start + found.end(group))
            if names[0] == END_OF_REPORT:
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
                if name == "version" and (self.intervals or self.totals):
                    self.second_run = self.second_run or start
                self.header.setdefault(name, found[1])
                return True
        return False

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


def _drop_latency_of_nothing(figures: dict[str, OutputNumber]) -> None:
    """Drops the latencies that sysbench prints even without events."""
    events = figures.get("events")
    if events is not None and events.value == 0:
        for name in [name for name in figures if name.startswith("latency_")]:
            del figures[name]
