"""Work of one run's system per transaction, from mean rates of its nodes' counters. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from apps.catalog.pure import MACHINE, WorkSpec, work

SERVER_KEYS = "mysql.status."
DATABASE_ROLES = ("writer", "reader")
# Names and roles of the load tool and of the machine, or the CPUs, that it runs on: no part of the system.
LOAD_GENERATOR = ("client", "agent")
# Counters of a machine since its start. Two nodes whose first counts are equal, or differ by at most the increase in
# APART seconds, ran on one machine.
FINGERPRINT = ("host.context_switches", "host.vmstat.pgfault")
APART = 60.0
# Nodes observed for a smaller share of the measured phase count for that share, with a remark in `partly`.
MOST_OF_IT = 0.9


class CounterRate(Protocol):
    """`mean`: 1/s while observed; `increase`: total; `base`: the first count, 0: unknown."""

    @property
    def mean(self) -> float: ...

    @property
    def increase(self) -> float | None: ...

    @property
    def resets(self) -> int: ...

    @property
    def base(self) -> int: ...


class CountedNode(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def role(self) -> str: ...

    @property
    def samples(self) -> int: ...

    @property
    def rates(self) -> Mapping[str, CounterRate]: ...


@dataclass(frozen=True)
class Spent:
    """Work per transaction of the whole load: `whole` of the system by key of a quantity, `nodes` of each node (name).

    `lacking`: key -> why `whole` lacks it. `partly`: sentences about nodes that were not observed all the time.
    """

    whole: dict[str, float]
    nodes: dict[str, dict[str, float]]
    lacking: dict[str, str]
    partly: tuple[str, ...]


def spent(nodes: Sequence[CountedNode], *, per_second: float, length: float) -> Spent:
    """`per_second`: transactions of the load generator, above 0; `length` of the measured phase, s."""
    servers = [node for node in nodes if node.name not in LOAD_GENERATOR and node.role not in LOAD_GENERATOR]
    databases = [node for node in servers if _is_database(node)]
    machines = _machines(servers)
    seen = {node.name: _seen(node, length) for node in servers}
    whole, lacking = {}, {}
    of_nodes: dict[str, dict[str, float]] = {node.name: {} for node in servers}
    for spec in work.ALL:
        found = {
            node.name: value / per_second
            for node in servers
            if (value := _rate(spec, node, seen[node.name])) is not None
        }
        for name, value in found.items():
            of_nodes[name][spec.key] = value
        blind = [node.name for node in databases if node.name not in found]
        if blind or not found:
            lacking[spec.key] = _why(blind, databases)
        elif spec.whose == MACHINE:
            # The machine's mean, not the sum: all its nodes read the same counters.
            each = ([found[name] for name in names if name in found] for names in machines)
            whole[spec.key] = sum(float(np.mean(values)) for values in each if values)
        else:
            whole[spec.key] = sum(found.values())
    partly = [
        f"{name} was observed for {100 * share:.0f} % of the measured phase; its work outside that is not counted."
        for name, share in seen.items()
        if 0 < share < MOST_OF_IT
    ]
    partly += [
        f"Counters of {node.name} fell; counts since the previous sample are lost."
        for node in servers
        if any(rate.resets for rate in node.rates.values())
    ]
    return Spent(whole, {name: values for name, values in of_nodes.items() if values}, lacking, tuple(partly))


def _is_database(node: CountedNode) -> bool:
    return node.role in DATABASE_ROLES or any(key.startswith(SERVER_KEYS) for key in node.rates)


def _seen(node: CountedNode, length: float) -> float:
    """Share of the measured phase in which the node was observed, by its longest counter."""
    lengths = [rate.increase / rate.mean for rate in node.rates.values() if rate.increase and rate.mean > 0]
    return max(lengths, default=length) / length


def _rate(spec: WorkSpec, node: CountedNode, seen: float) -> float | None:
    """Per second of the measured phase; None: not observed."""
    share = 1.0 if seen >= MOST_OF_IT else seen
    values = {}
    for pattern in spec.formula.inputs:
        rates = [node.rates[key].mean for key in work.fitting(pattern, node.rates)]
        if not rates:
            return None
        values[pattern] = np.array([sum(rates)])
    return float(spec.formula.evaluate(values)[0]) * share


def _why(blind: Sequence[str], databases: Sequence[CountedNode]) -> str:
    if not databases:
        return "no database server was sampled"
    unsampled = [node.name for node in databases if node.name in blind and not node.samples]
    if unsampled:
        return f"{', '.join(unsampled)} {'was' if len(unsampled) == 1 else 'were'} not sampled"
    if len(blind) == len(databases):
        return "not counted by any node, or not readable by the agent"
    return f"{', '.join(blind)} {'does' if len(blind) == 1 else 'do'} not count it, or the agent may not read it"


def _machines(nodes: Sequence[CountedNode]) -> list[list[str]]:
    """Names of the nodes of each machine."""
    groups: list[list[CountedNode]] = []
    for node in nodes:
        group = next((group for group in groups if _share_machine(group[0], node)), None)
        if group is None:
            groups.append([node])
        else:
            group.append(node)
    return [[node.name for node in group] for group in groups]


def _share_machine(one: CountedNode, other: CountedNode) -> bool:
    pairs = [(one.rates[key], other.rates[key]) for key in FINGERPRINT if key in one.rates and key in other.rates]
    known = [(own, its) for own, its in pairs if own.base and its.base]
    return bool(known) and all(abs(own.base - its.base) <= APART * max(own.mean, its.mean) for own, its in known)
