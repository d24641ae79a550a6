"""Parsers of BenchBase: summary.json, the windows of results.csv and samples.csv, histograms.json. Pure.

Units of latencies are read from their headings (microseconds in JSON and samples.csv, milliseconds in results.csv);
a heading without a known unit is refused. Throughput counts all measured requests, aborted ones included; goodput
only successful ones.
"""

import math
import re
from itertools import pairwise
from typing import Any

from apps.runs.tool_output.parsers.parsed_output import (
    NotThisFormat,
    OutputTable,
    ParsedOutput,
    ParsedValue,
    TableColumn,
    TextLine,
    is_count,
    lines,
    load_json,
    scaled,
)

VERSION = "2"
SUMMARY_EXPECTED = "BenchBase's summary.json, an object with “Throughput (requests/second)” and “Latency Distribution”"
CSV_EXPECTED = "the header of BenchBase's results.csv or samples.csv, “Time (seconds),…”"
HISTOGRAMS_EXPECTED = "BenchBase's histograms.json, an object with “completed”, “aborted”, “rejected” and “unexpected”"
# Units per ms.
PER_MS = {
    "microsecond": 1000,
    "microseconds": 1000,
    "millisecond": 1,
    "milliseconds": 1,
    "nanosecond": 10**6,
    "nanoseconds": 10**6,
}
LATENCY = re.compile(r"(?P<what>.+) Latency \((?P<unit>[a-zA-Z]+)\)")
STATISTICS = {"Minimum": "min", "Average": "avg", "Median": "p50", "Maximum": "max"}
PERCENTILE = re.compile(r"(?P<n>\d+)(?:st|nd|rd|th) Percentile")
NUMBER = rb'"?(?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"?'
THROUGHPUT, GOODPUT = "Throughput (requests/second)", "Goodput (requests/second)"
ENDED = ("EXIT", "DONE")


def parse_summary(content: bytes) -> ParsedOutput:
    """Parses summary.json. Raises NotThisFormat."""
    document = load_json(content, SUMMARY_EXPECTED)
    latencies = document.get("Latency Distribution") if isinstance(document, dict) else None
    if not isinstance(latencies, dict) or THROUGHPUT not in document:
        raise NotThisFormat(1, "", SUMMARY_EXPECTED)
    values = [_value(content, document, THROUGHPUT, "client.throughput")]
    if GOODPUT in document:
        values.append(_value(content, document, GOODPUT, "client.goodput"))
    if "Measured Requests" in document:
        values.append(_value(content, document, "Measured Requests", "client.transactions"))
    measured = None
    if "Elapsed Time (nanoseconds)" in document:
        elapsed = _value(content, document, "Elapsed Time (nanoseconds)", "client.elapsed", per=10**9)
        values.append(elapsed)
        # Without warm-up: only the measured phase is counted and timed.
        measured = (0.0, elapsed.value)
    for heading in latencies:
        key, per = _latency(heading, NotThisFormat(_line_of(content, heading), heading, "“… Latency (unit)”"))
        value = _value(content, latencies, heading, key, per=per)
        # −1: no request.
        if value.value >= 0:
            values.append(value)
    state = document.get("Final State")
    return ParsedOutput(
        reason="" if state in (None, *ENDED) else f"BenchBase ended in state {state!s:.40}",
        threads=_terminals(content, document),
        values=tuple(values),
        unparsed=tuple(f"{name}: {value!s:.80}" for name, value in document.items() if name not in KNOWN),
        measured=measured,
    )


KNOWN = {
    *(THROUGHPUT, GOODPUT, "Latency Distribution", "Measured Requests", "Elapsed Time (nanoseconds)", "Final State"),
    *("Start timestamp (milliseconds)", "Current Timestamp (milliseconds)", "DBMS Type", "DBMS Version"),
    *("Benchmark Type", "isolation", "scalefactor", "terminals"),
}


def _terminals(content: bytes, document: dict[str, Any]) -> int | None:
    stated = document.get("terminals")
    if stated is None:
        return None
    if not re.fullmatch(r"\d{1,6}", str(stated)):
        raise NotThisFormat(_line_of(content, "terminals"), f"terminals: {stated!s:.60}", "a whole number of terminals")
    return int(stated)


