"""The proxy: its queue, its retries, its servers that are down."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from apps.core.units import NBSP
from apps.use_method.indicators import Indicator, Resource
from apps.use_method.levels import LevelLimits, counted, for_and_from, judge, mean, stretches, total
from apps.use_method.resources.parts import held_at, worst
from apps.use_method.values import Aspect, MetricSamples, NodeFacts, RuleResult, RunFacts, UseLevel

PREFIX = "haproxy."
CONNECTIONS, BUSY, CPU = "derived.proxy.connections", "derived.proxy.busy", "derived.cpu.server"
RUN_QUEUE = PREFIX + "process.Run_queue"
BACKEND, FRONTEND = "BACKEND", "FRONTEND"
RETRIED = {"wretr": "tried again", "wredis": "sent elsewhere"}
# Responses broken off by a server are counted in eresp.
BROKEN = {"econ": "could not connect", "eresp": "broke off"}
CONNECTIONS_LIMITS = LevelLimits(watch=80.0, saturated=95.0)
BUSY_LIMITS = LevelLimits(watch=70.0, saturated=95.0)
QUEUE_LIMITS = LevelLimits(watch=None, saturated=1.0)
TASKS_LIMITS = LevelLimits(watch=10.0, saturated=100.0)
MANUAL = "HAProxy Management Guide, 9.1 (CSV format)"
SOURCES = {"HAProxy": "show stat and show info on its stats socket", "Aurora": "its endpoint is a DNS name"}
INFO = {"HAProxy": "show info on its stats socket", "Aurora": "its endpoint is a DNS name"}


def on(node: NodeFacts, _: RunFacts) -> bool:
    return node.role == "proxy"


def connections(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples = node.series.get(CONNECTIONS)
    return judge(samples, CONNECTIONS_LIMITS, unit="%", metric=CONNECTIONS) if samples else None


def busy(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    """HAProxy's busy time includes time in which its thread was ready and had no CPU: it is capped by the CPU time
    used."""
    samples, taken = node.series.get(BUSY), node.series.get(CPU)
    if samples is None:
        return None
    if taken is None:
        return judge(samples, BUSY_LIMITS, unit="%", metric=BUSY)
    spent = 100 * held_at(taken, samples.at)
    found = judge(replace(samples, values=np.fmin(samples.values, spent)), BUSY_LIMITS, unit="%", metric=BUSY)
    shown, cpus = mean(samples), mean(taken)
    if found is None or shown is None or cpus is None:
        return found
    return replace(found, words=f"{found.words}; it took {cpus:.2g} CPUs and called itself {shown:.0f}{NBSP}% busy")


def of_backends(node: NodeFacts, *fields: str) -> dict[str, MetricSamples]:
    """Series of whole backends by key, which include their servers' counts."""
    ends = tuple(f".{BACKEND}.{field}" for field in fields)
    return {key: samples for key, samples in node.series.items() if key.startswith(PREFIX) and key.endswith(ends)}


def of_servers(node: NodeFacts, field: str) -> dict[str, MetricSamples]:
    """Series of single servers by key."""
    found = {key: each for key, each in node.series.items() if key.startswith(PREFIX) and key.endswith(f".{field}")}
    return {key: samples for key, samples in found.items() if key.split(".")[-2] not in (BACKEND, FRONTEND)}


def name_of(key: str) -> str:
    """`writer` of haproxy.writer.BACKEND.qcur, `writer/node1` of haproxy.writer.node1.up."""
    return "/".join(word for word in key.split(".")[1:-1] if word != BACKEND)


