"""Disks of a node's machine, by name; the worst is shown."""

import re
from collections.abc import Callable
from dataclasses import replace

from apps.use_method.indicators import Indicator, Resource, Rule
from apps.use_method.levels import LevelLimits, judge, mean
from apps.use_method.resources.counters import gauge, scaled, unseen, with_words
from apps.use_method.resources.parts import AWS, either, worst
from apps.use_method.values import Aspect, NodeFacts, RuleResult, RunFacts, UseLevel

PREFIX = "derived.disk."
UTILIZATION, QUEUE, REQUESTS = ".utilization", ".queue", ".requests"
READS, WRITES = ".await_read", ".await_write"
PRESSURE, IN_ALL = f"{PREFIX}pressure", f"{PREFIX}*"
# Compressed swap in memory is not a disk; swapping belongs to memory.
NO_DISK = re.compile(r"zram\d+")
# No "saturated": a disk that serves requests in parallel is not full when it always has one.
UTILIZATION_LIMITS = LevelLimits(watch=95.0, saturated=None)
IOPS_LIMITS = LevelLimits(watch=70.0, saturated=95.0)
QUEUE_LIMITS = LevelLimits(watch=16.0, saturated=64.0)
AWAIT_LIMITS = LevelLimits(watch=20.0, saturated=50.0)
PRESSURE_LIMITS = LevelLimits(watch=40.0, saturated=80.0)
# Ratio of response time to that at the lowest load: see apps.use_method.panels.response_times.
OVER_LIMITS = LevelLimits(watch=2.0, saturated=3.0)
# Mean requests in flight below which requests hardly wait for each other.
LEAST_QUEUE = 1.0
# Server error codes caused by its disk, and the system errors named in 1030.
OF_DISKS = {1021: "no space", 1024: "a read failed", 1026: "a write failed"}
IN_WORDS = re.compile(r"no space left|disk full|(?:error|errcode:?) (?:5|28)\b|input/output error", re.IGNORECASE)
GREGG = "Gregg, Systems Performance, 2nd ed. 2020, chapter 9 (Disks)"
SATURATION_2017 = "Looking at Disk Utilization and Saturation, Percona 2017"
DISKSTATS = "/proc/diskstats"
NO_GUEST = "Aurora's volume is a separate service: AWS does not show its disks"


def disks(node: NodeFacts) -> list[str]:
    """Disks with any request in the phase."""
    found = node.matching(PREFIX, REQUESTS)
    return [name for name, samples in found.items() if not NO_DISK.fullmatch(name) and (mean(samples) or 0.0) > 0]