def _latency(heading: str, refusal: NotThisFormat) -> tuple[str, int]:
    """The metric, and its units per ms. Raises `refusal`."""
    found = LATENCY.fullmatch(heading)
    per = PER_MS.get(found["unit"].lower()) if found else None
    if found is None or per is None:
        raise refusal
    percentile = PERCENTILE.fullmatch(found["what"])
    name = f"p{percentile['n']}" if percentile else STATISTICS.get(found["what"])
    if name is None:
        raise refusal
    return f"client.latency.{name}", per


def _value(content: bytes, holder: dict[str, Any], key: str, metric: str, *, per: int = 1) -> ParsedValue:
    """The number after `"key":`, located in the bytes. Raises NotThisFormat."""
    found = list(re.finditer(re.escape(f'"{key}"'.encode()) + rb"\s*:\s*" + NUMBER, content))
    value = holder[key]
    if len(found) != 1 or isinstance(value, bool) or not isinstance(value, int | float | str):
        raise NotThisFormat(_line_of(content, key), f"{key}: {value!s:.60}", "one number")
    number = scaled(found[0]["number"], per)
    if not math.isfinite(number):
        raise NotThisFormat(_line_of(content, key), f"{key}: {value!s:.60}", "a finite number")
    return ParsedValue(metric, number, found[0].start("number"), found[0].end("number"))


def _line_of(content: bytes, key: str) -> int:
    return content.count(b"\n", 0, max(content.find(f'"{key}"'.encode()), 0)) + 1


# ---------------------------------------------------------------- windows

DECIMALS = (THROUGHPUT, "tp (req/s) scaled")
CELL = re.compile(rb"-?\d{1,18}(?:\.\d{1,12})?|NaN|-?Infinity")  # as Java prints them


def parse_csv(content: bytes) -> ParsedOutput:
    """Parses results.csv or samples.csv: one row per time window, labelled by its start. Raises NotThisFormat."""
    columns: dict[str, tuple[int, int]] = {}
    names, rows = list[str](), list[tuple[TextLine, list[bytes]]]()
    for line in lines(content):
        if not line.text.strip():
            continue
        if not columns:
            columns, names = _columns(line)
            continue
        if not line.ended:
            break  # cut off
        cells = _cells(line, names)
        if not all(CELL.fullmatch(cell) for cell in cells):
            raise line.refuse(f"{len(names)} numbers, as the header has columns")
        if rows and scaled(cells[0]) <= scaled(rows[-1][1][0]):
            raise line.refuse(f"a time after {rows[-1][1][0].decode()} s")
        rows.append((line, cells))
    if not columns:
        raise NotThisFormat(1, "", f"the file is empty; expected {CSV_EXPECTED}")
    return _windows(columns, rows, cut=not content.endswith(b"\n"))


def _cells(line: TextLine, names: list[str]) -> list[bytes]:
    """One of each column. With decimal commas, of a JVM in such a locale, those that have decimals are two: BenchBase
    prints three of them, and whole numbers of the others. Raises NotThisFormat."""
    cells = line.text.split(b",")
    if len(cells) == len(names):
        return cells
    rest, found = iter(cells), []
    for name in names:
        cell = next(rest, b"")
        if cell.lstrip(b"-").isdigit() and (name.endswith("(millisecond)") or name in DECIMALS):
            decimals = next(rest, b"")
            if not re.fullmatch(rb"\d{3}", decimals):
                break
            cell += b"." + decimals
        elif b"." in cell:
            break
        found.append(cell)
    if len(found) != len(names) or next(rest, None) is not None:
        raise line.refuse(f"{len(names)} numbers, as the header has columns")
    return found


