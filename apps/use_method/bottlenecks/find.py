"""Bottleneck of a side: the first resource that saturates as load grows, and limits throughput from there on. Pure.

Source: Gregg, Systems Performance, 2nd ed., 2.5.9 (USE method) and 2.6.1 (visual identification of scalability).
"""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Annotated

from apps.core.answers import Hidden, Rounded
from apps.use_method.indicators import Resource
from apps.use_method.panels.repetitions import middle
from apps.use_method.resource_table import INDICATORS, RESOURCES
from apps.use_method.values import Aspect, Panel, Reading, UseLevel

CPU, CLIENT, SHARED = "cpu", "client", "client.shared"
BUSY, SERVER = "cpu.busy", "cpu.server"
# Throughput grows while 1 % more threads bring at least 0.5 % more of it, as at the knee of the scalability fit.
GROWS = 0.5
# This factor of throughput counts as growth regardless of the threads: a resource saturated meanwhile had room left.
ROOM = 2.0
# Background work that may lag without slowing clients: named only if nothing else saturates.
BEHIND = ("replication", "purge")


@dataclass(frozen=True)
class PanelsAtLevel:
    """A side at one load level: `panels` of its repetitions by run, `throughput` one value per run."""

    threads: int
    panels: Mapping[int, Panel]
    throughput: tuple[float, ...] = ()

    @property
    def typical_throughput(self) -> float | None:
        """Geometric mean, as in the table of a comparison; None: unknown, or not above zero."""
        return statistics.geometric_mean(self.throughput) if min(self.throughput, default=0) > 0 else None


class Kind(StrEnum):
    LIMITED = "limited"
    CLIENT = "load generator first"
    NOTHING = "nothing saturated"
    UNSEEN = "not observed"
    UNKNOWN = "not judged"


@dataclass(frozen=True)
class RepetitionShare:
    """Number of a level's repetitions in which a resource is saturated."""

    saturated: Annotated[int, "number of repetitions with the resource saturated"]
    judged: Annotated[int, "number of repetitions judged"]

    @property
    def most(self) -> bool:
        return 2 * self.saturated > self.judged


@dataclass(frozen=True)
class Onset:
    """The level from which on a resource is saturated. `reading`: of a typical repetition of that level; `besides`:
    other saturated readings of the resource there; `before`: the reading at the level below. `early`: a lower level
    with a few saturated repetitions; `relents`: higher levels where most are not."""

    resource: str
    threads: Annotated[int, "level from which on it is saturated in most repetitions"]
    share: RepetitionShare
    reading: Annotated[Reading, "the evidence"]
    besides: Hidden[tuple[Reading, ...]] = ()
    before: Hidden[Reading | None] = None
    before_threads: Hidden[int | None] = None
    nodes: Annotated[tuple[str, ...], "nodes on which it is saturated"] = ()
    others: Annotated[tuple[str, ...], "observed nodes on which it is not saturated"] = ()
    early: Hidden[tuple[int, RepetitionShare] | None] = None
    watched: Annotated[int, "threads from which on it was at least at watch"] = 0
    relents: Hidden[tuple[int, ...]] = ()
    holds: Annotated[
        int | None,
        "threads above which throughput grows less than half as fast as they do; null: it grows to the highest level",
    ] = None
    grew: Annotated[Rounded | None, "throughput at `holds` / throughput at `threads`"] = None

    @property
    def is_client(self) -> bool:
        return BY_KEY[self.resource].layer == CLIENT


@dataclass(frozen=True)
class Bottleneck:
    """The limit of a side. `first`: the named resources, several if at the same level; `onsets`: all resources that
    saturate, in order; `passing`: resources saturated at single levels only, with those levels. `unseen`: resources
    that were not observable. `top`: threads of the highest judged level; `stands`: threads above which throughput
    hardly grows (see `_stands`) although nothing is saturated there or at the next level; `reaches`: the higher level
    with the most throughput, and that throughput over the one at `stands`. `generator`: remark about the load generator
    where the first resource saturates, empty: none; `is_shared`: it takes CPU from the servers."""

    kind: Kind
    first: Annotated[tuple[Onset, ...], "resources named as the limit; several if they saturate at the same level"] = ()
    onsets: Annotated[tuple[Onset, ...], "of all resources that saturate"] = ()
    passing: Hidden[tuple[tuple[str, tuple[int, ...]], ...]] = ()
    unseen: Annotated[tuple[str, ...], "resources that could not be observed"] = ()
    errors: Hidden[tuple[tuple[str, int], ...]] = ()
    top: Hidden[int | None] = None
    levels: Hidden[int] = 0
    stands: Annotated[
        int | None, "threads above which throughput grows less than half as fast as they do, with nothing saturated"
    ] = None
    reaches: Hidden[tuple[int, float] | None] = None
    generator: Hidden[str] = ""
    is_shared: Hidden[bool] = False
    by_others: Annotated[bool, "the CPU that limits it was mostly taken by processes that are not its servers"] = False


