"""Parser of fio's JSON, `--output-format=json` or `json+`, of 3.x. Pure.

Lines before and after the JSON are messages or the report in words. Several jobs of one group are one load: their
requests are summed over the longest runtime, their means weighted by the requests. Percentiles are never averaged: they
are fio's own of a single job or of a group (--group_reporting), or those of the merged bins of json+. Completion
latencies are in ns. Snapshots of --status-interval become series. Not read: trims, single jobs' CPU, disks.
"""

import errno
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from apps.runs.samples.histograms import FIO, HistogramCounts, OffGrid
from apps.runs.tool_output.parsers.fio import options
from apps.runs.tool_output.parsers.fio.places import number_places
from apps.runs.tool_output.parsers.parsed_output import (
    NotThisFormat,
    ParsedDistribution,
    ParsedOutput,
    ParsedValue,
    ToolMessage,
    first_line,
    is_count,
    scaled,
    shown,
)

VERSION = "1"
EXPECTED = "fio's JSON, an object with “fio version” and “jobs”, by --output-format=json"
MIB, NS_PER_MS = 2**20, 10**6
# Direction -> beginnings of its metrics: requests, MiB, latency.
DIRECTIONS = {
    "read": ("client.file_reads", "client.file_read_mib", "client.file_read.latency"),
    "write": ("client.file_writes", "client.file_write_mib", "client.file_write.latency"),
}
REQUESTS = "client.file_requests"
SYNC = ("client.file_fsyncs", "client.file_fsync.latency")
# Those of fio's percentiles that are values of a run.
PERCENTILES = {"50.000000": "p50", "90.000000": "p90", "95.000000": "p95", "99.000000": "p99", "99.900000": "p99.9"}
STATISTICS = {"mean": "avg", "min": "min", "max": "max", "stddev": "stddev"}
MESSAGE = re.compile(rb"^fio: (?P<text>.{1,2000})$", re.MULTILINE)
BIN = re.compile(r"[0-9]{1,20}")
OF_ANY = {"mean", "min", "max"}  # 0 where no latency was measured
OF_LATENCY = {*STATISTICS, "N", "percentile", "bins"}
PERCENT = re.compile(r"[0-9]{1,3}\.[0-9]{6}")
MOST_MESSAGES = 50
MOST_DOCUMENTS = 100_000


@dataclass(frozen=True)
class _FioReport:
    """One JSON document of fio at `content[start:end]`."""

    start: int
    end: int
    line: int
    tree: dict[str, Any]

    @property
    def jobs(self) -> list[dict[str, Any]]:
        return list(self.tree["jobs"])

    def total(self, direction: str, name: str) -> int:
        return sum(_part(job, direction).get(name, 0) for job in self.jobs)

    def runtime(self, *directions: str) -> int:
        """The longest of the jobs, ms."""
        return max((_part(job, each).get("runtime", 0) for job in self.jobs for each in directions), default=0)


def parse(content: bytes) -> ParsedOutput:
    """Parses the output of one run. Raises NotThisFormat."""
    reports = list(_reports(content))
    if not reports:
        raise first_line(content).refuse(EXPECTED)
    for before, after in pairwise(reports):
        if _is_another(before, after):
            raise NotThisFormat(after.line, "", "another run begins here: send the output of each by itself")
    last = reports[-1]
    parameters, ramp = options.of(last.tree)
    runtime = last.runtime("read", "write", "trim", "mixed")
    reason = _reason(last)
    clock, series = _series(reports, ramp) if len(reports) > 1 else ((), {})
    read = None if reason else _FioValues(content, last)
    messages = Counter(MESSAGE.findall(content[: last.start]))
    events = [
        ToolMessage("error" if b"error" in text else "warning", text.decode("utf-8", "backslashreplace"), 0.0, n)
        for text, n in messages.most_common(MOST_MESSAGES)
    ]
    return ParsedOutput(
        version=str(last.tree["fio version"]).removeprefix("fio-")[:60],
        reason=reason,
        threads=_jobs(last),
        values=tuple(read.values) if read else (),
        clock=clock,
        series=series,
        events=(*events, *(ToolMessage("warning", text, 0.0) for text in (read.left_out if read else ()))),
        measured=(ramp, ramp + runtime / 1000) if runtime else None,
        distributions=tuple(read.distributions) if read else (),
        parameters=parameters,
    )


# ---------------------------------------------------------------- documents