def of_each(rule_of: Callable[[str], Rule], suffix: str, *, idle: str = "") -> Rule:
    """Result of `rule_of` a key for the worst disk; `idle`: the text if no disk was used."""

    def rule(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
        if not node.matching(PREFIX, REQUESTS):
            return None
        busy = disks(node)
        if not busy:
            return RuleResult(UseLevel.OK, 0.0, "no request reached a disk") if not idle else unseen(idle)
        return worst({name: rule_of(f"{PREFIX}{name}{suffix}")(node, facts) for name in busy})

    return rule


def each_gauge(suffix: str, limits: LevelLimits, unit: str) -> Rule:
    return of_each(lambda key: gauge(key, limits, unit), suffix)


def waited(suffix: str, counter: str, what: str) -> Rule:
    """Response times of one kind of request; none without such requests."""
    of_worst = of_each(lambda key: gauge(key, AWAIT_LIMITS, "ms"), suffix, idle=f"no {what} reached a disk")

    def rule(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
        found = of_worst(node, facts)
        counted = [node.series[key] for name in disks(node) if (key := f"host.disk.{name}.{counter}") in node.series]
        if found is None and counted and not any(mean(samples) for samples in counted):
            return unseen(f"no {what} reached a disk")
        return found

    return rule


def utilization(key: str) -> Rule:
    def rule(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
        found = gauge(key, UTILIZATION_LIMITS, "%")(node, facts)
        if found is None or found.level is UseLevel.OK:
            return found
        return with_words(found, "; it means that a request was always in flight, not that the disk is full")

    return rule


def iops(key: str) -> Rule:
    def rule(node: NodeFacts, _: RunFacts) -> RuleResult | None:
        samples = node.series[key]
        if not node.hardware_iops:
            seen = judge(samples, LevelLimits(None, None), unit="requests/s")
            return seen and unseen(f"the hardware class states no IOPS; {seen.words}")
        found = judge(scaled(samples, 100 / node.hardware_iops), IOPS_LIMITS, unit="%", metric=key)
        return with_words(found, f", of {node.hardware_iops:,} requests/s that {node.hardware_class} has")

    return rule


def of_aws(name: str, limits: LevelLimits, unit: str, factor: float = 1.0) -> Rule:
    """CloudWatch's equivalent for an instance's storage."""

    def rule(node: NodeFacts, _: RunFacts) -> RuleResult | None:
        samples = node.series.get(AWS + name)
        found = judge(scaled(samples, factor), limits, unit=unit, metric=AWS + name) if samples else None
        return found and replace(found, words=f"{found.words} (mean of each minute)")

    return rule


def over_baseline(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    """Placeholder until the panel is displayed and its baseline is known."""
    if not disks(node):
        return None
    return unseen("no run of the same system and workload at a lower load was judged: nothing to compare with")


def errors(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    if facts.aws or not node.matching(PREFIX, REQUESTS):
        return None
    failures = [one for one in facts.complaints if one.code in OF_DISKS or IN_WORDS.search(one.text)]
    writers = [each.name for each in facts.nodes if each.role == "writer"]
    if failures and node.name in (writers or [facts.nodes[0].name]):
        first = min(failures, key=lambda one: one.at if one.at is not None else float("inf"))
        spans = tuple((one.at, one.at) for one in failures if one.at is not None)
        return RuleResult(
            UseLevel.ERROR,
            float(sum(one.count for one in failures)),
            f"the client received: {first.text}",
            "",
            None,
            spans,
        )
    return unseen("the kernel has no counter of disk errors; no disk error reached the client")


RESOURCE = Resource(
    key="disk",
    title="disk",
    layer="machine",
    question="Do requests wait for the disk?",
    indicators=(
        Indicator(
            key="disk.utilization",
            aspect=Aspect.UTILIZATION,
            title="a request in flight",
            unit="%",
            metrics=(f"{IN_ALL}{UTILIZATION}", f"{IN_ALL}{REQUESTS}"),
            formula="rise of io_ticks / time, as iostat's %util; of the worst disk",
            limits=UTILIZATION_LIMITS.words("%"),
            reason="Known weakness: one thread that waits for each request shows nearly 100 % on a disk that serves "
            "eighteen times as many from sixty-four. So this alone never means saturated.",
            literature=f"{SATURATION_2017}; iostat(1) on %util",
            sources={"Linux": DISKSTATS, "Aurora": NO_GUEST},
            rule=of_each(utilization, UTILIZATION),
            asks=("disk", "/proc"),
        ),
        Indicator(
            key="disk.iops",
            aspect=Aspect.UTILIZATION,
            title="requests / provisioned IOPS",
            unit="%",
            metrics=(f"{IN_ALL}{REQUESTS}",),
            formula="(reads + writes) / the hardware class's IOPS",
            limits=IOPS_LIMITS.words("%"),
            reason="A provisioned volume delays requests beyond its IOPS, even if its medium is idle.",
            literature="Amazon EBS User Guide, volume types and I/O characteristics",
            sources={"Linux": f"{DISKSTATS}; IOPS of the catalog's hardware class", "Aurora": NO_GUEST},
            rule=of_each(iops, REQUESTS),
            asks=("disk", "/proc"),
        ),
        Indicator(
            key="disk.over_baseline",
            aspect=Aspect.SATURATION,
            title="response time / that at the lowest load",
            unit="×",
            metrics=(f"{IN_ALL}{READS}", f"{IN_ALL}{WRITES}"),
            formula="mean response time of reads, or of writes, by its median over the runs of the same system and "
            "workload at their lowest load; the greater of the two",
            limits=f"watch from {OVER_LIMITS.watch:g} on, saturated from {OVER_LIMITS.saturated:g} on, where at least "
            f"{LEAST_QUEUE:g} request is in flight on average",
            reason="At one thread no request waits for another: the additional time at more threads is waiting.",
            literature=f"{SATURATION_2017}: saturated at 3.6 times the response time of one thread, fine at 1.5 times",
            sources={"Linux": DISKSTATS, "Aurora": NO_GUEST},
            rule=over_baseline,
            asks=("disk", "/proc"),
        ),
        Indicator(
            key="disk.queue",
            aspect=Aspect.SATURATION,
            title="requests in flight",
            unit="requests",
            metrics=(f"{IN_ALL}{QUEUE}", f"{IN_ALL}{REQUESTS}", f"{AWS}DiskQueueDepth"),
            formula="rise of the weighted io_ticks / time, as iostat's aqu-sz; of the worst disk",
            limits=QUEUE_LIMITS.words("requests"),
            reason="The NVMe disk of the 2017 measurement was best used between 16 and 64 requests at once; a single "
            "spinning disk saturates long before that, which its response time shows.",
            literature=f"{SATURATION_2017}; {GREGG}",
            sources={"Linux": DISKSTATS, "Aurora": "DiskQueueDepth of CloudWatch, one value a minute"},
            rule=either(
                each_gauge(QUEUE, QUEUE_LIMITS, "requests"), of_aws("DiskQueueDepth", QUEUE_LIMITS, "requests")
            ),
            asks=("disk", "/proc"),
        ),
        *(
            Indicator(
                key=f"disk.{key}",
                aspect=Aspect.SATURATION,
                title=f"response time of {what}s",
                unit="ms",
                metrics=(f"{IN_ALL}{suffix}", f"host.disk.*.{counter}", f"{IN_ALL}{REQUESTS}", AWS + of_cloud),
                formula=f"rise of the time of {what}s / rise of their number, as iostat's {iostat}; of the worst disk",
                limits=AWAIT_LIMITS.words("ms"),
                reason="Above 20 ms a statement that waits for one request is slower than on a spinning disk without "
                "load; flash answers in well under one.",
                literature=f"{GREGG}; iostat(1) on {iostat}",
                sources={"Linux": DISKSTATS, "Aurora": f"{of_cloud} of CloudWatch, one value a minute"},
                rule=either(waited(suffix, counter, what), of_aws(of_cloud, AWAIT_LIMITS, "ms", 1000.0)),
                asks=("disk", "/proc"),
            )
            for key, what, suffix, counter, iostat, of_cloud in (
                ("await_read", "read", READS, "reads", "r_await", "ReadLatency"),
                ("await_write", "write", WRITES, "writes", "w_await", "WriteLatency"),
            )
        ),
        Indicator(
            key="disk.pressure",
            aspect=Aspect.SATURATION,
            title="time in which some task waits for a disk",
            unit="%",
            metrics=(PRESSURE,),
            formula="rise of the total of “some” in /proc/pressure/io / time",
            limits=PRESSURE_LIMITS.words("%"),
            reason="The server's log writer waits for each fsync by design: half of the time is normal, most of it "
            "indicates a queue.",
            literature="Linux kernel documentation, accounting/psi",
            sources={"Linux": "/proc/pressure/io, from kernel 4.20 with PSI on", "Aurora": NO_GUEST},
            rule=gauge(PRESSURE, PRESSURE_LIMITS, "%"),
            asks=("/proc/pressure",),
        ),
        Indicator(
            key="disk.errors",
            aspect=Aspect.ERRORS,
            title="errors of a disk that reached the client",
            unit="errors",
            metrics=(f"{IN_ALL}{REQUESTS}",),
            formula="errors of the load tool with code 1021, 1024 or 1026, or that name errno 5 or 28",
            limits="error from the first on",
            reason="The block layer has no counter of errors: a server reports one when it makes a statement fail.",
            literature="MariaDB Knowledge Base, MariaDB error codes; Gregg, chapter 9",
            sources={"MariaDB and MySQL": "the load tool's own report of errors", "Aurora": NO_GUEST},
            rule=errors,
        ),
    ),
)