BY_KEY: dict[str, Resource] = {resource.key: resource for resource in RESOURCES}


def find(loads: Sequence[PanelsAtLevel]) -> Bottleneck:
    """`loads` by threads; those without a panel contribute throughput only."""
    judged = [load for load in loads if load.panels]
    if not judged:
        return Bottleneck(Kind.UNKNOWN)
    onsets, passing = [], []
    for resource in RESOURCES:
        shares = [share_of(resource.key, load) for load in judged]
        place = _from(shares)
        if place is not None:
            onsets.append(_onset(resource.key, judged, shares, place, _growth(loads, judged[place].threads)))
        elif single := [load.threads for load, share in zip(judged, shares, strict=True) if share.most]:
            passing.append((resource.key, tuple(single)))
    onsets.sort(key=_first)
    first = _named(onsets)
    generator = _generator(judged, first)
    stands = _unexplained(loads, min((onset.threads for onset in onsets), default=None))
    return Bottleneck(
        kind=_kind(judged, first),
        first=first,
        onsets=tuple(onsets),
        passing=tuple(passing),
        unseen=tuple(_unseen(judged)),
        errors=tuple(_errors(judged)),
        top=judged[-1].threads,
        levels=len(judged),
        generator=generator.words if generator else "",
        is_shared=generator is not None and generator.indicator == SHARED,
        by_others=any(_is_taken_by_others(onset, judged) for onset in first if onset.resource == CPU),
        stands=stands,
        reaches=_reaches(loads, stands),
    )


def _kind(loads: Sequence[PanelsAtLevel], first: Sequence[Onset]) -> Kind:
    if first:
        return Kind.CLIENT if first[0].is_client else Kind.LIMITED
    servers = (resource.key for resource in RESOURCES if resource.layer != CLIENT)
    unseen = (None, UseLevel.NOT_OBSERVABLE)
    observed = any(level_of(key, load) not in unseen for key in servers for load in loads)
    return Kind.NOTHING if observed else Kind.UNSEEN


def share_of(resource: str, load: PanelsAtLevel) -> RepetitionShare:
    """Repetitions with the resource saturated on any node."""
    return RepetitionShare(
        sum(bool(list(_saturated(resource, panel))) for panel in load.panels.values()), len(load.panels)
    )


def level_of(resource: str, load: PanelsAtLevel) -> UseLevel | None:
    """Level of the resource's utilization and saturation that more than half of the repetitions reach; None: not
    judged."""
    levels = []
    for panel in load.panels.values():
        own = [one.level for one in _of(resource, panel) if INDICATORS[one.indicator].aspect is not Aspect.ERRORS]
        if own:
            levels.append(max(own, key=lambda level: level.severity))
    seen = sorted((level for level in levels if level is not UseLevel.NOT_OBSERVABLE), key=lambda level: level.severity)
    return seen[middle(len(seen))] if seen else UseLevel.NOT_OBSERVABLE if levels else None


def _of(resource: str, panel: Panel) -> Iterator[Reading]:
    return chain.from_iterable(panel.of(indicator.key) for indicator in BY_KEY[resource].indicators)


def _saturated(resource: str, panel: Panel) -> Iterator[Reading]:
    return (reading for reading in _of(resource, panel) if reading.level is UseLevel.SATURATED)


def _from(shares: Sequence[RepetitionShare]) -> int | None:
    """The place from which on most levels are saturated, including the next one."""
    for place, share in enumerate(shares):
        above = shares[place + 1 :]
        if share.most and (not above or above[0].most) and 2 * sum(each.most for each in above) >= len(above):
            return place
    return None


