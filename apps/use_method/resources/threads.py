"""Threads of a server: statements in execution, and a possible cap on them."""

import numpy as np

from apps.use_method.indicators import Indicator, Resource, on_mysql
from apps.use_method.levels import LevelLimits, mean
from apps.use_method.resources.connections import MANUAL, SHOWN
from apps.use_method.resources.counters import (
    BESIDE,
    FROM_THE_FIRST,
    RUNNING,
    STATUS,
    events,
    gauge,
    idle_running,
    setting,
    unseen,
)
from apps.use_method.values import Aspect, NodeFacts, RuleResult, RunFacts, UseLevel

CREATED, SLOW = STATUS + "Threads_created", STATUS + "Slow_launch_threads"
CPUS = "host.cpus"
RUNNING_LIMITS = LevelLimits(None, None)
CREATED_LIMITS = LevelLimits(watch=10.0, saturated=100.0)
# Threads count as capped if this many times as many clients load the server as run, and the number is steady.
CLIENTS_EACH, NEAR = 2.0, 0.9
# With fewer CPUs a slow load generator looks the same.
FEWEST = 4


def capped(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    """Client statements in execution: a steady number equal to the vCPU under far more clients means a queue."""
    samples = node.series.get(RUNNING)
    if samples is None:
        return None
    cap, named = _allowed(node)
    if cap is None:
        return unseen("the number of the machine's vCPU is unknown")
    running = samples.values[~np.isnan(samples.values)] - idle_running(node)
    if not len(running):
        return None
    usual, most = float(np.median(running)), float(np.percentile(running, 95))
    words = f"{usual:.0f} usual, {most:.0f} at most, {facts.threads} client threads, {cap:.0f} {named}"
    steady = NEAR * cap <= usual and most <= cap + 1 and facts.rate is None
    if not steady or cap < FEWEST or facts.threads < CLIENTS_EACH * cap:
        return RuleResult(UseLevel.OK, usual, words, RUNNING, most)
    waiting = facts.threads - usual
    text = f"capped at {words}: about {waiting:.0f} clients wait"
    return RuleResult(UseLevel.SATURATED, usual, text, RUNNING, most, ((float(samples.at[0]), float(samples.at[-1])),))


def _allowed(node: NodeFacts) -> tuple[float | None, str]:
    size = setting(node, "thread_pool_size")
    if node.variables.get("thread_handling") == "pool-of-threads" and size:
        return size, "thread groups"
    cpus = node.series.get(CPUS)
    seen = mean(cpus) if cpus else None
    return (float(node.hardware_vcpu) if node.hardware_vcpu else seen), "vCPU"


RESOURCE = Resource(
    key="threads",
    title="Server threads",
    layer="server",
    question="How many statements run at once, and does the server queue others?",
    on=on_mysql,
    indicators=(
        Indicator(
            key="threads.running",
            aspect=Aspect.UTILIZATION,
            title="statements in execution",
            unit="threads",
            metrics=(RUNNING,),
            formula="Threads_running, the sampler's own and the threads of replication among them",
            limits="none: what is much depends on the CPUs and on what they wait for",
            reason="It shows how much of the load reaches the server; relative to the CPUs it is judged in their row.",
            literature="Schwartz et al., High Performance MySQL, 3rd ed., ch. 3, Using SHOW GLOBAL STATUS",
            sources=SHOWN,
            rule=gauge(RUNNING, RUNNING_LIMITS, "threads"),
        ),
        Indicator(
            key="threads.held",
            aspect=Aspect.SATURATION,
            title="capped at the number of vCPU",
            unit="threads",
            metrics=(RUNNING, CPUS, *BESIDE),
            formula="median and 95th percentile of Threads_running without the sampler's own and those of "
            "replication, by vCPU or thread_pool_size",
            limits=f"saturated where the median is at least {NEAR * 100:.0f} % of the vCPU, the 95th percentile at "
            f"most one above, {CLIENTS_EACH:g} × as many client threads load it without pause, and vCPU ≥ {FEWEST}",
            reason="Without a cap so many clients would make it vary; a thread pool admits so many and queues others.",
            literature="MariaDB Server Documentation, Thread Pool; Tusa, AWS Aurora Benchmarking part 2, 2016",
            sources=SHOWN | {"Linux": "/proc/stat"},
            rule=capped,
        ),
        Indicator(
            key="threads.created",
            aspect=Aspect.SATURATION,
            title="threads created for connections",
            unit="threads/s",
            metrics=(CREATED,),
            formula="rate of Threads_created",
            limits=CREATED_LIMITS.words("threads/s"),
            reason="The thread cache is empty, so each connection waits for a new thread; the manual sizes the cache "
            "for hundreds of connections a second.",
            literature=f"{MANUAL}, 7.1.8 Server System Variables, thread_cache_size",
            sources=SHOWN,
            rule=gauge(CREATED, CREATED_LIMITS, "threads/s"),
        ),
        Indicator(
            key="threads.slow",
            aspect=Aspect.ERRORS,
            title="threads that took long to start",
            unit="threads",
            metrics=(SLOW,),
            formula="rise of Slow_launch_threads",
            limits=f"error {FROM_THE_FIRST}",
            reason="Each took more than slow_launch_time, 2 s: the machine could hardly schedule it.",
            literature=f"{MANUAL}, 7.1.10 Server Status Variables",
            sources=SHOWN,
            rule=events(SLOW, unit="threads"),
        ),
    ),
)
