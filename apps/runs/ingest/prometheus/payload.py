"""The file of series that `splashboard attach` and the agent send: decoded and checked. Pure.

Lines of JSON, compressed by gzip. The first describes the file; then come clocks, which series share, and series:

    {"splashboard": "prometheus series", "version": 1, "source": "http://prometheus:9090"}
    {"clock": 0, "at": [1767225600.123, …]}                                s since 1970, ascending
    {"node": "db1", "labels": {"__name__": "node_load1"}, "clock": 0, "values": [1, 1.5, …]}
    {"node": "db1", "labels": {…}, "clock": 0, "value": 8, "type": "gauge"}     one that never changed

`node` is left out where a run has only one. `type` is Prometheus' own, where its metadata state one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec
import numpy as np
from numpy.typing import NDArray

from apps.core import limits
from apps.runs.samples.columns import NAME_LIMIT
from workers.protocol import wire

FORMAT, VERSION = "prometheus series", 1
METRIC_NAME = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")
MOST_LABELS = 100
LONGEST_LABEL = 2_000  # characters
Floats = NDArray[np.float64]


class BadPayload(ValueError):
    """The file cannot be read; the text names the line and the reason."""


@dataclass(frozen=True)
class SentSeries:
    """`values`: NaN where not observed. `clock`: number of one in SentFile."""

    node: str
    labels: dict[str, str]
    clock: int
    values: Floats
    type: str = ""


@dataclass(frozen=True)
class SentFile:
    """`clocks`: times of samples, s since 1970."""

    source: str
    clocks: dict[int, Floats] = field(default_factory=dict)
    series: list[SentSeries] = field(default_factory=list)


class _HeadLine(msgspec.Struct):
    splashboard: str
    version: int
    source: str = ""


class _SeriesLine(msgspec.Struct, forbid_unknown_fields=True):
    clock: int
    at: list[float] | None = None
    node: str = ""
    labels: dict[str, str] | None = None
    values: list[float | None] | None = None
    value: float | None = None
    type: str = ""


def read(content: bytes) -> SentFile:
    """Raises BadPayload."""
    try:
        head, *lines = wire.read_lines(content, limit=limits.BATCH_TEXT, members=1)
    except wire.BadBatch as error:
        raise BadPayload(str(error).replace("the batch", "the file")) from error
    found = SentFile(_source(head))
    decoder = msgspec.json.Decoder(_SeriesLine)
    room = limits.SERIES_VALUES
    for number, line in enumerate(lines, start=2):
        if not line:
            continue
        try:
            room -= _take(found, decoder.decode(line), room)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
            raise BadPayload(f"line {number}: {error}") from error
    if not found.series:
        raise BadPayload("it holds no series")
    return found


def _source(line: bytes) -> str:
    try:
        head = msgspec.json.decode(line, type=_HeadLine)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadPayload(f"line 1: {error}") from error
    if (head.splashboard, head.version) != (FORMAT, VERSION):
        raise BadPayload(f"line 1: it is {head.splashboard[:40]!r} {head.version}; {FORMAT!r} {VERSION} is read here")
    if "\0" in head.source:
        raise BadPayload("line 1: source contains NUL, which cannot be stored")
    return head.source[:200]


def _take(found: SentFile, line: _SeriesLine, room: int) -> int:
    """Number of values of a series, at most `room`. Raises ValueError."""
    if line.at is not None:
        if line.clock in found.clocks:
            raise ValueError(f"clock {line.clock} is stated twice")
        at = np.array(line.at, np.float64)
        if not len(at) or not np.isfinite(at).all() or (np.diff(at) <= 0).any():
            raise ValueError(f"the times of clock {line.clock} do not rise")
        found.clocks[line.clock] = at
        return 0
    if line.labels is None or line.clock not in found.clocks:
        raise ValueError("a series needs labels, and a clock that is stated before it")
    if len(found.series) >= limits.SERIES:
        raise ValueError(f"a run has at most {limits.SERIES:,} series: send fewer with --match")
    for problem in _problems(line.node, line.labels, line.type):
        raise ValueError(problem)
    length = len(found.clocks[line.clock])
    if length > room:
        raise ValueError(f"a file has at most {limits.SERIES_VALUES:,} values: send fewer with --match or --step")
    if line.values is None:
        values = np.full(length, np.nan if line.value is None else line.value)
    else:
        values = np.array(line.values, np.float64)  # None becomes NaN
    if len(values) != length:
        raise ValueError(f"{len(values)} values for the {length} times of clock {line.clock}")
    values = np.where(np.isfinite(values), values, np.nan)
    found.series.append(SentSeries(line.node, line.labels, line.clock, values, line.type))
    return length


def _problems(node: str, labels: dict[str, str], kind: str) -> Iterator[str]:
    if len(node) > NAME_LIMIT or "\0" in node:
        yield f"a node's name has at most {NAME_LIMIT} characters"
    if not METRIC_NAME.fullmatch(labels.get("__name__", "")):
        yield "labels.__name__ is not the name of a metric"
    if any("\0" in text for pair in labels.items() for text in pair) or "\0" in kind:
        yield "a text contains NUL, which cannot be stored"
    if len(labels) > MOST_LABELS or any(len(text) > LONGEST_LABEL for pair in labels.items() for text in pair):
        yield f"a series has at most {MOST_LABELS} labels of at most {LONGEST_LABEL:,} characters"
    if len(kind) > 20:
        yield "type is none of Prometheus'"
