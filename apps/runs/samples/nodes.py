"""What a run's nodes were: the sources sampled of each, and the roles of its servers, second by second. Pure.

Roles are worked out from what each server said of itself and from who executed writes.
A server writes in a second in which it accepts writes and executes a share of those that clients sent; else it is a
replica (it applies another's), a reader (a member of a cluster that executes none), joining (not in sync with its
cluster), or it was not observed. While nobody writes, roles stay. A MySQL group names its primary: that is the writer,
unless several members are.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from apps.runs.samples.columns import CLIENT, SampledNode
from workers.protocol.wire import EventMessage

# The database server's sources differ in the second word of their keys.
SERVER = "mysql"
KIND = "role"
WRITER, REPLICA, READER, JOINING, UNOBSERVED = "writer", "replica", "reader", "joining", "not observed"
STATUS = "mysql.status."
UPTIMES = (f"{STATUS}Uptime", "postgresql.uptime")
WRITES = tuple(f"{STATUS}Com_{verb}" for verb in ("insert", "update", "delete", "replace"))
SAMPLING, SENT = "agent.statements", f"{STATUS}wsrep_replicated"
READ_ONLY = "mysql.replication.read_only"
# Of each of its connections or channels, but for those of a group.
RECEIVES = re.compile(r"mysql\.replication\.(?:(?!group_replication_)[^.]+\.)?io_running")
STATE, PRIMARY, ALIVE = f"{STATUS}wsrep_local_state", f"{STATUS}wsrep_cluster_status", f"{STATUS}Questions"
SYNCED = 4
OLDEST = 100 * 366 * 86_400.0  # s: no server runs longer
GROUP = "mysql.group."
MEMBER, ELECTED, PROPOSED = f"{GROUP}state", f"{GROUP}primary", f"{GROUP}proposed"
ONLINE = 4
LEAST_SHARE, LEAST_WRITES = 0.1, 0.5  # of all writes; 1/s
# A role that lasts for fewer seconds is a lull or the turn of one into another.
SHORTEST = 2
# s between first and last sample; a longer run, or one with a time from far away, has no roles by the second.
LONGEST = 2 * 86_400.0
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RoleSpan:
    """`node` was `role` from `start` to `end`, s on the run's clock; `share`: of the writes executed meanwhile."""

    node: str
    role: str
    start: float
    end: float
    share: float

    def event(self) -> EventMessage:
        wrote = f", {100 * self.share:.0f} % of the writes" if self.role == WRITER else ""
        return EventMessage(
            kind=KIND,
            # Two events of a moment differ by their labels.
            label=f"{self.node} is {_article(self.role)}{wrote}",
            starts_at=round(self.start, 6),
            ends_at=round(self.end, 6),
            node=self.node,
            detail={"role": self.role, "share": round(self.share, 3)},
        )


def server_start(nodes: Iterable[SampledNode]) -> float | None:
    """The last start of any server before its first sample, s on the run's clock (before 0), by what it says of itself;
    None: no server does."""
    found = []
    for node in nodes:
        column = next((each for key in UPTIMES if (each := node.column(key)) is not None), None)
        seen = np.flatnonzero(column.observed) if column is not None else np.zeros(0, np.int64)
        if column is not None and len(seen) and 0 <= (age := float(column.values[seen[0]])) < OLDEST:
            found.append(float(node.clock[seen[0]]) - age)
    return max(found, default=None)


def role_spans(nodes: Iterable[SampledNode]) -> list[RoleSpan]:
    """Of runs with several servers; empty for others. By node, then time."""
    servers = [node for node in nodes if node.column(ALIVE) is not None and len(node.clock) > 1]
    if len(servers) < 2:
        return []
    start, end = (min(float(node.clock[0]) for node in servers), max(float(node.clock[-1]) for node in servers))
    if end - start > LONGEST:
        return []
    seconds = np.arange(start, end + 1.0)
    rates = [_writes(node, seconds) for node in servers]
    total = np.nansum(rates, axis=0)
    elected = np.array([_held(node, ELECTED, seconds) == 1 for node in servers], np.float64)
    found: list[RoleSpan] = []
    for node, own in zip(servers, rates, strict=True):
        share = np.divide(np.nan_to_num(own), total, out=np.zeros_like(total), where=total > 0)
        roles = _without_short(_filled(_roles(node, seconds, own, share, (total, elected.sum(axis=0)))))
        place = 0
        for role, group in groupby(roles):
            length = len(list(group))
            inside = slice(place, place + length)
            done = float(np.nansum(own[inside])) / max(float(total[inside].sum()), 1e-9)
            end = min(float(seconds[place + length - 1]) + 1.0, float(seconds[-1]))
            found.append(RoleSpan(node.name, role, float(seconds[place]), end, min(done, 1.0)))
            place += length
    return found


