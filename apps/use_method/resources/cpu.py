"""CPU of a node's machine."""

from dataclasses import replace

import numpy as np

from apps.runs.pure import MOST_STOLEN
from apps.use_method.indicators import Indicator, Resource
from apps.use_method.levels import LevelLimits, judge, mean
from apps.use_method.resources.counters import BESIDE, gauge, idle_running, unseen, with_words
from apps.use_method.resources.parts import AWS, either, held_at
from apps.use_method.values import Aspect, MetricSamples, NodeFacts, RuleResult, RunFacts, UseLevel

BUSY, SERVER, CPUS = "derived.cpu.busy", "derived.cpu.server_share", "host.cpus"
RUNNABLE, RUNNING = "derived.cpu.runnable", "derived.threads.running_per_cpu"
ACTIVE = "derived.postgresql.active_per_cpu"
STEAL, PRESSURE = "derived.cpu.steal", "derived.cpu.pressure"
BUSY_OF_AWS = f"{AWS}CPUUtilization"
BUSY_FROM = 70.0  # %
BUSY_LIMITS = LevelLimits(watch=BUSY_FROM, saturated=95.0)
SERVER_LIMITS = LevelLimits(watch=70.0, saturated=95.0)
RUNNABLE_LIMITS = LevelLimits(watch=1.5, saturated=2.0)
RUNNING_LIMITS = LevelLimits(watch=2.0, saturated=4.0)
STEAL_LIMITS = LevelLimits(watch=MOST_STOLEN, saturated=10.0)
PRESSURE_LIMITS = LevelLimits(watch=30.0, saturated=60.0)
GREGG = "Gregg, Systems Performance, 2nd ed. 2020, chapter 6 (CPUs)"
FROM_PROC = {"Linux": "/proc/stat", "Aurora": "AWS shows its guests neither the machine's run queue nor its CPU states"}


