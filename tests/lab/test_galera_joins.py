"""How long the lab waits for a node that joins, and when it is started again: a cluster that is simulated."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lab import galera as module
from lab.galera import LOST_TIMEOUT, STARTS, Galera
from lab.galera_node import NODES
from lab.packages import LabError

JOINER = NODES[2]
MEMBER = {
    "wsrep_cluster_status": "Primary",
    "wsrep_cluster_conf_id": "7",
    "wsrep_cluster_size": "2",
    "wsrep_local_state_comment": "Synced",
}
OUTSIDE = {"wsrep_cluster_status": "non-Primary", "wsrep_local_state_comment": "Initialized"}


class Clock:
    """Passes by sleeping alone."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class SimulatedNode:
    """`view`: what it shows so many seconds after its nth start; empty: it does not answer yet."""

    clock: Clock
    view: Callable[[int, float], Mapping[str, str]]
    pid: int | None = None
    starts: list[float] = field(default_factory=list)

    def launch(self) -> None:
        assert self.pid is None
        self.starts.append(self.clock.now)
        self.pid = len(self.starts)

    def kill(self) -> None:
        self.pid = None

    def seen(self) -> Mapping[str, str]:
        return {} if self.pid is None else self.view(len(self.starts), self.clock.now - self.starts[-1])

    def is_ready(self) -> bool:
        return bool(self.seen())

    def last_error(self) -> str:
        return "failed to reach primary view"


@pytest.fixture
def nodes() -> dict[str, SimulatedNode]:
    """Two are a cluster, the third is stopped."""
    clock = Clock()
    nodes = {node: SimulatedNode(clock, lambda _start, _since: MEMBER) for node in NODES}
    for node in NODES[:2]:
        nodes[node].launch()
    return nodes


@pytest.fixture
def cluster(nodes: dict[str, SimulatedNode], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Galera:
    system = Galera(tmp_path)
    monkeypatch.setattr(system, "servers", nodes, raising=False)
    monkeypatch.setattr(system, "_launch", lambda node, *_: nodes[node].launch())
    monkeypatch.setattr(module, "time", nodes[JOINER].clock)
    monkeypatch.setattr(module, "position", lambda _server: "")
    monkeypatch.setattr(module, "view", lambda server: server.seen())
    monkeypatch.setattr(module, "synced", lambda servers: {node for node in servers if servers[node].seen() is MEMBER})
    return system


def test_a_joiner_that_stays_outside_the_primary_component_is_started_again(
    cluster: Galera, nodes: dict[str, SimulatedNode]
) -> None:
    nodes[JOINER].view = lambda start, _: OUTSIDE if start == 1 else MEMBER
    cluster.start(JOINER)
    assert cluster.status(JOINER) == "Synced"
    first, second = nodes[JOINER].starts
    assert LOST_TIMEOUT < second - first < LOST_TIMEOUT + 1
    assert [len(nodes[each].starts) for each in NODES[:2]] == [1, 1]


def test_a_joiner_that_finds_the_others_in_time_is_left_alone(cluster: Galera, nodes: dict[str, SimulatedNode]) -> None:
    nodes[JOINER].view = lambda _, since: OUTSIDE if since < LOST_TIMEOUT - 1 else MEMBER
    cluster.start(JOINER)
    assert len(nodes[JOINER].starts) == 1


def test_a_joiner_that_copies_everything_before_it_answers_is_left_alone(
    cluster: Galera, nodes: dict[str, SimulatedNode]
) -> None:
    nodes[JOINER].view = lambda _, since: {} if since < 4 * LOST_TIMEOUT else MEMBER
    cluster.start(JOINER)
    assert len(nodes[JOINER].starts) == 1


def test_a_joiner_that_never_gets_inside_is_given_up_with_its_logs_reason(
    cluster: Galera, nodes: dict[str, SimulatedNode]
) -> None:
    nodes[JOINER].view = lambda _start, _since: OUTSIDE
    with pytest.raises(LabError, match="node3 Initialized after 30 s: failed to reach primary view"):
        cluster.start(JOINER)
    assert len(nodes[JOINER].starts) == STARTS
