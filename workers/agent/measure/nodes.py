"""Sampled nodes and sources: each node of a system, and the agent itself."""

import os
from collections.abc import Callable, Collection, Sequence

from workers.agent.measure.clock import RunClock
from workers.agent.measure.neighbours import Neighbours
from workers.agent.measure.recorder import SampleSink
from workers.agent.measure.sample_loop import NodeSampler
from workers.agent.runtime.config import PROXY, SystemConfig
from workers.agent.samplers import HiddenFromSampler, SampleSource
from workers.agent.samplers.agent import AgentItself
from workers.agent.samplers.group import GroupMembership
from workers.agent.samplers.haproxy import HAProxySource
from workers.agent.samplers.host import HostCounters
from workers.agent.samplers.innodb import InnodbMetrics
from workers.agent.samplers.load_tool import LoadTool
from workers.agent.samplers.mysql import GlobalStatus
from workers.agent.samplers.process import ServerProcess, only_server, server_pid
from workers.agent.samplers.replication import Replication
from workers.agent.samplers.waits import Waits

AGENT = "agent"  # the name and the role of the agent's own node
ELSEWHERE = HiddenFromSampler(
    "the host's and the process's counters",
    "the node is on another host",
    "run an agent there in the role of sampler",
)


class NodeSampling:
    """The threads that sample a run into `recorder`, from `start` to `stop`.

    `own`: the name of the agent's node. `tool`: process id of the load tool, or None while there is none. `besides`:
    further processes that are no neighbours of the run. `of_node`: the sources of the system's node of a number.
    """

    def __init__(
        self,
        system: SystemConfig,
        *,
        clock: RunClock,
        recorder: SampleSink,
        own: str = AGENT,
        tool: Callable[[], int | None] | None = None,
        besides: Collection[int] = (),
        of_node: Callable[[SystemConfig, int], Sequence[SampleSource]] | None = None,
    ) -> None:
        self._samplers: list[NodeSampler] = []
        self._hidden: list[tuple[NodeSampler, HiddenFromSampler]] = []
        self._processes: list[ServerProcess] = []
        self._own, self._clock, self._recorder, self._tool = own, clock, recorder, tool
        self._tools: set[int] = set(besides)

        def add(name: str, role: str, sources: Sequence[SampleSource]) -> NodeSampler:
            self._processes += [source for source in sources if isinstance(source, ServerProcess)]
            sampler = NodeSampler(node=name, role=role, sources=sources, clock=clock, recorder=recorder)
            self._samplers.append(sampler)
            return sampler

        for number, node in enumerate(system.nodes):
            if not node.sampled:
                continue  # sampled by another agent, in the sampler role
            sampler = add(node.name, node.role, (of_node or sources)(system, number))
            if not node.local:
                self._hidden.append((sampler, ELSEWHERE))
        if system.proxy:
            proxy = HAProxySource(system.proxy.address)
            process = [ServerProcess(proxy.process_id)] if system.proxy.address.is_local() else []
            add(system.proxy.name, PROXY, [proxy, *process])
        load_tool = [LoadTool(self._seen_tool)] if tool else []
        add(own, AGENT, [AgentItself(), *load_tool, *own_host(system)])

    def start(self) -> None:
        self.watch_neighbours()
        for sampler in self._samplers:
            sampler.start()
        for sampler, hidden in self._hidden:
            sampler.hide(hidden)

    def has_sampled_since(self, t: float) -> bool:
        return all(sampler.has_sampled_since(t) for sampler in self._samplers)

    def stop(self) -> None:
        for sampler in self._samplers:
            sampler.stop()
        self.report_neighbours()

    def watch_neighbours(self) -> None:
        """From now on."""
        self._neighbours = Neighbours(self._clock)

    def report_neighbours(self) -> None:
        """Those since they are watched."""
        servers = [source.pid for source in self._processes if source.pid is not None]
        found = self._neighbours.event(node=self._own, ours={*servers, *self._tools})
        if found:
            self._recorder.event(found)

    def _seen_tool(self) -> int | None:
        found = self._tool() if self._tool else None
        if found is not None:
            self._tools.add(found)
        return found


def own_host(system: SystemConfig) -> list[SampleSource]:
    """The host's counters, where they are the load generator's alone: without a local node, or on CPUs of its own."""
    if not any(node.local for node in system.nodes):
        return [HostCounters()]
    own = os.sched_getaffinity(0)
    return [HostCounters(cpus=own)] if system.cpus and own.isdisjoint(system.cpus) else []


def sources(system: SystemConfig, number: int) -> list[SampleSource]:
    """The sources of a node. The server's counters come first: they take longest and set the sample's time."""
    node = system.nodes[number]
    found: list[SampleSource] = []
    if node.asked:
        found += [
            GlobalStatus(system, node.address),
            InnodbMetrics(system, node.address),
            Replication(system, node.address),
            GroupMembership(system, node.address),
            Waits(system, node.address),
        ]
    if node.local:
        found.append(HostCounters(cpus=system.cpus))
        found.append(ServerProcess(lambda: server_pid(system, node.address) if node.asked else only_server()))
    return found