def _columns(line: TextLine) -> tuple[dict[str, tuple[int, int]], list[str]]:
    """Metric -> (column, column's units per unit of the metric); and the names of the columns."""
    names = [name.strip() for name in line.text.decode("utf-8", "backslashreplace").split(",")]
    if names[0] != "Time (seconds)" or THROUGHPUT not in names or len(set(names)) < len(names):
        raise line.refuse(CSV_EXPECTED)
    found = {"client.throughput": (names.index(THROUGHPUT), 1)}
    for place, name in enumerate(names):
        if "Latency" in name:
            key, per = _latency(name, line.refuse(f"a known unit in the heading {name!r:.60}"))
            found[key] = (place, per)
        elif name not in ("Time (seconds)", "Requests", *DECIMALS):
            raise line.refuse(f"no column {name!r:.60}: its meaning is not known here")
    if "Requests" in names:
        found["client.transactions"] = (names.index("Requests"), 1)
    return found, names


def _windows(
    columns: dict[str, tuple[int, int]], rows: list[tuple[TextLine, list[bytes]]], *, cut: bool
) -> ParsedOutput:
    starts = [scaled(cells[0]) for _, cells in rows]
    lengths = {b - a for a, b in pairwise(starts)}
    if len(lengths) > 1:
        raise rows[-1][0].refuse("windows of one length")
    if not lengths or cut:
        return ParsedOutput(
            reason="the file is cut off" if cut else "two windows or more are needed to know their length"
        )
    (length,) = lengths
    place, _ = columns["client.throughput"]
    # BenchBase divides by the length of a window, however short the last is, in which the run ended.
    whole = rows[:-1]
    first, last = whole[0][0].start, whole[-1][0].start + len(whole[-1][0].text)
    rate = math.fsum(scaled(cells[place]) for _, cells in whole) / len(whole)
    values = [ParsedValue("client.throughput", rate, first, last)]
    total = columns.get("client.transactions")
    if total is not None:
        done = math.fsum(scaled(cells[total[0]]) for _, cells in whole)
        values.append(ParsedValue("client.transactions", done, first, last))
    series = {
        metric: tuple(_sample(cells[place], per) for _, cells in rows)
        for metric, (place, per) in columns.items()
        if metric != "client.transactions"
    }
    *rates, tail = series["client.throughput"]
    return ParsedOutput(
        values=tuple(values),
        # Windows are labelled by their start, samples by the end of their interval.
        clock=tuple(start - starts[0] + length for start in starts),
        series={**series, "client.throughput": (*rates, None)},
        tail={"client.throughput": tail},
        measured=(0.0, length * len(whole)),
    )


def _sample(cell: bytes, per: int) -> float | None:
    """A cell's value; None: −1, NaN or infinite, in a window without requests."""
    if not cell[:1].isdigit():
        return None
    return scaled(cell, per)


# ---------------------------------------------------------------- transactions by type and outcome

OUTCOMES = ("completed", "aborted", "rejected", "unexpected")


def parse_histograms(content: bytes) -> OutputTable:
    """Parses histograms.json: transactions by type and outcome. Raises NotThisFormat."""
    document = load_json(content, HISTOGRAMS_EXPECTED)
    if not isinstance(document, dict) or not all(isinstance(document.get(name), dict) for name in OUTCOMES):
        raise NotThisFormat(1, "", HISTOGRAMS_EXPECTED)
    counts: dict[str, dict[str, float]] = {}
    for outcome in OUTCOMES:
        held = document[outcome].get("HISTOGRAM", {})
        if not isinstance(held, dict):
            raise NotThisFormat(_line_of(content, outcome), outcome, "a HISTOGRAM of counts by transaction")
        for name, count in held.items():
            if not is_count(count):
                raise NotThisFormat(_line_of(content, name), f"{name}: {count!s:.60}", "a whole number")
            # Names are such as “com.oltpbenchmark…procedures.NewOrder/01”.
            plain = name.rpartition("/")[0] or name
            counts.setdefault(plain.rpartition(".")[2][:80], {})[outcome] = float(count)
    ordered = sorted(counts.items(), key=lambda entry: -sum(entry[1].values()))
    rows: list[tuple[str | float | None, ...]] = []
    for name, found in ordered:
        rows.append((name, *(found.get(outcome, 0.0) for outcome in OUTCOMES)))
    columns = (TableColumn("transaction"), *(TableColumn(outcome) for outcome in OUTCOMES))
    return OutputTable("Transactions by outcome", columns, tuple(rows), len(rows))