def _reports(content: bytes) -> Iterator[_FioReport]:
    """The documents, each beginning a line. latin-1: a character for each byte."""
    text = content.decode("latin-1")
    place, line, counted = 0, 1, 0
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    for _ in range(MOST_DOCUMENTS):
        found = re.compile(r"^[ \t]*(?=\{)", re.MULTILINE).search(text, place)
        if found is None:
            return
        start = found.end()
        line, counted = line + content.count(b"\n", counted, start), start
        try:
            tree, end = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            at = 1 + content.count(b"\n", 0, error.pos)
            raise NotThisFormat(at, _line(content, error.pos), f"{EXPECTED}; {error.msg}") from error
        except (ValueError, RecursionError) as error:
            raise NotThisFormat(line, _line(content, start), f"{EXPECTED}; {error}") from error
        _require_shape(tree, line, _line(content, start))
        yield _FioReport(start, end, line, tree)
        place = end


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")


def _line(content: bytes, place: int) -> str:
    start = content.rfind(b"\n", 0, place) + 1
    return shown(content[start : start + 400].partition(b"\n")[0])


def _require_shape(tree: Any, line: int, text: str) -> None:
    if not isinstance(tree, dict) or "fio version" not in tree or not isinstance(tree.get("jobs"), list):
        raise NotThisFormat(line, text, EXPECTED)
    if not str(tree["fio version"]).startswith("fio-3"):
        raise NotThisFormat(line, f"{tree['fio version']!s:.60}", "the JSON of fio 3")
    if not tree["jobs"]:
        raise NotThisFormat(line, "", "a job in “jobs”: this has none")
    groups = set()
    for job in tree["jobs"]:
        if not isinstance(job, dict) or not isinstance(job.get("job options", {}), dict):
            raise NotThisFormat(line, text, f"{EXPECTED}: each of “jobs” an object")
        for name in ("read", "write", "trim", "mixed", "sync"):
            part = job.get(name, {})
            counts = (
                [part.get(key, 0) for key in ("total_ios", "io_bytes", "runtime")] if isinstance(part, dict) else []
            )
            if not counts or not all(map(is_count, counts)):
                raise NotThisFormat(line, name, "whole numbers total_ios, io_bytes and runtime of each direction")
        groups.add(str(job.get("groupid", 0)))
    if len(groups) > 1:
        text = "jobs of one group, which run at the same time; stonewall or new_group made several: run each by itself"
        raise NotThisFormat(line, "", text)


def _is_another(before: _FioReport, after: _FioReport) -> bool:
    """Whether a document is of another run, not a later snapshot of --status-interval: it has other jobs, or all its
    time fits between the two."""
    directions = ("read", "write", "trim", "mixed")
    names = [[str(job.get("jobname")) for job in each.jobs] for each in (before, after)]
    stamps = [each.tree.get("timestamp_ms", 0) for each in (before, after)]
    passed = stamps[1] - stamps[0] if all(map(is_count, stamps)) else 0
    first, second = before.runtime(*directions), after.runtime(*directions)
    fewer = any(after.total(each, "total_ios") < before.total(each, "total_ios") for each in directions)
    same = before.tree == after.tree
    return names[0] != names[1] or fewer or same or second < first or (first > 0 and second <= passed)


