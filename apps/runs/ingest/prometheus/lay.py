"""Lays series of Prometheus on a run's clock and on its nodes. Pure.

A node has one clock, since formulas combine its series at the same times, but each exporter is read at moments of its
own. Samples of the other exporters are therefore moved by the one time that brings them nearest to the node's clock,
at most half of its interval; a sample that is near to none of its times gets one of its own.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from apps.core import limits
from apps.runs.ingest.prometheus import names
from apps.runs.ingest.prometheus.payload import SentFile, SentSeries
from apps.runs.samples import columns, time_series
from apps.runs.samples.columns import CLIENT, SampledNode
from apps.runs.storage.codec import Column, Number

Floats = NDArray[np.float64]
# s before the run's start and after its end in which the samples next to them are looked for.
AROUND = 120.0
# Integers above are not exact as decimal numbers.
_EXACT = 2.0**53
# Series times times of a node: each exporter's times may be its own.
MOST_VALUES = 2 * limits.SERIES_VALUES
# s. A movement below is not worth a word.
NOTABLE = 0.05


class Misplaced(ValueError):
    """The series cannot be laid on the run. `field`: the invalid one; `remedy`: what to do."""

    def __init__(self, field: str, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.field, self.message, self.remedy = field, message, remedy


@dataclass(frozen=True)
class RunPart:
    """What of a run is needed. `nodes`: name -> role of those that it has or its system is known to have; `sampled`:
    those with samples; `began`: s since 1970; `length`: s."""

    name: str
    began: float
    length: float
    nodes: Mapping[str, str]
    sampled: Sequence[SampledNode] = ()


@dataclass(frozen=True)
class LaidNode:
    """`mapped`: keys of our metrics; `own`: of series that keep their own names; `known`: keys that the node had, whose
    series stay as they were. `interval`: median time between samples, s; `moved`: the most by which samples were
    moved, s."""

    node: SampledNode
    mapped: tuple[str, ...]
    own: tuple[str, ...]
    known: tuple[str, ...]
    interval: float
    moved: float


@dataclass(frozen=True)
class Laid:
    """`kinds`: counter or gauge of series with their own names, where Prometheus states it."""

    nodes: list[LaidNode] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)


def lay(sent: SentFile, run: RunPart) -> Laid:
    """The series of `sent` as nodes of the run, without what it has. Raises Misplaced."""
    clocks = {number: at - run.began for number, at in sent.clocks.items()}
    if not any(((at >= 0) & (at <= run.length)).any() for at in clocks.values()):
        raise Misplaced("file", f"no sample lies in the {run.length:.0f} s of {run.name}", _elsewhere(clocks, run))
    parts = {number: _part(at, run.length) for number, at in clocks.items()}
    by_node = defaultdict[str, list[SentSeries]](list)
    for series in sent.series:
        by_node[_node_of(series, run)].append(series)
    laid = Laid()
    known = {node.name: node for node in run.sampled}
    for name, group in by_node.items():
        here = {number: clocks[number][parts[number]] for number in {series.clock for series in group}}
        there = [replaced for series in group if len((replaced := _cut(series, parts)).values)]
        if there:
            laid.nodes.append(
                _on_node(name, run.nodes.get(name, ""), there, clocks=here, known=known.get(name), kinds=laid.kinds)
            )
    return laid


def _elsewhere(clocks: Mapping[int, Floats], run: RunPart) -> str:
    first, last = min(at[0] for at in clocks.values()), max(at[-1] for at in clocks.values())
    way = f"{-last:.0f} s before its start" if last < 0 else f"{first - run.length:.0f} s after its end"
    return f"the nearest sample is {way}: compare the clocks of both, and the run's started_at"


def _part(at: Floats, length: float) -> slice:
    """From the last sample before the run to the first after it: rates then cover all of it."""
    first = max(int(np.searchsorted(at, 0.0, "right")) - 1, int(np.searchsorted(at, -AROUND)))
    last = min(int(np.searchsorted(at, length)) + 1, int(np.searchsorted(at, length + AROUND, "right")))
    return slice(first, last)


def _cut(series: SentSeries, parts: Mapping[int, slice]) -> SentSeries:
    values = series.values[parts[series.clock]]
    return SentSeries(series.node, series.labels, series.clock, values, series.type)


def _node_of(series: SentSeries, run: RunPart) -> str:
    """Raises Misplaced."""
    servers = [name for name, role in run.nodes.items() if name != CLIENT and role != "agent"]
    if series.node:
        if series.node not in (*run.nodes, CLIENT):
            listed = ", ".join([*servers, CLIENT])
            raise Misplaced("node", f"{run.name} has no node {series.node!r}", f"its nodes are {listed}")
        return series.node
    if len(servers) != 1:
        message = f"{run.name} has {len(servers)} nodes: which one each series is of must be stated"
        raise Misplaced("node", message, f"--node NAME=INSTANCE for each of {', '.join(servers)}")
    return servers[0]


# ---------------------------------------------------------------- one node


def _on_node(
    name: str,
    role: str,
    group: Sequence[SentSeries],
    *,
    clocks: Mapping[int, Floats],
    known: SampledNode | None,
    kinds: dict[str, str],
) -> LaidNode:
    is_sampled = known is not None and len(known.clock) > 1
    base = known.clock if known is not None and is_sampled else _fullest(group, clocks)
    moved = {number: _movement(at, base) for number, at in clocks.items()}
    times = {number: _placed(at - moved[number], base, within=is_sampled) for number, at in clocks.items()}
    clock = np.union1d(base, np.concatenate([at[~np.isnan(at)] for at in times.values()]))
    if len(group) * len(clock) > MOST_VALUES:
        message = f"{len(group):,} series of {name} at {len(clock):,} times are more than {MOST_VALUES:,} values"
        raise Misplaced("file", message, "send fewer with --match or --step")
    rows = [(series, _row(series.values, times[series.clock], clock)) for series in group]
    mapped = _mapped(rows)
    own = _own([(series, row) for series, row in rows if id(series) not in mapped.taken], kinds)
    found = {key: row for key, row in {**mapped.rows, **own}.items() if not np.isnan(row).all()}
    has = set() if known is None else {*known.changing, *known.constants}
    new = {key: row for key, row in found.items() if key not in has}
    return LaidNode(
        node=_with(known, SampledNode(name=name, role=role, clock=clock), new),
        mapped=tuple(sorted(new.keys() & mapped.rows.keys())),
        own=tuple(sorted(new.keys() & own.keys())),
        known=tuple(sorted(has & found.keys())),
        interval=min((time_series.step(at) for at in clocks.values() if len(at) > 1), default=0.0),
        moved=max(map(abs, moved.values()), default=0.0),
    )


def _fullest(group: Sequence[SentSeries], clocks: Mapping[int, Floats]) -> Floats:
    """The clock with the most samples; of equal ones, that of the most series."""
    users = Counter(series.clock for series in group)
    return clocks[max(clocks, key=lambda number: (len(clocks[number]), users[number], -number))]


def _movement(at: Floats, base: Floats) -> float:
    """By how much samples lie after the nearest times of `base`, s: the mean of an angle, as times repeat."""
    if len(base) < 2 or not len(at):
        return 0.0
    step = time_series.step(base)
    angles = 2 * np.pi * (at - base[_nearest(at, base)]) / step
    return float(np.arctan2(np.sin(angles).mean(), np.cos(angles).mean()) * step / (2 * np.pi))


def _placed(at: Floats, base: Floats, *, within: bool) -> Floats:
    """The times of `base` for samples `at`, their own where none is near; NaN: beyond its ends, if it is to stay
    `within` them."""
    if len(base) < 2:
        return at
    nearest = base[_nearest(at, base)]
    near = np.abs(at - nearest) <= time_series.step(base) / 2
    outside = ((at < base[0]) | (at > base[-1])) & within
    return np.where(near, nearest, np.where(outside, np.nan, at))


def _nearest(at: Floats, base: Floats) -> NDArray[np.intp]:
    after = np.clip(np.searchsorted(base, at), 1, len(base) - 1)
    return after - (at - base[after - 1] <= base[after] - at)


def _row(values: Floats, times: Floats, clock: Floats) -> Floats:
    """The values on `clock`; NaN: not observed. Of two at one time, the later."""
    kept = ~np.isnan(times)
    row = np.full(len(clock), np.nan)
    row[np.searchsorted(clock, times[kept])] = values[kept]
    return row


@dataclass(frozen=True)
class _Mapped:
    """`taken`: the series, by identity, that at least one metric is made of."""

    rows: dict[str, Floats] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)


def _mapped(rows: Iterable[tuple[SentSeries, Floats]]) -> _Mapped:
    found = _Mapped()
    sums = defaultdict[str, dict[str, Floats]](dict)
    for series, row in rows:
        part = names.own_key(series.labels)
        for metric in names.mapped(series.labels):
            known: dict[str, Floats] = found.rows if metric.how == names.ONE else sums[metric.key]
            key = metric.key if metric.how == names.ONE else part
            if key in known:
                continue  # a second exporter of the same: under its own name
            known[key] = np.where(np.isnan(row), np.nan, 1.0) if metric.how == names.COUNT else row
            found.taken.add(id(series))
    # A part that is missing at a time makes the sum missing there. Rounded: sums of decimals are not exact.
    found.rows.update({key: _sum(parts.values()) for key, parts in sums.items()})
    return found


def _sum(parts: Iterable[Floats]) -> Floats:
    """What is beyond all numbers is missing."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.round(np.sum(list(parts), axis=0), 6)
    return np.where(np.isfinite(total), total, np.nan)


