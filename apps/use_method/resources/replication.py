"""Asynchronous replication: lag of a replica, unapplied changes, state of its threads."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from apps.core.units import format_duration, format_number, with_unit
from apps.use_method.indicators import Indicator, Resource, on_servers
from apps.use_method.levels import LevelLimits, for_and_from, intervals, judge, steps
from apps.use_method.resources.counters import setting
from apps.use_method.resources.parts import held_at, worst
from apps.use_method.values import Aspect, Floats, MetricSamples, NodeFacts, RuleResult, RunFacts, UseLevel

PREFIX = "mysql.replication."
READ_ONLY, POSITION = PREFIX + "read_only", PREFIX + "gtid_position"
DELAY, SPACE = "seconds_behind", "relay_log_space"
BYTES, TRANSACTIONS = "unapplied_bytes", "unapplied_transactions"
RECEIVES, APPLIES = "io_running", "sql_running"
# Both measures are accurate to about a second.
LAG_LIMITS = LevelLimits(watch=2.0, saturated=5.0)
SPACE_LIMITS = LevelLimits(watch=50.0, saturated=90.0)
BYTES_LIMITS = LevelLimits(watch=2.0**20, saturated=2.0**24)
TRANSACTIONS_LIMITS = LevelLimits(watch=1000.0, saturated=10_000.0)
STOPPED = LevelLimits(None, 1.0, level=UseLevel.ERROR)
# Of the two times of each step of a path, its end.
SAMPLES = slice(1, None, 2)
# The delay is reported in whole seconds.
WHOLE = 1.0  # s
MARIADB = "MariaDB and MySQL"
SHOWN = {
    MARIADB: "SHOW ALL SLAVES STATUS or SHOW REPLICA STATUS, once a second",
    "Galera": "replicates by itself",
    "MySQL Group Replication": "replicates by itself",
    "Aurora": "readers share the writer's volume: see Aurora",
}
HIGH_PERFORMANCE = "Schwartz, Zaitsev, Tkachenko, High Performance MySQL, 3rd ed. 2012, chapter 10"
ASKS = ("replication",)


def is_replica(node: NodeFacts) -> bool:
    return bool(connections(node, APPLIES))


def on(node: NodeFacts, facts: RunFacts) -> bool:
    """Replicas by their status or, if that was not readable, by their role beside another replica."""
    if not on_servers(node, facts) or facts.aws:
        return False
    asked = READ_ONLY in node.series and not any("replication" in hidden.what for hidden in node.hidden)
    return is_replica(node) or (node.role == "reader" and not asked and any(map(is_replica, facts.nodes)))


def connections(node: NodeFacts, what: str) -> dict[str, MetricSamples]:
    """Series by the connection's name; empty for the only one."""
    named = node.matching(PREFIX, f".{what}")
    return ({"": node.series[PREFIX + what]} if PREFIX + what in node.series else {}) | named


def _each(
    node: NodeFacts, facts: RunFacts, what: str, limits: LevelLimits, unit: str, *, scale: float = 1.0
) -> RuleResult | None:
    found = {}
    for name, samples in connections(node, what).items():
        scaled = replace(samples, values=samples.values * scale)
        one = judge(scaled, limits, unit=unit, metric=_key(name, what))
        found[name] = one and _without_older(one, scaled, _older(node, facts, name, samples.at), limits)
    return found[""] if list(found) == [""] else worst(found)


def _older(node: NodeFacts, facts: RunFacts, connection: str, at: Floats) -> NDArray[np.bool_]:
    """Whether the replica was still applying writes from before this load: its delay exceeds the load's duration."""
    delay = connections(node, DELAY).get(connection)
    loads = [event.starts_at for event in facts.events if event.kind == "load"]
    began = min(loads, default=facts.measured[0] if facts.measured else 0.0)
    if delay is None:
        return np.zeros(len(at), np.bool_)
    older: NDArray[np.bool_] = held_at(delay, at) > at - began + WHOLE
    return older


