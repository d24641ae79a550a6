"""Reads the series of a time and encodes them as the file that Splashboard takes."""

from __future__ import annotations

import gzip
import json
import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .source import MOST_POINTS, Labels, PrometheusSource, PrometheusTrouble

FORMAT, VERSION = "prometheus series", 1
# Names that are read where no node, so no instance, is given.
USUAL = "node_.+|mysql_.+"
AROUND = 60.0  # s before and after the run: the server keeps the samples next to it
STRETCH = 300.0  # s of one query
SHORTEST = 5.0  # s
MOST_SAMPLES = 20_000_000
EXACT = 2**53


@dataclass(frozen=True)
class NodeTargets:
    """`instances`: each a host, host:port, or selector `{label="value"}`; none: all. `node` empty: the run's only."""

    node: str
    instances: tuple[str, ...] = ()

    def selectors(self, match: str) -> list[str]:
        """`match`: regular expression of names; empty: all, or the usual ones without an instance."""
        names = match or ("" if self.instances else USUAL)
        of_names = [f'__name__=~"{_quoted(names)}"'] if names else []
        if not self.instances:
            return [f"{{{','.join(of_names)}}}"]
        return [f"{{{','.join([*_matchers(one), *of_names])}}}" for one in self.instances]

    def scrapes(self) -> list[str]:
        """Selectors of `up`, of which each scrape writes a sample, whether it succeeded or not."""
        return [f"up{{{','.join(_matchers(one))}}}" for one in self.instances] or ["up"]


@dataclass
class _ScrapedSeries:
    """Samples of one series: times, s since 1970, and values."""

    node: str
    labels: Labels
    times: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("d"))

    def add(self, pairs: Iterable[Sequence[Any]]) -> None:
        """Raises PrometheusTrouble."""
        last = self.times[-1] if self.times else -math.inf
        try:
            for at, text in pairs:
                if last < at < math.inf and (at := round(at, 3)) > last:  # the file has milliseconds
                    value = float(text)
                    last = at
                    self.times.append(at)
                    self.values.append(value)
        except (TypeError, ValueError, OverflowError) as error:
            name = str(self.labels.get("__name__", ""))[:80]
            raise PrometheusTrouble(f"the samples of {name or 'a series'} are not pairs of time and value") from error


@dataclass(frozen=True)
class Collected:
    """`content`: the file. `first`, `last`: of its samples, s since 1970; None: there are none."""

    content: bytes
    series: int
    samples: int
    first: float | None
    last: float | None


def collect(
    source: PrometheusSource,
    targets: Sequence[NodeTargets],
    *,
    begin: float,
    end: float,
    match: str = "",
    step: float | None = None,
    on_progress: Callable[[str], None] = lambda _words: None,
) -> Collected:
    """`begin`, `end`: of the run, s since 1970. `step`: None: the samples as they were scraped; else query_range, each
    `step` s. Raises PrometheusTrouble."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], _ScrapedSeries] = {}
    for target in targets:
        for selector in target.selectors(match):
            for labels, pairs in _stretches(source, selector, begin - AROUND, end + AROUND, step):
                key = target.node, tuple(sorted(labels.items()))
                found.setdefault(key, _ScrapedSeries(target.node, labels)).add(pairs)
            total = sum(len(one.times) for one in found.values())
            if total > MOST_SAMPLES:
                raise PrometheusTrouble(
                    f"over {MOST_SAMPLES:,} samples: read fewer names with match, or fewer times with step", status=422
                )
            on_progress(f"{len(found):,} series, {total:,} samples")
    series = [one for one in found.values() if one.times]
    return Collected(
        content=encode(series, source=source.url, types=source.types() if series else {}),
        series=len(series),
        samples=sum(len(one.times) for one in series),
        first=min((one.times[0] for one in series), default=None),
        last=max((one.times[-1] for one in series), default=None),
    )


def hosts(labels: Iterable[Labels]) -> list[str]:
    """The hosts that series are of: by PMM's label node_name, else by instance without its port."""
    return sorted({one.get("node_name") or re.sub(r":\d+$", "", one.get("instance", "")) for one in labels} - {""})


def encode(series: Sequence[_ScrapedSeries], *, source: str, types: Mapping[str, str]) -> bytes:
    """Lines of JSON, compressed: apps/runs/ingest/prometheus/payload.py reads them."""
    return gzip.compress("\n".join(_lines(series, source, types)).encode(), mtime=0)


def _lines(series: Sequence[_ScrapedSeries], source: str, types: Mapping[str, str]) -> Iterator[str]:
    yield json.dumps({"splashboard": FORMAT, "version": VERSION, "source": source})
    clocks: dict[bytes, int] = {}
    for one in series:
        times = one.times.tobytes()
        if times not in clocks:
            clocks[times] = len(clocks)
            yield _json({"clock": clocks[times], "at": one.times.tolist()})
        line: dict[str, Any] = {"labels": one.labels, "clock": clocks[times]}
        if one.node:
            line["node"] = one.node
        kind = types.get(one.labels.get("__name__", ""))
        if kind:
            line["type"] = kind
        first = one.values[0]
        if all(value == first for value in one.values):
            line["value"] = _number(first)
        else:
            line["values"] = [_number(value) for value in one.values]
        yield _json(line)


def _json(line: Mapping[str, Any]) -> str:
    return json.dumps(line, separators=(",", ":"))


def _number(value: float) -> int | float | None:
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < EXACT else value


def _stretches(
    source: PrometheusSource, selector: str, begin: float, end: float, step: float | None
) -> Iterator[tuple[Labels, Sequence[Any]]]:
    length = STRETCH if step is None else min(max(STRETCH, 300 * step), (MOST_POINTS - 1) * step)
    since = begin
    while since < end:
        until = min(since + length, end)
        try:
            if step is None:
                part = source.samples(selector, begin=since, end=until)
            else:
                part = source.values(selector, begin=since, end=until, step=step)
        except PrometheusTrouble as trouble:
            if trouble.too_many and length > SHORTEST * (step or 1):
                length = length / 2 if step is None else max(math.floor(length / 2 / step), 1) * step
                continue
            raise
        yield from part
        since = until if step is None else since + (math.floor((until - since) / step) + 1) * step


def _matchers(instance: str) -> list[str]:
    """Raises PrometheusTrouble."""
    if instance.startswith("{"):
        if not instance.endswith("}") or not instance[1:-1].strip():
            raise PrometheusTrouble(f'{instance!r} is not a selector: write it as {{label="value"}}', status=400)
        return [instance[1:-1].strip().rstrip(",")]
    if re.search(r":\d+$", instance):
        return [f'instance="{_quoted(instance)}"']
    return [f'instance=~"{_quoted(re.escape(instance))}(:[0-9]+)?"']


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
