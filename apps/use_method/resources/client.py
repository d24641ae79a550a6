"""The load generator: if it is the limit, the servers were not measured at theirs."""

from collections.abc import Sequence

import numpy as np

from apps.runs.pure import ALL_BUSY, LEAST_MATCHED, MOST_BUSY, MOST_LATE, MOST_OF_AGENT, MOST_OF_ITS_CPU, MOST_TAKEN
from apps.use_method.indicators import Indicator, Resource
from apps.use_method.levels import LevelLimits, judge, mean, total
from apps.use_method.resources import cpu
from apps.use_method.resources.counters import gauge, unseen
from apps.use_method.resources.parts import either, held_at
from apps.use_method.values import Aspect, MetricSamples, NodeFacts, RuleResult, RunFacts, UseLevel

BUSY, CPUS, SERVER = cpu.BUSY, cpu.CPUS, "derived.cpu.server"
AGENT, TOOL = "agent.cpu.seconds", "agent.tool.cpu.seconds"
ITS_CPU, LATENESS, LATENCY = "client.cpu", "client.schedule_lag", "client.latency.avg"
QUEUE, IN_PROGRESS, UNMATCHED, WRITES = "client.queue_length", "client.concurrency", "client.unmatched", "client.writes"
HOST_LIMITS = LevelLimits(watch=60.0, saturated=MOST_BUSY)
AGENT_LIMITS = LevelLimits(watch=MOST_OF_AGENT, saturated=1.0)
QUEUE_LIMITS = LevelLimits(watch=1.0, saturated=None)
# Share of the threads: while fewer are busy, a waiting event does not wait for the server.
ALL_AT_WORK = 0.9
UNMATCHED_FROM = 5.0  # % of the writes
GREGG = "Gregg, Systems Performance, 2nd ed. 2020, chapter 12 (Benchmarking)"
OPEN_OR_CLOSED = "Schroeder, Wierman, Harchol-Balter, Open Versus Closed: A Cautionary Tale, NSDI 2006"
NO_RATE = "each thread starts its next transaction when the last one ends: no rate is set"


def beside(facts: RunFacts) -> list[NodeFacts]:
    """Nodes of the system on the load generator's machine, if their machine was sampled."""
    if facts.client is not None and BUSY in facts.client.series:
        return []
    return [node for node in facts.nodes if not node.apart and BUSY in node.series]


