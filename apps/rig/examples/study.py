"""What the example study measures: parts, each a number of sessions with a campaign of its own. Pure.

In a session every system is started anew, and everything is measured once; sessions reverse the order of the one
before. Loads are small enough for two CPUs: one for the servers, one for all the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TABLES = {"tables": 4, "table_size": 10_000}
# One CPU is saturated well before 8 threads; with 32, InnoDB's latches once kept it busy for good.
LEVELS = (1, 2, 3, 4, 6, 8)
# Below what the slowest system can do: latency is compared where nothing queues.
BELOW_SATURATION = {"threads": 8, "rate": 60}
ARCHITECTURES = ("single", "galera", "mha")


@dataclass(frozen=True)
class StudyPart:
    """`plan`: the campaign of one session, as a campaign file has it; `seconds` of one session, about.

    `nightly`: its sessions are runs of a schedule of that name, the systems one after another, each for a number of
    sessions, and stay up in between.
    """

    name: str
    title: str
    sessions: int
    seconds: float
    plan: Mapping[str, Any]
    nightly: str = ""
    turns: Sequence[tuple[str, int]] = ()

    def systems(self) -> tuple[str, ...]:
        return tuple(self.plan["systems"])

    def campaign(self, session: int) -> dict[str, Any]:
        """The campaign of a session, from 1 on."""
        workloads = list(self.plan["workloads"])
        if self.nightly:
            return {**self.plan, "name": self.nightly, "systems": [self._turn(session)], "workloads": workloads}
        order = list(self.plan["systems"])
        if session % 2 == 0:
            order, workloads = order[::-1], workloads[::-1]
        name = f"Example study: {self.title}, session {session} of {self.sessions}"
        return {**self.plan, "name": name, "systems": order, "workloads": workloads}

    def _turn(self, session: int) -> str:
        last = 0
        for slug, sessions in self.turns:
            last += sessions
            if session <= last:
                return slug
        return self.turns[-1][0]


def _oltp(test: str, **more: Any) -> dict[str, Any]:
    return {"tool": "sysbench_oltp", "parameters": {"test": test, **TABLES}, **more}


def _fault(fault: str, **more: Any) -> dict[str, Any]:
    return {"tool": "failover", "parameters": {"fault": fault, "fault_at": 5}, "duration": 21, **more}


def _failovers(name: str, title: str, seconds: float, *faults: str) -> StudyPart:
    """Six trials of each fault, in three sessions."""
    plan = {"systems": ("galera", "mha"), "repetitions": 2, "warmup": 1, "duration": 21}
    return StudyPart(name, title, 3, seconds, {**plan, "workloads": tuple(map(_fault, faults))})


def _alter(algorithm: str) -> dict[str, Any]:
    return {
        "tool": "ddl_under_load",
        "parameters": {"algorithm": algorithm, "at": 5, "table_size": 300_000},
        "load_levels": [{"threads": 8, "rate": 100}],
        "duration": 16,
    }


_RELEASES = ("release-old", "release-new")
PARTS = (
    StudyPart(
        name="ladders",
        title="ladders of threads",
        sessions=5,
        seconds=780,
        plan={
            "systems": ARCHITECTURES,
            "repetitions": 1,
            "warmup": 1.5,
            "duration": 5,
            "load_levels": LEVELS,
            "workloads": (
                {"tool": "app_ingest"},
                _oltp("oltp_read_write", load_levels=[*LEVELS, BELOW_SATURATION]),
                _oltp("oltp_read_only"),
                {"tool": "tpcc_like", "parameters": {"warehouses": 2}},
            ),
        },
    ),
    _failovers("failovers", "failovers", 320, "kill_writer", "switch"),
    _failovers("lost_readers", "lost readers", 180, "kill_reader"),
    _failovers("frozen_writers", "frozen writers", 220, "freeze_writer"),
    StudyPart(
        name="schema_changes",
        title="schema changes under load",
        sessions=5,
        seconds=230,
        plan={
            "systems": ARCHITECTURES,
            "repetitions": 1,
            "warmup": 1,
            "duration": 16,
            "workloads": tuple(_alter(algorithm) for algorithm in ("copy", "inplace", "instant")),
        },
    ),
    # Reads and writes mixed are measured by the part `nightly`.
    StudyPart(
        name="releases",
        title="two releases",
        sessions=5,
        seconds=110,
        plan={
            "systems": _RELEASES,
            "repetitions": 1,
            "warmup": 1.5,
            "duration": 6,
            "load_levels": (4,),
            "workloads": (
                _oltp("oltp_point_select"),
                _oltp("oltp_read_only"),
                _oltp("oltp_update_index"),
                _oltp("oltp_update_non_index"),
                _oltp("oltp_insert"),
            ),
        },
    ),
    StudyPart(
        name="nightly",
        title="a schedule's history",
        sessions=30,
        seconds=13,
        nightly="Example: OLTP of two releases",
        turns=(("release-old", 18), ("release-new", 12)),
        plan={
            "systems": _RELEASES,
            "repetitions": 1,
            "warmup": 1.5,
            "duration": 6,
            "load_levels": (4,),
            "workloads": (_oltp("oltp_read_write"),),
        },
    ),
)


def part_named(name: str) -> StudyPart:
    """Raises LookupError."""
    found = next((part for part in PARTS if part.name == name), None)
    if found is None:
        raise LookupError(f"the study has no part {name!r}; it has {', '.join(part.name for part in PARTS)}")
    return found
