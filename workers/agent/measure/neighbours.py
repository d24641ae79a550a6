"""Other processes of a host that took CPU time during a run: neither servers, load tool nor agent."""

import os
from collections import defaultdict
from collections.abc import Collection, Mapping

from workers.agent.measure.clock import RunClock
from workers.agent.measure.recorder import LABEL_LIMIT
from workers.agent.samplers.load_tool import ProcessTime, processes
from workers.protocol.wire import EventMessage

MOST_NAMED = 5
LEAST = 0.01  # CPUs
INIT = 1  # parent of services that have nothing else in common


class Neighbours:
    """Compares the CPU time of all processes between its creation and `event`."""

    def __init__(self, clock: RunClock) -> None:
        self._clock = clock
        self._since = clock.now()
        self._before = processes()

    def event(self, *, node: str, ours: Collection[int]) -> EventMessage | None:
        """`ours`: processes of the run and leaders of their sessions. None: no other took a share worth naming."""
        now, after = self._clock.now(), processes()
        used = taken(self._before, after, ours={os.getpid(), *ours}, seconds=now - self._since)
        most = sorted(used.items(), key=lambda one: -one[1])[:MOST_NAMED]
        named = [(name, cpus) for name, cpus in most if cpus >= LEAST]
        if not named:
            return None
        words = ", ".join(f"{name} {cpus:.2f} CPUs" for name, cpus in named)
        return EventMessage(
            kind="neighbours",
            label=f"other processes of this host: {words}"[:LABEL_LIMIT],
            starts_at=round(self._since, 6),
            ends_at=round(now, 6),
            node=node,
            detail={"cpus": {name: round(cpus, 3) for name, cpus in named}},
        )


def taken(
    before: Mapping[int, ProcessTime], after: Mapping[int, ProcessTime], *, ours: Collection[int], seconds: float
) -> Mapping[str, float]:
    """CPUs that each program other than `ours` kept busy, by name; of a process that ended, what its parent counts."""
    found: dict[str, float] = defaultdict(float)
    earlier = _earlier(before, after)
    for pid, process in after.items():
        if pid in ours or process.parent in ours or process.session in ours:
            continue
        known = before.get(pid) if _goes_on(pid, before, after) else None
        own, ended = (known.own, known.ended) if known else (0.0, 0.0)
        # A parent that does not collect its children's times has less than they had.
        spent = max(process.own - own, 0.0) + max(process.ended - ended - earlier.get(pid, 0.0), 0.0)
        found[process.name] += spent / seconds
    return found


def _goes_on(pid: int, before: Mapping[int, ProcessTime], after: Mapping[int, ProcessTime]) -> bool:
    return pid in before and pid in after and before[pid].started == after[pid].started


def _earlier(before: Mapping[int, ProcessTime], after: Mapping[int, ProcessTime]) -> Mapping[int, float]:
    """CPU seconds before the first look that a process may have collected since, with children that ended.

    Who collected an ended process is not known: its parent, or, once that has ended too, any ancestor, or the first
    process of its container, whose parent is an ancestor. Each of them is taken to have: too little is counted then,
    where the whole life of an orphan would be too much.
    """
    beside: dict[int, list[int]] = defaultdict(list)
    for pid, process in after.items():
        if process.parent != INIT and _goes_on(pid, before, after):
            beside[process.parent].append(pid)
    found: dict[int, float] = defaultdict(float)
    for pid, process in before.items():
        if not _goes_on(pid, before, after):
            above = _above(pid, before)
            for heir in above.union(*(beside.get(each, ()) for each in above)):
                found[heir] += process.seconds
    return found


def _above(pid: int, before: Mapping[int, ProcessTime]) -> set[int]:
    """Ancestors; numbers given again while they were read may form a ring."""
    found = set[int]()
    while pid in before and (pid := before[pid].parent) not in found:
        found.add(pid)
    return found