def host(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    found = gauge(BUSY, HOST_LIMITS, "%")(node, facts)
    shared = beside(facts)
    if found is None and shared:
        return unseen(f"it has no machine of its own: see the CPU of {shared[0].name}")
    return found or unseen("its machine was not sampled")


def shared(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    """CPU time taken by load tool and agent on the servers' machine, as a share of all; where the tool's is not known,
    by it and others."""
    nodes = beside(facts)
    if not nodes:
        found = BUSY in node.series
        return (
            RuleResult(UseLevel.OK, 0.0, "it has a machine of its own")
            if found
            else unseen("its machine was not sampled")
        )
    on = nodes[0]
    taken, busy = _of_load(node, on), mean(on.series[BUSY])
    what = "it and the agent"
    if taken is None:
        taken, what = taken_by_others(node, facts, on), "it and others, not to servers"
    where = f"shares the machine with {listed([each.name for each in nodes])}"
    if taken is None or busy is None:
        return unseen(f"it {where}; what the servers took of its CPUs was not sampled")
    limit = busy >= ALL_BUSY and taken > MOST_TAKEN * busy
    words = f"{where}, whose CPUs were {busy:.0f} % busy: {taken:.0f} % of them went to {what}"
    return RuleResult(UseLevel.WATCH if limit else UseLevel.OK, taken, words)


def _of_load(node: NodeFacts, on: NodeFacts) -> float | None:
    """Mean share of CPU time on the machine of `on` taken by load tool and agent, %; None: not known."""
    cpus = mean(on.series[CPUS]) if CPUS in on.series else None
    tool = mean(node.series[TOOL]) if TOOL in node.series else None
    agent = mean(node.series[AGENT]) if AGENT in node.series else None
    return None if not cpus or tool is None else 100 * (tool + (agent or 0.0)) / cpus


def taken_by_others(node: NodeFacts, facts: RunFacts, on: NodeFacts) -> float | None:
    """Mean share of CPU time on the machine of `on`, %, not taken by servers, proxies or the agent."""
    cpus = mean(on.series[CPUS]) if CPUS in on.series else None
    servers = [each.series[SERVER] for each in facts.nodes if not each.apart and SERVER in each.series]
    if not cpus or not servers:
        return None
    busy = on.series[BUSY]
    known = [held_at(one, busy.at) for one in [*servers, *filter(None, [node.series.get(AGENT)])]]
    others = busy.values - 100 / cpus * np.sum([np.nan_to_num(one) for one in known], axis=0)
    seen = others[~np.isnan(others)]
    return float(max(seen.mean(), 0.0)) if len(seen) else None


def listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def thread(_: NodeFacts, facts: RunFacts) -> RuleResult | None:
    used = facts.headlines.get(ITS_CPU)
    if used is None:
        return unseen("only our asynchronous client, which has one thread for all connections, reports its own CPU")
    level = UseLevel.SATURATED if used > MOST_OF_ITS_CPU else UseLevel.OK
    words = "of the one CPU that it can use, mean of the run"
    return RuleResult(level, used, words, "", used)


def queue(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    """Events not yet taken by a thread. With all threads busy the servers lag behind the rate, else the generator."""
    samples = node.series.get(QUEUE)
    if samples is None:
        return unseen(NO_RATE) if facts.rate is None else None
    found = judge(samples, QUEUE_LIMITS, unit="events", metric=QUEUE)
    if found is None or found.level is UseLevel.OK:
        return found
    at_work = node.series.get(IN_PROGRESS)
    if at_work is None or not facts.threads:
        return found
    share = at_work_while_waiting(samples, at_work, facts.threads)
    if share is None or share >= ALL_AT_WORK:
        words = f"{found.words}, with all {facts.threads} threads at work: the servers did not keep up with the rate"
        return RuleResult(UseLevel.WATCH, found.value, words, QUEUE, found.peak, found.spans)
    words = (
        f"{found.words}, with {100 * share:.0f} % of its {facts.threads} threads at work: the generator itself was late"
    )
    return RuleResult(UseLevel.SATURATED, found.value, words, QUEUE, found.peak, found.spans)


def at_work_while_waiting(queued: MetricSamples, at_work: MetricSamples, threads: int) -> float | None:
    """Share of the threads that were busy while events waited, each second weighted by the waiting events."""
    working = held_at(at_work, queued.at)
    seen = ~np.isnan(queued.values) & ~np.isnan(working)
    waited = queued.values[seen]
    return float(np.average(working[seen], weights=waited)) / threads if waited.sum() > 0 else None


def late(_: NodeFacts, facts: RunFacts) -> RuleResult | None:
    lag, latency = facts.headlines.get(LATENESS), facts.headlines.get(LATENCY)
    if lag is None or not latency:
        return unseen(NO_RATE if facts.rate is None else f"{facts.tool} does not report how late it began")
    share = 100 * lag / latency
    level = UseLevel.SATURATED if share > 100 * MOST_LATE else UseLevel.OK
    return RuleResult(
        level, share, f"began {lag:.3g} ms late on average, part of a latency of {latency:.3g} ms", "", share
    )


def unmatched(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    """Writes that changed no row: the load is then not the declared one."""
    if UNMATCHED not in node.series or WRITES not in node.series:
        return unseen(f"{facts.tool} does not count the writes that change no row")
    none, writes = total(node.series[UNMATCHED]), total(node.series[WRITES])
    if none is None or not writes:
        return unseen("it wrote nothing")
    share = 100 * none / writes
    level = UseLevel.OK if share < UNMATCHED_FROM else UseLevel.WATCH
    level = UseLevel.ERROR if share > 100 * (1 - LEAST_MATCHED) else level
    return RuleResult(level, share, f"{none:,.0f} of {writes:,.0f} writes changed no row", UNMATCHED, share)


RESOURCE = Resource(
    key="client",
    title="load generator",
    layer="client",
    question="Was the load generator the limit, and not the servers?",
    on=lambda node, _: node.role in ("client", "agent"),
    indicators=(
        Indicator(
            key="client.host",
            aspect=Aspect.UTILIZATION,
            title="CPU of its own machine",
            unit="%",
            metrics=(BUSY,),
            formula="(user + nice + system + irq + softirq) / all CPU time, on the load generator's machine",
            limits=HOST_LIMITS.words("%"),
            reason="Its threads then wait for a CPU before they record a response: latency that is not the servers'.",
            literature=GREGG,
            sources={"Linux": "/proc/stat beside the load generator"},
            rule=host,
        ),
        Indicator(
            key="client.shared",
            aspect=Aspect.UTILIZATION,
            title="CPU that it takes on the servers' machine",
            unit="%",
            metrics=(BUSY, CPUS, SERVER, AGENT, TOOL),
            formula="load tool and agent / all CPU time of the machine, mean; where the tool's processes were not "
            "sampled: busy − servers, proxies and agent",
            limits=f"watch if the machine is at least {ALL_BUSY:g} % busy and they took over "
            f"{100 * MOST_TAKEN:g} % of that; never saturated: the CPU's own row covers the machine",
            reason="On a shared machine the load generator takes CPU from the servers that it measures.",
            literature=GREGG,
            sources={"Linux": "/proc/stat, /proc/PID/stat of the load tool and the servers"},
            rule=shared,
        ),
        Indicator(
            key="client.thread",
            aspect=Aspect.UTILIZATION,
            title="CPU of its one thread",
            unit="CPUs",
            metrics=(),
            formula="CPU time of the asynchronous client / time",
            limits=f"saturated above {MOST_OF_ITS_CPU:g} CPUs",
            reason="It has one thread: near one CPU, its own work delays the responses.",
            literature=GREGG,
            sources={"asyncload": "the client's own report, at its end"},
            rule=thread,
        ),
        Indicator(
            key="client.agent",
            aspect=Aspect.UTILIZATION,
            title="CPU of the agent",
            unit="CPUs",
            metrics=(AGENT,),
            formula="CPU time of the agent's process / time",
            limits=AGENT_LIMITS.words("CPUs"),
            reason="It samples and reads the tool's output; half a CPU is missing from the measured system.",
            literature=GREGG,
            sources={"agent": "its own CPU time"},
            rule=gauge(AGENT, AGENT_LIMITS, "CPUs"),
        ),
        Indicator(
            key="client.run_queue",
            aspect=Aspect.SATURATION,
            title="tasks runnable for each CPU of its own machine",
            unit="tasks",
            metrics=(cpu.RUNNABLE, CPUS, BUSY),
            formula="(procs_running − 1) / CPUs, on the load generator's machine, counted only while that is "
            f"{cpu.BUSY_FROM:g} % busy or more",
            limits=cpu.RUNNABLE_LIMITS.words("tasks"),
            reason="Threads of the generator that wait for a CPU look like a slow server.",
            literature=GREGG,
            sources={"Linux": "/proc/stat beside the load generator"},
            rule=either(cpu.runnable, host),
        ),
        Indicator(
            key="client.queue",
            aspect=Aspect.SATURATION,
            title="events waiting for a thread",
            unit="events",
            metrics=(QUEUE, IN_PROGRESS),
            formula="queue length of the load tool at a fixed rate",
            limits=f"{QUEUE_LIMITS.words('events')}; saturated if under {100 * ALL_AT_WORK:g} % of its threads work",
            reason="With all threads at work the servers lag behind the rate; else the generator itself does.",
            literature=f"{OPEN_OR_CLOSED}; sysbench manual, --rate",
            sources={"sysbench and asyncload": "their report of each second, at a fixed rate"},
            rule=queue,
        ),
        Indicator(
            key="client.late",
            aspect=Aspect.SATURATION,
            title="lateness / latency",
            unit="%",
            metrics=(),
            formula="mean time by which a transaction began late although a connection was free / mean latency",
            limits=f"saturated above {100 * MOST_LATE:g} %",
            reason="At a fixed rate latency counts from a transaction's scheduled start: this part is the client's.",
            literature=f"{OPEN_OR_CLOSED}; Tene, How NOT to Measure Latency, 2013",
            sources={"asyncload": "the client's own report, at its end"},
            rule=late,
        ),
        Indicator(
            key="client.unmatched",
            aspect=Aspect.ERRORS,
            title="writes that changed no row",
            unit="%",
            metrics=(UNMATCHED, WRITES),
            formula="writes without effect / writes",
            limits=f"watch from {UNMATCHED_FROM:g} % on, error above {100 * (1 - LEAST_MATCHED):g} %",
            reason="In tables with gaps in their keys updates match no row: fast, and not the declared load.",
            literature="sysbench manual, --auto-inc: on Galera keys otherwise step by the number of nodes",
            sources={"our scripts": "rows that each statement changed"},
            rule=unmatched,
        ),
    ),
)