def busy(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    found = gauge(BUSY, BUSY_LIMITS, "%")(node, facts)
    own = mean(node.series[SERVER]) if SERVER in node.series else None
    if found is None or found.value is None or own is None:
        return found
    return with_words(found, f"; the server took {own:.0f} of {found.value:.0f} %")


def runnable(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    """Runnable tasks without the sampler, which always runs when it samples."""
    samples, cpus = node.series.get(RUNNABLE), node.series.get(CPUS)
    number = mean(cpus) if cpus else None
    if samples is None or not number:
        return None
    others = replace(samples, values=np.maximum(samples.values - 1 / number, 0.0))
    return while_busy(
        node,
        others,
        RUNNABLE_LIMITS,
        unit="tasks",
        metric=RUNNABLE,
        room="but the CPUs had room: the samples coincide with tasks that a timer wakes all at once",
    )


def running(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    """Statements wait for a CPU only while the CPUs are busy; else for a lock, a disk or a commit."""
    room = "but the CPUs had room: they wait for something else"
    if ACTIVE in node.series:  # of client sessions alone, without the sampler's
        return while_busy(node, node.series[ACTIVE], RUNNING_LIMITS, unit="threads", metric=ACTIVE, room=room)
    samples = node.series.get(RUNNING)
    if samples is None:
        return None
    if CPUS in node.series and (number := mean(node.series[CPUS])):
        samples = replace(samples, values=np.maximum(samples.values - idle_running(node) / number, 0.0))
    return while_busy(node, samples, RUNNING_LIMITS, unit="threads", metric=RUNNING, room=room)


def while_busy(
    node: NodeFacts, samples: MetricSamples, limits: LevelLimits, *, unit: str, metric: str, room: str
) -> RuleResult | None:
    """Judge `samples` in seconds with busy CPUs; `room`: added if a limit is exceeded only in others."""
    cpu = node.series.get(BUSY)
    if cpu is None:
        return None
    idle = ~(held_at(cpu, samples.at) >= BUSY_FROM)
    counts = replace(samples, values=np.where(idle & ~np.isnan(samples.values), 0.0, samples.values))
    found = judge(counts, limits, unit=unit, metric=metric, value=mean(samples))
    always = judge(samples, limits, unit=unit)
    if found is None or always is None or found.level is not UseLevel.OK:
        return found
    if always.level is UseLevel.OK:
        return replace(found, words=always.words, peak=always.peak)
    return replace(found, words=f"{always.words}, {room}", peak=always.peak)


def errors(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    if facts.aws or BUSY not in node.series:
        return None
    return unseen("a CPU's machine checks go to the kernel's log, which has no counters")


RESOURCE = Resource(
    key="cpu",
    title="CPU",
    layer="machine",
    question="Do tasks wait for a CPU?",
    indicators=(
        Indicator(
            key="cpu.busy",
            aspect=Aspect.UTILIZATION,
            title="busy",
            unit="%",
            metrics=(BUSY, SERVER, BUSY_OF_AWS),
            formula="(user + nice + system + irq + softirq) / all CPU time",
            limits=BUSY_LIMITS.words("%"),
            reason="Above 70 % bursts of arrivals already queue; near 100 % all do.",
            literature=f"{GREGG}; the same, 2.6.5 (Queueing Theory)",
            sources={"Linux": "/proc/stat", "Aurora": "CPUUtilization of CloudWatch, one value a minute"},
            rule=either(busy, gauge(BUSY_OF_AWS, BUSY_LIMITS, "%")),
            asks=("cpu", "/proc"),
        ),
        Indicator(
            key="cpu.server",
            aspect=Aspect.UTILIZATION,
            title="the server's share",
            unit="%",
            metrics=(SERVER,),
            formula="CPU time of the server's process / (CPUs × time)",
            limits=SERVER_LIMITS.words("%"),
            reason="The server's own part of the machine; other processes take the rest of the busy time.",
            literature=GREGG,
            sources={"Linux": "/proc/PID/stat and /proc/stat", "Aurora": "AWS does not show the server's process"},
            rule=gauge(SERVER, SERVER_LIMITS, "%"),
            asks=("process",),
        ),
        Indicator(
            key="cpu.run_queue",
            aspect=Aspect.SATURATION,
            title="tasks runnable for each CPU",
            unit="tasks",
            metrics=(RUNNABLE, CPUS, BUSY),
            formula="(procs_running − 1) / CPUs, sampled once a second, without the sampler itself; only "
            f"while the CPUs are {BUSY_FROM:g} % busy or more",
            limits=RUNNABLE_LIMITS.words("tasks"),
            reason="At 2 as many tasks wait as run: each gets half of a CPU. While the CPUs have room, samples once a "
            "second coincide with tasks that a timer wakes all at once, such as other samplers.",
            literature=GREGG,
            sources=FROM_PROC,
            rule=runnable,
            asks=("cpu", "/proc"),
        ),
        Indicator(
            key="cpu.threads_running",
            aspect=Aspect.SATURATION,
            title="statements running for each CPU",
            unit="threads",
            metrics=(RUNNING, ACTIVE, BUSY, CPUS, *BESIDE),
            formula="(Threads_running − the sampler's own − threads of replication) / CPUs; of PostgreSQL, active "
            f"client sessions / CPUs; counted only while the CPUs are {BUSY_FROM:g} % busy or more",
            limits=RUNNING_LIMITS.words("threads"),
            reason="More statements than CPUs share them; while the CPUs have room they wait for something else.",
            literature="Schwartz, Zaitsev, Tkachenko, High Performance MySQL, 3rd ed. 2012, chapter 3",
            sources={
                "MariaDB and MySQL": "SHOW GLOBAL STATUS",
                "PostgreSQL": "pg_stat_activity",
                "Linux": "/proc/stat",
                "Aurora": "AWS shows its guests no /proc/stat, so busy CPUs in that second are unknown",
            },
            rule=running,
        ),
        Indicator(
            key="cpu.pressure",
            aspect=Aspect.SATURATION,
            title="time in which some task waits for a CPU",
            unit="%",
            metrics=(PRESSURE,),
            formula="rise of the total of “some” in /proc/pressure/cpu / time",
            limits=PRESSURE_LIMITS.words("%"),
            reason="Unlike samples of the run queue it covers the time between them; 60 % is most of the time.",
            literature="Linux kernel documentation, accounting/psi; Gregg, Systems Performance, chapter 6",
            sources={"Linux": "/proc/pressure/cpu, from kernel 4.20 with PSI on", "Aurora": "not shown to guests"},
            rule=gauge(PRESSURE, PRESSURE_LIMITS, "%"),
            asks=("/proc/pressure",),
        ),
        Indicator(
            key="cpu.steal",
            aspect=Aspect.SATURATION,
            title="stolen",
            unit="%",
            metrics=(STEAL,),
            formula="steal / all CPU time",
            limits=STEAL_LIMITS.words("%"),
            reason="Tasks were ready while the hypervisor ran another guest: equivalent to fewer CPUs.",
            literature=GREGG,
            sources=FROM_PROC,
            rule=gauge(STEAL, STEAL_LIMITS, "%"),
            asks=("cpu", "/proc"),
        ),
        Indicator(
            key="cpu.errors",
            aspect=Aspect.ERRORS,
            title="machine checks",
            unit="errors",
            metrics=(BUSY,),
            formula="-",
            limits="",
            reason="A CPU that corrects errors or is throttled by heat delivers less than its capacity.",
            literature="Gregg, Thinking Methodically about Performance, ACM Queue 10(12), 2012",
            sources={
                "Linux": "the kernel's log (mcelog, rasdaemon): no counter that could be sampled",
                "Aurora": "AWS replaces failing machines itself and does not report it",
            },
            rule=errors,
        ),
    ),
)
