"""Work per transaction of one run, from the rates of its nodes' counters."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from apps.catalog.metrics import work
from apps.catalog.metrics.counter_rules import describe
from apps.catalog.metrics.standard import CURATED
from apps.comparison.stats.measures.work_per_transaction import spent

STATUS = "mysql.status."


@dataclass(frozen=True)
class Rate:
    mean: float
    increase: float | None = None
    resets: int = 0
    base: int = 0


@dataclass(frozen=True)
class Node:
    name: str
    rates: dict[str, Rate] = field(default_factory=dict)
    role: str = "writer"
    samples: int = 60


def a_node(name: str, *, seconds: float = 60.0, role: str = "writer", base: int = 0, **means: float) -> Node:
    """Counters by the last words of their keys, which stood at `base` first."""
    keys = {
        "redo": STATUS + "Innodb_os_log_written",
        "key": STATUS + "Handler_read_key",
        "next": STATUS + "Handler_read_next",
        "user": "process.cpu.user",
        "system": "process.cpu.system",
        "switches": "host.context_switches",
        "idle": "host.cpu.idle",
        "vda": "host.disk.vda.write_bytes",
        "dm": "host.disk.dm-0.write_bytes",
        "zram": "host.disk.zram0.write_bytes",
    }
    return Node(name, {keys[word]: Rate(mean, mean * seconds, base=base) for word, mean in means.items()}, role)


def test_a_rate_is_divided_by_the_transactions() -> None:
    found = spent([a_node("db1", redo=2_000_000.0, user=1.5, system=0.5)], per_second=1000.0, length=60.0)
    assert found.whole["work.redo"] == 2000.0
    assert found.whole["work.cpu.server"] == 2.0  # ms
    assert found.partly == ()


def test_a_system_s_work_is_the_sum_of_its_nodes_and_each_node_is_known() -> None:
    found = spent([a_node("g1", redo=300.0), a_node("g2", redo=100.0, role="reader")], per_second=10.0, length=60.0)
    assert found.whole["work.redo"] == 40.0
    assert {node: values["work.redo"] for node, values in found.nodes.items()} == {"g1": 30.0, "g2": 10.0}


def test_a_star_means_every_counter_that_fits() -> None:
    assert spent([a_node("db1", key=10.0, next=5.0)], per_second=5.0, length=60.0).whole["work.rows.asked"] == 3.0


def test_disks_made_of_others_are_not_counted_twice() -> None:
    found = spent([a_node("db1", vda=100.0, dm=100.0, zram=7.0)], per_second=10.0, length=60.0)
    assert found.whole["work.disk.machine_written"] == 10.0


def test_nodes_of_one_machine_count_it_once() -> None:
    """They found its counters within a minute of each other, however far apart their rates are."""
    nodes = [
        a_node(name, switches=5000.0 + 400 * n, vda=100.0, base=82_000_000 + 5000 * n)
        for n, name in enumerate(("g1", "g2", "g3"))
    ]
    assert spent(nodes, per_second=10.0, length=60.0).whole["work.disk.machine_written"] == pytest.approx(10.0)


def test_machines_of_one_kind_with_the_same_load_count_each() -> None:
    nodes = [
        a_node("g1", switches=5000.0, vda=100.0, base=82_000_000),
        a_node("g2", switches=5000.0, vda=100.0, base=9**9),
    ]
    assert spent(nodes, per_second=10.0, length=60.0).whole["work.disk.machine_written"] == 20.0


def test_nodes_whose_machines_cannot_be_distinguished_count_each() -> None:
    nodes = [a_node(name, switches=5000.0, vda=100.0) for name in ("g1", "g2")]
    assert spent(nodes, per_second=10.0, length=60.0).whole["work.disk.machine_written"] == 20.0


def test_what_one_node_does_not_report_is_not_reported_for_the_system() -> None:
    nodes = [a_node("g1", redo=300.0, user=1.0, system=1.0), a_node("g2", redo=100.0)]
    found = spent(nodes, per_second=10.0, length=60.0)
    assert "work.cpu.server" not in found.whole
    assert found.lacking["work.cpu.server"] == "g2 does not count it, or the agent may not read it"
    assert found.whole["work.redo"] == 40.0
    assert found.nodes["g1"]["work.cpu.server"] == 200.0


def test_a_node_that_nobody_sampled_leaves_the_system_s_work_unknown() -> None:
    found = spent([a_node("g1", redo=300.0), Node("g2", samples=0, role="reader")], per_second=10.0, length=60.0)
    assert found.whole == {}
    assert found.lacking["work.redo"] == "g2 was not sampled"


def test_the_load_generator_is_no_part_of_the_system() -> None:
    client = a_node("client", user=1.0, system=1.0, role="client")
    assert spent([client], per_second=10.0, length=60.0).lacking["work.cpu.server"] == "no database server was sampled"
    assert "client" not in spent([client, a_node("db1", redo=1.0)], per_second=10.0, length=60.0).nodes


def test_a_proxy_s_cpu_is_part_of_the_system_s() -> None:
    proxy = a_node("proxy1", user=0.5, system=0.5, role="proxy")
    found = spent([a_node("g1", user=1.0, system=0.0, redo=1.0), proxy], per_second=10.0, length=60.0)
    assert found.whole["work.cpu.server"] == 200.0


def test_a_node_seen_for_part_of_the_time_counts_with_what_was_seen_and_that_is_said() -> None:
    found = spent([a_node("g1", redo=300.0), a_node("g2", redo=100.0, seconds=30.0)], per_second=10.0, length=60.0)
    assert found.whole["work.redo"] == 35.0
    assert found.partly == ("g2 was observed for 50 % of the measured phase; its work outside that is not counted.",)


def test_a_counter_that_fell_is_said() -> None:
    node = Node("db1", {STATUS + "Innodb_os_log_written": Rate(5.0, 290.0, resets=1)})
    assert spent([node], per_second=1.0, length=60.0).partly == (
        "Counters of db1 fell; counts since the previous sample are lost.",
    )


@pytest.mark.parametrize("spec", work.ALL, ids=lambda spec: spec.key)
def test_every_formula_is_a_sum_of_known_counters(spec: work.WorkSpec) -> None:
    """So that a system's work is the sum of its nodes'."""
    once = {key: np.array([3.0]) for key in spec.formula.inputs}
    twice = {key: np.array([6.0]) for key in spec.formula.inputs}
    assert spec.formula.evaluate(twice)[0] == pytest.approx(2 * spec.formula.evaluate(once)[0])
    assert "/" not in spec.formula.text
    for key in spec.formula.inputs:
        example = key.replace("read_*", "read_key").replace("disk.*", "disk.vda").replace("net.*", "net.eth0")
        assert (CURATED.get(example) or describe(example)).kind == "counter", example


def test_interfaces_that_carry_what_others_count_are_left_out() -> None:
    keys = [f"host.net.{name}.rx_bytes" for name in ("eth0", "ens5", "lo", "docker0", "veth12ab", "bond0", "eth0.5")]
    assert work.fitting("host.net.*.rx_bytes", keys) == ["host.net.eth0.rx_bytes", "host.net.ens5.rx_bytes"]


def test_the_cpus_of_the_load_generator_are_no_part_of_the_system_either() -> None:
    """On one machine they are a node of their own, which counts the same context switches."""
    server, tool = (
        Node(name, {key: Rate(mean, 60 * mean, base=82_000_000) for key, mean in means.items()}, role)
        for name, role, means in (
            ("db1", "writer", {"process.cpu.user": 0.7, "process.cpu.system": 0.1, **of_host(0.6)}),
            ("agent", "agent", of_host(0.3)),
        )
    )
    found = spent([server, tool], per_second=100.0, length=60.0).whole
    assert found["work.cpu.server"] == pytest.approx(8.0)  # ms
    assert found["work.cpu.machine"] == pytest.approx(8.0)


def of_host(user: float) -> dict[str, float]:
    """Counters of CPUs that are busy for `user` + 0.2 s a second."""
    states = {"user": user, "nice": 0.0, "system": 0.1, "irq": 0.0, "softirq": 0.1}
    return {"host.context_switches": 5000.0} | {f"host.cpu.{state}": rate for state, rate in states.items()}