def queue(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    queues = of_backends(node, "qcur") | of_servers(node, "qcur")
    return worst({name_of(key): judge(each, QUEUE_LIMITS, unit="requests", metric=key) for key, each in queues.items()})


def tasks(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples = node.series.get(RUN_QUEUE)
    return judge(samples, TASKS_LIMITS, unit="tasks", metric=RUN_QUEUE) if samples else None


def retries(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    return _summed(of_backends(node, *RETRIED), RETRIED, UseLevel.WATCH)


def failed(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    return _summed(of_backends(node, *BROKEN), BROKEN, UseLevel.ERROR)


def checks(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    counters = of_servers(node, "chkfail")
    if not counters and of_servers(node, "up"):
        return RuleResult(
            UseLevel.NOT_OBSERVABLE, None, "the proxy is configured to assume its servers up, without checks"
        )
    return _summed(counters, {"chkfail": "checks failed"}, UseLevel.WATCH)


def _summed(counters: Mapping[str, MetricSamples], words: Mapping[str, str], level: UseLevel) -> RuleResult | None:
    """Sum of counters by key; `words`: meaning by the end of the key. The metric is the counter that rose most."""
    numbers = {key: round(number) for key, samples in counters.items() if (number := total(samples)) is not None}
    if not numbers:
        return None
    most = max(numbers, key=lambda key: numbers[key])
    found = counted(counters[most], unit="", metric=most, level=level)
    if found is None or not numbers[most]:
        return found
    texts = [
        f"{name_of(key)}: {number} × {words[key.rpartition('.')[2]]}"
        for key, number in sorted(numbers.items())
        if number
    ]
    return replace(
        found, value=float(sum(numbers.values())), words=f"{'; '.join(texts)}; {found.words.split(', ')[-1]}"
    )


def down(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    """Servers down, and backends without any server. A server that was never up was unused before the run."""
    known = of_backends(node, "up") | of_servers(node, "up")
    if not known:
        return None
    spans = {key: found for key, each in known.items() if (found := stretches(each, each.values == 0))}
    if not spans:
        return RuleResult(UseLevel.OK, 0.0, "all up all the time", next(iter(known)))
    texts = []
    for key, found in spans.items():
        what = "down" if key.split(".")[-2] != BACKEND else "no server left"
        texts.append(f"{name_of(key)} {what} {for_and_from(found)}")
    lengths = {key: sum(end - start for start, end in found) for key, found in spans.items()}
    longest = max(lengths, key=lambda key: lengths[key])
    news = any(key.split(".")[-2] == BACKEND or np.nansum(known[key].values) for key in spans)
    every = tuple(sorted({span for found in spans.values() for span in found}))
    level = UseLevel.ERROR if news else UseLevel.WATCH
    return RuleResult(level, lengths[longest], "; ".join(texts), longest, None, every)


RESOURCE = Resource(
    key="proxy",
    title="proxy",
    layer="proxy",
    question="Does the proxy queue or retry requests, or lack servers?",
    on=on,
    indicators=(
        Indicator(
            key="proxy.connections",
            aspect=Aspect.UTILIZATION,
            title="connections of the maximum",
            unit="%",
            metrics=(CONNECTIONS,),
            formula="CurrConns / Maxconn",
            limits=CONNECTIONS_LIMITS.words("%"),
            reason="At the maximum HAProxy accepts no connection: clients wait in the kernel's queue, uncounted.",
            literature="HAProxy Configuration Manual, maxconn",
            sources=INFO,
            rule=connections,
        ),
        Indicator(
            key="proxy.busy",
            aspect=Aspect.UTILIZATION,
            title="busy",
            unit="%",
            metrics=(BUSY, CPU),
            formula="the lesser of 100 % - Idle_pct, which is of one thread, and its CPU time / time",
            limits=BUSY_LIMITS.words("%"),
            reason="Near 100 % the sessions of a thread wait for each other. Idle_pct alone misleads where the CPUs "
            "are busy: the proxy then waits for a CPU, which is shown in the CPU's row.",
            literature="HAProxy Management Guide, 9.3: show info, Idle_pct",
            sources=INFO,
            rule=busy,
        ),
        Indicator(
            key="proxy.queue",
            aspect=Aspect.SATURATION,
            title="requests queued",
            unit="requests",
            metrics=(f"{PREFIX}*.qcur",),
            formula="the larger qcur of the backend, where no server is chosen yet, and of each server",
            limits=QUEUE_LIMITS.words("requests"),
            reason="All servers have as many sessions as the proxy allows: the rest waits in the proxy.",
            literature=f"{MANUAL}: qcur",
            sources=SOURCES,
            rule=queue,
        ),
        Indicator(
            key="proxy.tasks",
            aspect=Aspect.SATURATION,
            title="tasks runnable",
            unit="tasks",
            metrics=(RUN_QUEUE,),
            formula="Run_queue",
            limits=TASKS_LIMITS.words("tasks"),
            reason="Tasks that wait for one of the proxy's threads, as a run queue of a CPU.",
            literature="HAProxy Management Guide, 9.3: show info, Run_queue",
            sources=INFO,
            rule=tasks,
        ),
        Indicator(
            key="proxy.retries",
            aspect=Aspect.ERRORS,
            title="connections tried again or sent elsewhere",
            unit="connections",
            metrics=tuple(f"{PREFIX}*.{BACKEND}.{field}" for field in RETRIED),
            formula="rise of wretr + wredis of the backends",
            limits="watch from the first on",
            reason="A server did not take a connection at once; the client waited for the next attempt.",
            literature=f"{MANUAL}: wretr, wredis; Configuration Manual, retries",
            sources=SOURCES,
            rule=retries,
        ),
        Indicator(
            key="proxy.failed",
            aspect=Aspect.ERRORS,
            title="sessions that failed",
            unit="sessions",
            metrics=tuple(f"{PREFIX}*.{BACKEND}.{field}" for field in BROKEN),
            formula="rise of econ + eresp of the backends",
            limits="error from the first on",
            reason="The client was disconnected: no server was left, or its server closed the connection.",
            literature=f"{MANUAL}: econ, eresp",
            sources=SOURCES,
            rule=failed,
        ),
        Indicator(
            key="proxy.checks",
            aspect=Aspect.ERRORS,
            title="checks failed",
            unit="checks",
            metrics=(f"{PREFIX}*.chkfail", f"{PREFIX}*.up"),
            formula="rise of chkfail of the servers",
            limits="watch from the first on",
            reason="A server that was up failed a check: the first sign of a failover, or the check is too strict.",
            literature=f"{MANUAL}: chkfail",
            sources=SOURCES,
            rule=checks,
        ),
        Indicator(
            key="proxy.down",
            aspect=Aspect.ERRORS,
            title="longest time with a server down",
            unit="s",
            metrics=(f"{PREFIX}*.up",),
            formula="time with a status other than UP",
            limits="error where one goes down or a backend has none left; watch where one was down all the time",
            reason="It gets no requests: the others carry its load, and one less is left for the next failure.",
            literature=f"{MANUAL}: status",
            sources=SOURCES,
            rule=down,
        ),
    ),
)