def _onset(
    resource: str,
    loads: Sequence[PanelsAtLevel],
    shares: Sequence[RepetitionShare],
    place: int,
    growth: tuple[int | None, float | None],
) -> Onset:
    load = loads[place]
    lead, besides = _evidence(resource, load)
    below = loads[place - 1] if place else None
    nodes, others = _nodes(lead.indicator, load)
    early = next(((loads[at].threads, shares[at]) for at in range(place) if shares[at].saturated), None)
    return Onset(
        resource=resource,
        threads=load.threads,
        share=shares[place],
        reading=lead,
        besides=besides,
        before=_middle(
            [one for panel in below.panels.values() for one in panel.of(lead.indicator) if one.node == lead.node]
        )
        if below
        else None,
        before_threads=below.threads if below else None,
        nodes=nodes,
        others=others,
        early=early,
        watched=_watched(resource, loads[: place + 1]),
        holds=growth[0],
        grew=growth[1],
        relents=tuple(loads[at].threads for at in range(place + 1, len(loads)) if not shares[at].most),
    )


def _evidence(resource: str, load: PanelsAtLevel) -> tuple[Reading, tuple[Reading, ...]]:
    """The strongest reading: saturation before utilization, then in the order of the table, on its worst node; and one
    of each other saturated indicator."""
    order = {key: place for place, key in enumerate(INDICATORS)}
    by_place: dict[tuple[str, str], list[Reading]] = {}
    for panel in load.panels.values():
        for one in _saturated(resource, panel):
            by_place.setdefault((one.indicator, one.node), []).append(one)

    def worst_first(item: tuple[tuple[str, str], list[Reading]]) -> tuple[bool, bool, int, float]:
        (key, _), own = item
        median_reading = _middle(own)
        utilization = INDICATORS[key].aspect is Aspect.UTILIZATION
        return (
            2 * len(own) <= len(load.panels),
            utilization,
            order[key],
            -(median_reading.value or 0.0 if median_reading else 0.0),
        )

    found: dict[str, Reading] = {}
    for (key, _), own in sorted(by_place.items(), key=worst_first):
        if (chosen := _middle(own)) is not None:
            found.setdefault(key, chosen)
    lead, *besides = found.values()
    return lead, tuple(besides)


def _middle(readings: Sequence[Reading]) -> Reading | None:
    known = sorted(readings, key=lambda one: one.value if one.value is not None else -math.inf)
    return known[middle(len(known))] if known else None


