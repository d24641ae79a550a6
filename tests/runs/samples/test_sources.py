"""Sampled sources of a run, in words."""

import numpy as np

from apps.runs.samples.columns import SampledNode
from apps.runs.samples.nodes import samplers_of


def a_node(name: str, role: str, *keys: str, step: float = 1.0) -> SampledNode:
    clock = np.arange(20) * step + np.linspace(0, 0.01, 20)
    return SampledNode(name=name, role=role, clock=clock, constants=dict.fromkeys(keys, 1))


def test_nodes_of_one_kind_are_listed_once_with_their_sources_and_step() -> None:
    sources = ("mysql.status.Uptime", "mysql.innodb.lock_timeouts", "host.cpus", "process.rss", "host.load.1m")
    nodes = [
        a_node("db3", "reader", *sources, step=5),
        a_node("db1", "writer", *sources),
        a_node("db2", "reader", *sources, step=5),
        a_node("agent", "agent", "agent.threads", step=0.5),
    ]
    assert samplers_of(nodes) == [
        "agent: agent, every 0.5 s",
        "reader: host, innodb, process, status, every 5 s",
        "writer: host, innodb, process, status, every 1 s",
    ]


def test_what_the_load_tool_printed_is_no_sample() -> None:
    assert samplers_of([a_node("client", "client", "client.throughput")]) == []
    assert samplers_of([a_node("client", "client", "client.throughput", "host.cpus")]) == ["client: host, every 1 s"]
