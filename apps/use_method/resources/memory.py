"""Memory of a node's machine; the server's own use of it belongs to the buffer pool."""

from dataclasses import replace

import numpy as np

from apps.use_method.indicators import Indicator, Resource
from apps.use_method.levels import LevelLimits, judge
from apps.use_method.resources.counters import events, gauge, unseen
from apps.use_method.resources.parts import AWS, either
from apps.use_method.values import Aspect, NodeFacts, RuleResult, RunFacts, UseLevel

USED, SWAP_USED, SWAP_TOTAL = "derived.memory.used", "derived.memory.swap_used", "host.memory.SwapTotal"
SWAPPING, FAULTS = "derived.memory.swapping", "process.faults.major"
PRESSURE, KILLED = "derived.memory.pressure", "host.vmstat.oom_kill"
FREE_OF_AWS = f"{AWS}FreeableMemory"
USED_LIMITS = LevelLimits(watch=90.0, saturated=97.0)
SWAP_LIMITS = LevelLimits(watch=50.0, saturated=95.0)
SWAPPING_LIMITS = LevelLimits(watch=1.0, saturated=100.0)
FAULTS_LIMITS = LevelLimits(watch=10.0, saturated=100.0)
PRESSURE_LIMITS = LevelLimits(watch=1.0, saturated=10.0)
GREGG = "Gregg, Systems Performance, 2nd ed. 2020, chapter 7 (Memory)"
NO_GUEST = "AWS shows its guests only FreeableMemory and SwapUsage, one value a minute"


def used_of_aws(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    free, size = node.series.get(FREE_OF_AWS), node.hardware_memory
    if free is None or not size:
        return None
    used = replace(free, values=100 * (1 - free.values / size))
    return judge(used, USED_LIMITS, unit="%", metric=FREE_OF_AWS)


def swap_used(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    """Without swap nothing can be swapped."""
    size = node.series.get(SWAP_TOTAL)
    if size is not None and not np.nan_to_num(size.values).any():
        return RuleResult(UseLevel.OK, 0.0, "the machine has no swap", SWAP_TOTAL, 0.0)
    return gauge(SWAP_USED, SWAP_LIMITS, "%")(node, facts)


def killed(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    if KILLED not in node.series and USED in node.series:
        return unseen("this kernel does not count the processes killed by the OOM killer")
    return events(KILLED, unit="processes")(node, facts)


RESOURCE = Resource(
    key="memory",
    title="memory",
    layer="machine",
    question="Does the machine run out of memory?",
    indicators=(
        Indicator(
            key="memory.used",
            aspect=Aspect.UTILIZATION,
            title="used",
            unit="%",
            metrics=(USED, FREE_OF_AWS),
            formula="(MemTotal − MemAvailable) / MemTotal",
            limits=USED_LIMITS.words("%"),
            reason="Reclaimable file cache does not count as used; the rest is available to programs. With only a few "
            "per cent left, the kernel reclaims pages at the programs' expense.",
            literature=f"{GREGG}; proc_meminfo(5) on MemAvailable",
            sources={"Linux": "/proc/meminfo", "Aurora": "FreeableMemory of CloudWatch by the class's memory"},
            rule=either(gauge(USED, USED_LIMITS, "%"), used_of_aws),
            asks=("memory", "/proc"),
        ),
        Indicator(
            key="memory.swap",
            aspect=Aspect.UTILIZATION,
            title="swap used",
            unit="%",
            metrics=(SWAP_USED, SWAP_TOTAL),
            formula="(SwapTotal − SwapFree) / SwapTotal",
            limits=SWAP_LIMITS.words("%"),
            reason="Pages in swap may belong to idle programs; when it is full, the next step is the OOM killer.",
            literature=GREGG,
            sources={"Linux": "/proc/meminfo", "Aurora": NO_GUEST},
            rule=swap_used,
            asks=("memory", "/proc"),
        ),
        Indicator(
            key="memory.swapping",
            aspect=Aspect.SATURATION,
            title="pages swapped",
            unit="pages/s",
            metrics=(SWAPPING,),
            formula="pswpin + pswpout",
            limits=SWAPPING_LIMITS.words("pages/s"),
            reason="A page of the buffer pool that is in swap is read from disk inside a statement that expects it in "
            "memory, with a latch held.",
            literature="Schwartz, Zaitsev, Tkachenko, High Performance MySQL, 3rd ed. 2012, chapter 9 (swapping)",
            sources={"Linux": "/proc/vmstat", "Aurora": NO_GUEST},
            rule=gauge(SWAPPING, SWAPPING_LIMITS, "pages/s"),
            asks=("memory", "/proc"),
        ),
        Indicator(
            key="memory.pressure",
            aspect=Aspect.SATURATION,
            title="time in which some task waits for memory",
            unit="%",
            metrics=(PRESSURE,),
            formula="rise of the total of “some” in /proc/pressure/memory / time",
            limits=PRESSURE_LIMITS.words("%"),
            reason="With enough memory it is 0: any of it is time spent freeing pages or reading them back.",
            literature="Linux kernel documentation, accounting/psi",
            sources={"Linux": "/proc/pressure/memory, from kernel 4.20 with PSI on", "Aurora": NO_GUEST},
            rule=gauge(PRESSURE, PRESSURE_LIMITS, "%"),
            asks=("/proc/pressure",),
        ),
        Indicator(
            key="memory.major_faults",
            aspect=Aspect.SATURATION,
            title="the server's page faults that read from disk",
            unit="faults/s",
            metrics=(FAULTS,),
            formula="rise of majflt of the server's process / time",
            limits=FAULTS_LIMITS.words("faults/s"),
            reason="A started server that keeps its memory has none: its data or its program were evicted from memory.",
            literature=GREGG,
            sources={"Linux": "/proc/PID/stat", "Aurora": "AWS does not show the server's process"},
            rule=gauge(FAULTS, FAULTS_LIMITS, "faults/s"),
            asks=("process",),
        ),
        Indicator(
            key="memory.killed",
            aspect=Aspect.ERRORS,
            title="processes killed by the OOM killer",
            unit="processes",
            metrics=(KILLED, USED),
            formula="rise of oom_kill",
            limits="error from the first on",
            reason="The kernel had no page left and ended a process, often the largest: the server.",
            literature=GREGG,
            sources={"Linux": "/proc/vmstat, from kernel 4.13", "Aurora": NO_GUEST},
            rule=killed,
            asks=("memory", "/proc"),
        ),
    ),
)