def _part(job: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = job.get(name)
    return found if isinstance(found, dict) else {}


def _reason(report: _FioReport) -> str:
    failed = []
    for job in report.jobs:
        code = job.get("error", 0)
        if code:
            name = errno.errorcode.get(code, "") if is_count(code) else ""
            failed.append(f"job {job.get('jobname', '')!s:.60}: error {code!s:.20}{f' ({name})' if name else ''}")
    if failed:
        return f"fio: {'; '.join(failed[:5])}"
    done = sum(report.total(each, "total_ios") for each in ("read", "write", "mixed"))
    return "" if done else "fio read and wrote nothing"


def _jobs(report: _FioReport) -> int | None:
    """The number of jobs; None: of a group it is not stated. A group's `job_runtime` is the sum over its jobs."""
    if len(report.jobs) > 1:
        return len(report.jobs)
    (job,) = report.jobs
    stated = options.numjobs(report.tree)
    total, longest = job.get("job_runtime"), report.runtime("read", "write", "trim", "mixed")
    if stated is None or not is_count(total) or longest < 100:
        return stated
    return stated if round(total / longest) in (stated, 0) else None


# ---------------------------------------------------------------- values


class _FioValues:
    """Reads the values of one document. `left_out`: what was not read, and why."""

    def __init__(self, content: bytes, report: _FioReport) -> None:
        self._content, self._report = content, report
        self._places = number_places(content, report.start, report.end)
        self.values: list[ParsedValue] = []
        self.distributions: list[ParsedDistribution] = []
        self.left_out: list[str] = []
        self._read()

    def _read(self) -> None:
        report, rates = self._report, []
        for direction, (requests, mib, latency) in DIRECTIONS.items():
            if report.total(direction, "total_ios"):
                rates.append(self._rate(direction, requests, "total_ios", "iops"))
                self.values += [rates[-1], self._rate(direction, mib, "io_bytes", "bw_bytes", per=MIB)]
                self._latencies(direction, "clat_ns", latency)
        if report.total("mixed", "total_ios"):
            rates.append(self._rate("mixed", REQUESTS, "total_ios", "iops"))
            self.left_out.append("reads and writes are one (unified_rw_reporting=mixed): only their requests are read")
        if report.total("trim", "total_ios"):
            self.left_out.append("trims are not read")
        runtime = report.runtime("read", "write", "mixed")
        if report.total("sync", "total_ios"):
            done = report.total("sync", "total_ios") / (max(runtime, 1) / 1000)
            self.values.append(ParsedValue(SYNC[0], done, *self._span(("sync",), "total_ios")))
            self._latencies("sync", "lat_ns", SYNC[1])
        start, end = min(each.start for each in rates), max(each.end for each in rates)
        self.values.append(ParsedValue(REQUESTS, round(math.fsum(each.value for each in rates), 6), start, end))
        span = self._span(("read", "write", "mixed"), "runtime")
        self.values.append(ParsedValue("client.elapsed", runtime / 1000, *span))

    def _value(self, metric: str, *path: str | int, per: int = 1) -> ParsedValue | None:
        place = self._places.get(path)
        if place is None:
            return None
        number = scaled(self._content[place.start : place.end], per)
        if not math.isfinite(number) or number < 0:
            raise NotThisFormat(self._report.line, ".".join(map(str, path)), "a number from 0")
        return ParsedValue(metric, number, place.start, place.end)

    def _span(self, directions: Sequence[str], name: str) -> tuple[int, int]:
        """The bytes from the first of these numbers to the last."""
        found = [
            value
            for number in range(len(self._report.jobs))
            for each in directions
            if (value := self._value("", "jobs", number, each, name)) is not None
        ]
        if not found:
            raise NotThisFormat(self._report.line, name, f"a number {name} of each direction with requests")
        return min(value.start for value in found), max(value.end for value in found)

    def _rate(self, direction: str, metric: str, name: str, printed: str, *, per: int = 1) -> ParsedValue:
        """As fio prints it for one job or group; else the sum over the longest runtime."""
        if len(self._report.jobs) == 1:
            value = self._value(metric, "jobs", 0, direction, printed, per=per)
            if value is not None:
                return value
        seconds = max(self._report.runtime(direction), 1) / 1000
        total = self._report.total(direction, name)
        return ParsedValue(metric, total / per / seconds, *self._span((direction,), name))

    def _latencies(self, direction: str, kind: str, metric: str) -> None:
        """Mean, extremes and percentiles of the jobs that have any."""
        for job in self._report.jobs:
            _require_latency(_part(job, direction), kind, f"{direction}.{kind}", self._report.line)
        every = {number: _count(_part(job, direction), kind) for number, job in enumerate(self._report.jobs)}
        parts = {number: count for number, count in every.items() if count}
        if not parts:
            return
        read = {
            name: [
                value
                for number in parts
                if (value := self._value("", "jobs", number, direction, kind, name, per=NS_PER_MS)) is not None
            ]
            for name in STATISTICS
        }
        counts = list(parts.values())
        if any(len(found) < len(parts) for found in read.values()) or not all(map(is_count, counts)):
            raise NotThisFormat(self._report.line, f"{direction}.{kind}", "numbers N, mean, min, max and stddev")
        start = min(value.start for found in read.values() for value in found)
        end = max(value.end for found in read.values() for value in found)
        printed = [_part(_part(self._report.jobs[number], direction), kind).get("bins") for number in parts]
        bins = _bins(printed, counts, self._report.line)
        if bins is not None:
            self.distributions.append(ParsedDistribution(metric, bins, start, end))
        if len(parts) == 1:
            (number,) = parts
            values = {STATISTICS[name]: found[0] for name, found in read.items()}
            percentiles = {
                name: value
                for key, name in PERCENTILES.items()
                if (value := self._value("", "jobs", number, direction, kind, "percentile", key, per=NS_PER_MS))
            }
            if not percentiles:
                self.left_out.append(f"{direction}: fio printed no percentiles of the completion latency")
            found = {**values, **percentiles}
            self.values += [ParsedValue(f"{metric}.{name}", v.value, v.start, v.end) for name, v in found.items()]
            return
        mean = math.fsum(value.value * n for value, n in zip(read["mean"], counts, strict=True)) / sum(counts)
        merged = {"avg": mean, "min": min(v.value for v in read["min"]), "max": max(v.value for v in read["max"])}
        if bins is not None:
            merged |= {name: _percentile(bins, float(key)) for key, name in PERCENTILES.items()}
        else:
            self.left_out.append(
                f"{direction}: no percentiles of {len(parts)} jobs together, since they cannot be averaged: use "
                "--group_reporting or --output-format=json+"
            )
        self.values += [ParsedValue(f"{metric}.{name}", value, start, end) for name, value in merged.items()]


def _count(part: Mapping[str, Any], kind: str) -> Any:
    """How many latencies there are. Older fio 3 prints no N: then as many as requests, or none where all is 0, as
    without latencies (disable_clat)."""
    found = _part(part, kind)
    if "N" in found:
        return found["N"]
    return part.get("total_ios", 0) if any(found.get(name) for name in OF_ANY) else 0


def _require_latency(part: Mapping[str, Any], kind: str, shown_as: str, line: int) -> None:
    """Raises NotThisFormat where requests have no latency, or it has a name that fio does not print."""
    if not part.get("total_ios", 0):
        return
    names = _part(part, kind).keys()
    odd = [
        *(names - OF_LATENCY),
        *(key for key in _part(_part(part, kind), "percentile") if not PERCENT.fullmatch(key)),
    ]
    if odd or not ("N" in names or names >= OF_ANY):
        raise NotThisFormat(
            line, f"{shown_as}{f', {odd[0]:.40}' if odd else ''}", "N, mean, min, max, stddev, percentile"
        )


def _bins(parts: Sequence[Any], counts: Sequence[int], line: int) -> HistogramCounts | None:
    """The merged bins of json+; None: a job has none, or not all its requests."""
    merged: Counter[int] = Counter()
    for bins, count in zip(parts, counts, strict=True):
        if not isinstance(bins, dict) or not all(BIN.fullmatch(key) and is_count(n) for key, n in bins.items()):
            return None
        if sum(bins.values()) != count:
            return None
        merged.update({int(key): n for key, n in bins.items() if n})
    values = sorted(merged)
    try:
        return HistogramCounts(FIO, FIO.printed(values), tuple(merged[value] for value in values)) if values else None
    except (OffGrid, ValueError) as error:
        raise NotThisFormat(line, "bins", f"bins of fio's grid: {error}") from error


def _percentile(counts: HistogramCounts, percent: float) -> float:
    """By fio's rule: the first bin at which the cumulative count reaches the share."""
    wanted = percent / 100 * counts.count
    place = next(place for place, reached in enumerate(counts.reached) if reached >= wanted)
    return counts.grid.value(counts.buckets[place])


def _series(
    reports: Sequence[_FioReport], ramp: float
) -> tuple[tuple[float, ...], dict[str, tuple[float | None, ...]]]:
    """Rates between the snapshots of --status-interval, whose counts are of the time since the start."""
    rows: list[tuple[float, dict[str, float | None]]] = []
    before: dict[tuple[str, str], int] = {}
    for report in reports:
        row: dict[str, float | None] = {}
        for direction, (requests, mib, _) in DIRECTIONS.items():
            # The last document may follow the last snapshot at once.
            length = (report.runtime(direction) - before.get((direction, "runtime"), 0)) / 1000
            for metric, name, per in ((requests, "total_ios", 1), (mib, "io_bytes", MIB)):
                done = report.total(direction, name)
                row[metric] = (done - before.get((direction, name), 0)) / per / length if length > 0 else None
                before[direction, name] = done
            before[direction, "runtime"] = max(report.runtime(direction), before.get((direction, "runtime"), 0))
        second = round(ramp + report.runtime("read", "write") / 1000, 3)
        if any(value is not None for value in row.values()) and (not rows or second > rows[-1][0]):
            rows.append((second, row))
    metrics = [metric for each in DIRECTIONS.values() for metric in each[:2]]
    series = {metric: tuple(row[metric] for _, row in rows) for metric in metrics}
    return tuple(at for at, _ in rows), {key: found for key, found in series.items() if any(found)}