def _without_older(
    found: RuleResult, samples: MetricSamples, older: NDArray[np.bool_], limits: LevelLimits
) -> RuleResult:
    """Backlog of an earlier load is "watch", not saturation by this one."""
    if found.level is UseLevel.OK or not older.any():
        return found
    length = format_duration(round(float(steps(samples)[older].sum()), 1))
    words = f"{found.words}; for {length} it was still at what was written before this load"
    own = judge(replace(samples, values=np.where(older, np.nan, samples.values)), limits, unit="")
    is_own = own is not None and own.level is found.level
    return replace(found, level=found.level if is_own else UseLevel.WATCH, words=words)


def _key(connection: str, what: str) -> str:
    return f"{PREFIX}{connection}.{what}" if connection else PREFIX + what


def space(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    """In bytes; judged as a share of relay_log_space_limit if it is set."""
    most = setting(node, "relay_log_space_limit")
    if not most:
        found = _each(node, facts, SPACE, LevelLimits(None, None), "bytes")
        return found and replace(found, words=f"{found.words}; it has no limit of its own")
    found = _each(node, facts, SPACE, SPACE_LIMITS, "%", scale=100 / most)
    if found is None or found.value is None:
        return found
    words = f"{found.words} of relay_log_space_limit = {with_unit(most, 'bytes')}"
    return replace(found, value=found.value * most / 100, words=words, peak=(found.peak or 0.0) * most / 100)


def delay(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    return _each(node, facts, DELAY, LAG_LIMITS, "s")


def behind(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    """Time since the most advanced node was at this one's position. The first known positions count as equal, so that
    the value is the lag added since then."""
    own = node.series.get(POSITION)
    others = [each.series[POSITION] for each in facts.nodes if POSITION in each.series and each.name != node.name]
    paths = [path for samples in others if (path := _path(samples))]
    mine = _path(own) if own is not None else None
    if own is None or mine is None or not paths:
        return None
    seen = ~np.isnan(own.values)
    lags, missing = zip(*(_behind(own.at[seen], mine, path) for path in paths), strict=True)
    seconds = np.full(len(own.at), np.nan)
    seconds[seen] = np.max(lags, axis=0)
    # The delay's metric is linked: no series has the position of two nodes.
    source = next((_key(name, DELAY) for name in connections(node, DELAY)), POSITION)
    found = judge(MetricSamples(own.at, seconds), LAG_LIMITS, unit="s", metric=source)
    if found is None:
        return None
    return replace(
        found, words=f"{found.words}; at most {format_number(round(float(np.max(missing))))} transactions behind"
    )


def _behind(at: Floats, own: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """By how many s, and by how many transactions, a node was behind another `at` these times. Their positions count as
    equal at the other's first sample from the first one of `own` on."""
    their_at, theirs = other
    first = int(np.searchsorted(their_at[SAMPLES], own[0][SAMPLES][0]))
    if first == len(their_at[SAMPLES]):
        return np.zeros(len(at)), np.zeros(len(at))
    mine = np.interp(at, *own) - np.interp(their_at[SAMPLES][first], *own)
    theirs = theirs - theirs[SAMPLES][first]
    last = np.clip(np.searchsorted(theirs, mine, side="right") - 1, 0, len(theirs) - 1)
    after = np.minimum(last + 1, len(theirs) - 1)
    part = (mine - theirs[last]) / np.where(theirs[after] > theirs[last], theirs[after] - theirs[last], np.inf)
    since = their_at[last] + part * (their_at[after] - their_at[last])
    missing = np.maximum(np.interp(at, their_at, theirs) - mine, 0.0)
    return np.where(missing >= 1, np.clip(at - since, 0.0, None), 0.0), missing


def _path(samples: MetricSamples) -> tuple[Floats, Floats] | None:
    """Times and increase of a counter, at the start of each sample's step and at the sample (SAMPLES). What it rose in
    a gap counts for the gap's last step, so that it is never taken to be further than it was."""
    seen = ~np.isnan(samples.values)
    if not seen.any():
        return None
    at, rises = samples.at[seen], (samples.values * intervals(samples))[seen]
    after = np.cumsum(rises)
    times = np.maximum.accumulate(np.ravel(np.column_stack((at - steps(samples)[seen], at))))
    return times, np.ravel(np.column_stack((after - rises, after)))


def waiting(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    return _each(node, facts, BYTES, BYTES_LIMITS, "bytes")


def transactions(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    found = _each(node, facts, TRANSACTIONS, TRANSACTIONS_LIMITS, "transactions")
    if found is None and connections(node, BYTES):
        return RuleResult(UseLevel.NOT_OBSERVABLE, None, "this replica does not replicate by GTID; see the bytes")
    return found


def receiving(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    return _running(node, facts, RECEIVES, "IO")


def applying(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    return _running(node, facts, APPLIES, "SQL")


def _running(node: NodeFacts, facts: RunFacts, what: str, thread: str) -> RuleResult | None:
    """Threads stopped on a server that accepts writes are intended: it was promoted."""
    found: dict[str, RuleResult | None] = {}
    writes = node.series.get(READ_ONLY)
    for name, samples in connections(node, what).items():
        stands = 1.0 - samples.values
        if writes is not None and len(writes.values) == len(stands):
            stands = np.where(writes.values == 0, 0.0, stands)
        one = judge(replace(samples, values=stands), STOPPED, unit="", metric=_key(name, what))
        if one is None:
            continue
        length = sum(end - start for start, end in one.spans)
        words = "it ran all the time" if not np.nansum(stands) else "it was stopped too briefly to matter"
        if one.spans:
            words = " ".join([f"it was stopped {for_and_from(one.spans)}", *_error(node, facts, thread, name)])
        found[name] = replace(one, value=length, words=words, peak=None)
    return found[""] if list(found) == [""] else worst(found)


def _error(node: NodeFacts, facts: RunFacts, thread: str, connection: str) -> Iterable[str]:
    """The replica's error, if it first appeared during the run."""
    what = f"replication {thread} error" + (f" of {connection}" if connection else "")
    own = [event for event in facts.events if event.node == node.name]
    reported = [str(event.detail["to"]) for event in own if _reports(event.detail, what)]
    errors = [text for text in reported if text != "none"]
    return [f"({errors[-1][:120]})"] if errors else []


def _reports(detail: Mapping[str, object], what: str) -> bool:
    found = detail.get("what")
    return isinstance(found, str) and re.fullmatch(re.escape(what), found) is not None and "to" in detail


RESOURCE = Resource(
    key="replication",
    title="asynchronous replication",
    layer="replication",
    question="Does a replica fall behind, or has it stopped?",
    on=on,
    indicators=(
        Indicator(
            key="replication.relay_logs",
            aspect=Aspect.UTILIZATION,
            title="relay logs",
            unit="bytes",
            metrics=(PREFIX + SPACE, f"{PREFIX}*.{SPACE}"),
            formula="Relay_Log_Space, against relay_log_space_limit where it is set",
            limits=f"of relay_log_space_limit: {SPACE_LIMITS.words('%')}; without one, none",
            reason="At the limit the replica stops receiving; changes not received are lost if the source fails.",
            literature="MySQL and MariaDB manuals, relay_log_space_limit",
            sources=SHOWN,
            rule=space,
            asks=ASKS,
        ),
        Indicator(
            key="replication.delay",
            aspect=Aspect.SATURATION,
            title="delay",
            unit="s",
            metrics=(PREFIX + DELAY, f"{PREFIX}*.{DELAY}"),
            formula="Seconds_Behind_Master, in whole seconds; not reported while its threads are stopped",
            limits=f"{LAG_LIMITS.words('s')}; at most watch while it is longer than the load lasts",
            reason="Reads are stale by this time, and a failover waits until it is applied. It is reported in whole "
            "seconds by the source's clock, without changes not yet received. A delay longer than the load belongs to "
            "writes before it.",
            literature=f"{HIGH_PERFORMANCE}, Measuring Replication Lag; MySQL manual, SHOW REPLICA STATUS",
            sources=SHOWN,
            rule=delay,
            asks=ASKS,
        ),
        Indicator(
            key="replication.behind",
            aspect=Aspect.SATURATION,
            title="behind by position",
            unit="s",
            metrics=(POSITION, PREFIX + DELAY, f"{PREFIX}*.{DELAY}"),
            formula="time since the most advanced node had the GTID position that this one has now; the first ones "
            "known in the phase count as equal. The link opens the delay",
            limits=LAG_LIMITS.words("s"),
            reason="It includes changes not received and stopped threads; samples once a second resolve "
            "about a second.",
            literature=f"{HIGH_PERFORMANCE}, Measuring Replication Lag; MariaDB manual, Global Transaction ID",
            sources={MARIADB: "gtid_current_pos or gtid_executed of all nodes"},
            rule=behind,
            asks=ASKS,
        ),
        Indicator(
            key="replication.unapplied",
            aspect=Aspect.SATURATION,
            title="received and not applied",
            unit="bytes",
            metrics=(PREFIX + BYTES, f"{PREFIX}*.{BYTES}"),
            formula="Read_Master_Log_Pos - Exec_Master_Log_Pos, in the same file",
            limits=BYTES_LIMITS.words("bytes"),
            reason="A promotion must apply it first: 1 MiB is thousands of small transactions, 16 MiB seconds of work.",
            literature="MHA documentation, Overview: differences of relay logs are applied before the promotion",
            sources=SHOWN,
            rule=waiting,
            asks=ASKS,
        ),
        Indicator(
            key="replication.unapplied_transactions",
            aspect=Aspect.SATURATION,
            title="transactions received and not applied",
            unit="transactions",
            metrics=(PREFIX + TRANSACTIONS, f"{PREFIX}*.{TRANSACTIONS}", PREFIX + BYTES),
            formula="GTIDs received - GTIDs applied",
            limits=TRANSACTIONS_LIMITS.words("transactions"),
            reason="The same, where it can be counted: a single thread applies some thousand small ones a second.",
            literature="MySQL manual, Replication with Global Transaction Identifiers",
            sources=SHOWN,
            rule=transactions,
            asks=ASKS,
        ),
        Indicator(
            key="replication.receiving",
            aspect=Aspect.ERRORS,
            title="time without receiving",
            unit="s",
            metrics=(PREFIX + RECEIVES, f"{PREFIX}*.{RECEIVES}", READ_ONLY),
            formula="time with Slave_IO_Running other than Yes, while the server is read-only",
            limits=STOPPED.words("").replace(" from 1 on", ""),
            reason="Changes of the source meanwhile exist on no other machine. A server that accepts writes itself was "
            "promoted: its threads are stopped on purpose.",
            literature=f"{HIGH_PERFORMANCE}, Replication Problems and Solutions",
            sources=SHOWN,
            rule=receiving,
            asks=ASKS,
        ),
        Indicator(
            key="replication.applying",
            aspect=Aspect.ERRORS,
            title="time without applying",
            unit="s",
            metrics=(PREFIX + APPLIES, f"{PREFIX}*.{APPLIES}", READ_ONLY),
            formula="time with Slave_SQL_Running other than Yes, while the server is read-only",
            limits=STOPPED.words("").replace(" from 1 on", ""),
            reason="A failed statement stops it until a person intervenes: the replica does not advance.",
            literature=f"{HIGH_PERFORMANCE}, Replication Problems and Solutions",
            sources=SHOWN,
            rule=applying,
            asks=ASKS,
        ),
    ),
)