def _nodes(indicator: str, load: PanelsAtLevel) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Nodes saturated in most repetitions, or in any if there are none; and observed nodes that are not."""
    levels: dict[str, list[UseLevel]] = {}
    for panel in load.panels.values():
        for one in panel.of(indicator):
            if one.level is not UseLevel.NOT_OBSERVABLE:
                levels.setdefault(one.node, []).append(one.level)
    often = {node: sum(level is UseLevel.SATURATED for level in own) for node, own in levels.items()}
    chosen = [node for node, number in often.items() if 2 * number > len(levels[node])]
    chosen = chosen or [node for node, number in often.items() if number]
    return tuple(chosen), tuple(node for node in levels if node not in chosen)


def _watched(resource: str, loads: Sequence[PanelsAtLevel]) -> int:
    """Threads from which on, up to the last of `loads`, the resource is at least at watch."""
    threads = loads[-1].threads
    for load in reversed(loads):
        level = level_of(resource, load)
        if level is None or level.severity < UseLevel.WATCH.severity:
            break
        threads = load.threads
    return threads


def _growth(loads: Sequence[PanelsAtLevel], since: int) -> tuple[int | None, float | None]:
    """`holds` and `grew` of an Onset at `since` threads. Unknown throughput, or of one level, does not grow."""
    known = [(load.threads, rate) for load in loads if (rate := load.typical_throughput) is not None]
    base = next((rate for threads, rate in known if threads == since), None)
    if base is None or len(known) < 2:
        return since, None
    stands = _stands(known, since)
    return stands, next((rate for threads, rate in known if threads == stands), known[-1][1]) / base


def _stands(known: Sequence[tuple[int, float]], since: int = 0) -> int | None:
    """First level, from `since` threads on, above which throughput does not grow as `_grows` demands; for the highest
    level, up to which it does not. None: it grows to the end. `known`: throughput by threads."""
    for place, (threads, rate) in enumerate(known):
        above = known[place + 1 :] or [known[place - 1]]
        if threads >= since and not any(_grows((threads, rate), other) for other in above):
            return threads
    return None


def _grows(one: tuple[int, float], other: tuple[int, float]) -> bool:
    """Whether throughput grows from the lower level to the higher: in proportion to threads, or by ROOM in all."""
    (low, before), (high, after) = sorted((one, other))
    return after / before >= ROOM or math.log(after / before) / math.log(high / low) >= GROWS


def _is_taken_by_others(onset: Onset, loads: Sequence[PanelsAtLevel]) -> bool:
    """Whether all servers together took less than half of the busy time, of a machine that they may share, in most
    repetitions."""
    (load,) = (load for load in loads if load.threads == onset.threads)
    taken = []
    for panel in load.panels.values():
        busy = next((one.value for one in panel.of(BUSY) if one.node == onset.reading.node), None)
        servers = [one.value for one in panel.of(SERVER) if one.value is not None]
        if busy and servers:
            taken.append(2 * sum(servers) < busy)
    return 2 * sum(taken) > len(taken)


def _generator(loads: Sequence[PanelsAtLevel], first: Sequence[Onset]) -> Reading | None:
    for load in loads:
        if first and not any(onset.is_client for onset in first) and load.threads == first[0].threads:
            own = (one for panel in load.panels.values() for one in _of(CLIENT, panel) if one.level is UseLevel.WATCH)
            return next(own, None)
    return None


def _unexplained(loads: Sequence[PanelsAtLevel], first: int | None) -> int | None:
    """`stands` of a Bottleneck; `first`: threads from which on a resource is saturated."""
    known = [(load.threads, rate) for load in loads if (rate := load.typical_throughput) is not None]
    stands = _stands(known) if len(known) > 1 else None
    above = [threads for threads, _ in known if stands is not None and threads > stands]
    # A resource that saturates at the next level explains the stall here.
    return stands if above and (first is None or above[0] < first) else None


def _reaches(loads: Sequence[PanelsAtLevel], stands: int | None) -> tuple[int, float] | None:
    """`reaches` of a Bottleneck."""
    rates = {load.threads: rate for load in loads if (rate := load.typical_throughput) is not None}
    above = [threads for threads in rates if stands is not None and threads > stands]
    if stands is None or not above:
        return None
    best = max(above, key=rates.__getitem__)
    return best, rates[best] / rates[stands]


def _first(onset: Onset) -> tuple[bool, int, int, int]:
    """Sort key: of resources that saturate at the same level, the one at watch from the lowest level first."""
    order = {resource.key: place for place, resource in enumerate(RESOURCES)}
    return onset.resource in BEHIND, onset.threads, onset.watched, order[onset.resource]


def _named(onsets: Sequence[Onset]) -> tuple[Onset, ...]:
    """The first resource that limits throughput from the lowest level on, else the first; with those of the same level,
    unless one was at watch before the others."""
    causes = [onset for onset in onsets if onset.resource not in BEHIND] or list(onsets)
    holding = [onset for onset in causes if onset.holds is not None] or causes
    if not holding:
        return ()
    lowest = min(onset.holds or 0 for onset in holding)
    holding = [onset for onset in holding if (onset.holds or 0) == lowest]
    chosen = next((onset for onset in holding if onset.grew is None or onset.grew < ROOM), holding[0])
    same = [onset for onset in holding if (onset.threads, onset.watched) == (chosen.threads, chosen.watched)]
    # A resource of the system is named before the load generator at the same level.
    return tuple(sorted(same, key=lambda onset: onset.is_client))


def _unseen(loads: Sequence[PanelsAtLevel]) -> Iterator[str]:
    for resource in RESOURCES:
        levels = {level_of(resource.key, load) for load in loads} - {None}
        if levels == {UseLevel.NOT_OBSERVABLE}:
            yield resource.key


def _errors(loads: Sequence[PanelsAtLevel]) -> Iterator[tuple[str, int]]:
    """Resources with errors in most repetitions of a level, with the lowest such level."""
    for resource in RESOURCES:
        for load in loads:
            hit = sum(
                any(one.level is UseLevel.ERROR for one in _of(resource.key, panel)) for panel in load.panels.values()
            )
            if 2 * hit > len(load.panels):
                yield resource.key, load.threads
                break