def _own(rows: Sequence[tuple[SentSeries, Floats]], kinds: dict[str, str]) -> dict[str, Floats]:
    """Series by their own names. Those that differ by their origin alone have that in their names, too."""
    alike = defaultdict[str, list[SentSeries]](list)
    for series, _ in rows:
        alike[names.own_key(series.labels)].append(series)
    more = {key: names.telling([one.labels for one in group]) for key, group in alike.items() if len(group) > 1}
    found: dict[str, Floats] = {}
    for series, row in rows:
        key = names.own_key(series.labels)
        if key in more:
            key = names.own_key(series.labels, more=more[key])
        found.setdefault(key, row)
        if series.type in ("counter", "gauge"):
            kinds[key] = series.type
    return found


def _with(known: SampledNode | None, empty: SampledNode, new: Mapping[str, Floats]) -> SampledNode:
    """The node with the `new` series; those that it had stay as they are."""
    changing: dict[str, Column] = {}
    constants: dict[str, Number] = {}
    for key, row in new.items():
        seen = ~np.isnan(row)
        whole = bool(np.all(row[seen] == np.floor(row[seen])) and np.abs(row[seen]).max() < _EXACT)
        first = row[seen][0]
        # A setting is known also where a scrape is missing.
        if (seen.all() or key.startswith(names.VARIABLES)) and (row[seen] == first).all():
            constants[key] = int(first) if whole else columns.exact_in_json(float(first))
        else:
            values = np.where(seen, row, 0.0)
            changing[key] = Column(values.astype(np.int64) if whole else values, seen)
    added = replace(empty, changing=changing, constants=constants)
    if known is None:
        return added
    if np.array_equal(known.clock, added.clock):
        return replace(known, changing={**known.changing, **changing}, constants={**known.constants, **constants})
    (found,) = columns.joined([known, added])
    return found