def _roles(node: SampledNode, seconds: Floats, own: Floats, share: Floats, servers: Sequence[Floats]) -> list[str]:
    """`servers`: what all execute, and how many are primaries. A role is empty while nobody wrote, so that the server
    may be the writer or not."""
    total, primaries = servers
    alive, read_only, elected = (_held(node, key, seconds) for key in (ALIVE, READ_ONLY, ELECTED))
    receives, away = _has_source(node, seconds), _away(node, seconds)
    found: list[str] = []
    for place in range(len(seconds)):
        if np.isnan(alive[place]):
            found.append(UNOBSERVED)
        elif away[place]:
            found.append(JOINING)
        elif elected[place] == 0 or (elected[place] == 1 and primaries[place] == 1):
            found.append(WRITER if elected[place] else READER)
        elif read_only[place] != 1 and share[place] >= LEAST_SHARE and own[place] >= LEAST_WRITES:
            found.append(WRITER)
        elif receives[place]:
            found.append(REPLICA)
        else:
            found.append(READER if total[place] >= LEAST_WRITES else "")
    return found


def _has_source(node: SampledNode, seconds: Floats) -> NDArray[np.bool_]:
    found = np.zeros(len(seconds), np.bool_)
    for key in filter(RECEIVES.fullmatch, (*node.changing, *node.constants)):
        found |= ~np.isnan(_held(node, key, seconds))
    return found


def _away(node: SampledNode, seconds: Floats) -> NDArray[np.bool_]:
    """Whether it is outside its cluster or group; of neither, never."""
    state, primary, member = (_held(node, key, seconds) for key in (STATE, PRIMARY, MEMBER))
    outside: NDArray[np.bool_] = ~np.isnan(member) & (member != ONLINE)
    return outside if np.isnan(state).all() else outside | (state != SYNCED) | (primary == 0)


def _filled(roles: Sequence[str]) -> list[str]:
    """Seconds in which nobody wrote get the role before them, or else the first after them."""
    known = next((role for role in roles if role in (WRITER, READER)), READER)
    found = []
    for role in roles:
        known = role if role in (WRITER, READER) else known
        found.append(role or known)
    return found


def _writes(node: SampledNode, seconds: Floats) -> Floats:
    """Writing statements/s of clients in the second from each of `seconds` on; NaN: not observed.

    Of a Galera node the writesets that it sent: what it applies for others is counted among its writes too, and who
    polls it among its statements. Of a group's member the transactions that it proposed. Of others, writes beyond the
    statements of their clients are applied ones.
    """
    for sent in (SENT, PROPOSED):
        if node.column(sent) is not None:
            return _rates(node, (sent,), seconds)
    writes = _rates(node, WRITES, seconds)
    asked = _rates(node, (ALIVE,), seconds) - np.nan_to_num(_rates(node, (SAMPLING,), seconds))
    return np.minimum(writes, np.clip(asked, 0, None))


def _rates(node: SampledNode, keys: Sequence[str], seconds: Floats) -> Floats:
    """Sum of the counters' rates, 1/s."""
    columns = [column for key in keys if (column := node.column(key)) is not None]
    if not columns:
        return np.zeros(len(seconds))
    seen = np.logical_and.reduce([column.observed for column in columns])
    at, counts = node.clock[seen], np.sum([column.as_float()[seen] for column in columns], axis=0)
    if len(at) < 2:
        return np.full(len(seconds), np.nan)
    # A server that was restarted counts from zero again.
    rates = np.clip(np.diff(counts), 0, None) / np.diff(at)
    places = np.searchsorted(at, seconds + 0.5) - 1
    known = (places >= 0) & (places < len(rates))
    return np.where(known, rates[np.clip(places, 0, len(rates) - 1)], np.nan)


def _held(node: SampledNode, key: str, seconds: Floats) -> Floats:
    """The sample nearest to each of `seconds`, at most a second away; NaN: none, or not observed."""
    column = node.column(key)
    if column is None:
        return np.full(len(seconds), np.nan)
    places = np.clip(np.searchsorted(node.clock, seconds), 1, len(node.clock) - 1)
    places -= seconds - node.clock[places - 1] < node.clock[places] - seconds
    values = np.where(column.observed, column.as_float(), np.nan)[places]
    return np.where(np.abs(node.clock[places] - seconds) <= 1.0, values, np.nan)


def _without_short(roles: Sequence[str]) -> list[str]:
    """A role of fewer than SHORTEST seconds becomes that before it."""
    found: list[str] = []
    for role, group in groupby(roles):
        length = len(list(group))
        found += [found[-1] if found and length < SHORTEST else role] * length
    return found


def _article(role: str) -> str:
    return {WRITER: "the writer", REPLICA: "a replica", READER: "a reader"}.get(role, role)


# ---------------------------------------------------------------- sources


def samplers_of(nodes: Iterable[SampledNode]) -> list[str]:
    """Sorted texts, one per kind of node, for example "writer: host, innodb, process, status, every 1 s".

    The load tool's own output does not count.
    """
    return sorted({text for node in nodes if (text := _of_node(node))})


def _of_node(node: SampledNode) -> str:
    sources = {_source(key) for key in (*node.changing, *node.constants)} - {CLIENT}
    if not sources:
        return ""
    every = f", every {_seconds(node)}" if len(node.clock) > 1 else ""
    return f"{node.role or node.name}: {', '.join(sorted(sources))}{every}"


def _source(key: str) -> str:
    first, _, rest = key.partition(".")
    return rest.partition(".")[0] if first == SERVER else first


def _seconds(node: SampledNode) -> str:
    """The median sampling interval: in whole seconds from 1 s, since no clock is exact."""
    step = float(np.median(np.diff(node.clock)))
    return f"{step:.0f} s" if step >= 0.95 else f"{step:.1g} s"
