"""One failover from the events of its run, and the summary of several. Pure.

Times are s after the fault unless stated otherwise; docs/reference/failover.md defines each phase and each count.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from apps.core.answers import Hidden, OneOf, Seconds, component
from apps.runs.pure import RDS_CLOCK, RunEvent

# Kinds of the probe's events.
FAULT, OUTAGE, DETECT, PROMOTION, RECOVERED = "fault", "outage", "detect", "promotion", "recovered"
BASELINE, REJOIN, PROXY, READ_BACK, STALE, CHECK = "baseline", "rejoin", "proxy", "read_back", "stale_reads", "check"
BEGUN, TRANSFER = "node_state", "state_transfer"
KINDS = (FAULT, OUTAGE, DETECT, PROMOTION, RECOVERED, BASELINE, REJOIN, PROXY, READ_BACK, STALE, CHECK, BEGUN, TRANSFER)
# Label prefix in older reports of the probe, whose events lack a field for it.
NOT_RECOVERED = "not recovered"
# A delayed probe observes less than a client would: its outage does not count.
SCHEDULE = "schedule"
COUNTS = {
    "lost": "failover.acknowledged_missing",
    "errant": "failover.errant_rows",
    "duplicated": "failover.duplicated",
    "failed_present": "failover.failed_present",
    "stale": "failover.stale_reads",
    "errors": "failover.errors",
}
# Phase -> metric, event that ends it, name.
PHASES = {
    "detect": ("failover.detect", DETECT, "noticed"),
    "promote": ("failover.promote", PROMOTION, "writer ready"),
    "client": ("failover.client_recovered", RECOVERED, "first write"),
    "baseline": ("failover.baseline", "", "back to baseline"),
}
REACHED = "by phase: s after the fault; null: not reached, not reported, or not needed"


@dataclass(frozen=True)
class TrialPhase:
    """Part of a failover, from the end of the previous phase."""

    key: Annotated[str, OneOf(PHASES)]
    name: Hidden[str]
    start: Annotated[Seconds, "s after the fault"]
    end: Seconds
    words: Annotated[str, "event that ended the phase, and the evidence for it"]


@dataclass(frozen=True)
class Insert:
    number: Annotated[int, "of the insert within its run"]
    due: Annotated[Seconds | None, "s after the fault; before it: negative"]


@dataclass(frozen=True)
class StaleRead:
    """At `place` (a node, or the endpoint) an acknowledged insert was not visible."""

    place: Annotated[str, "node, or endpoint"]
    number: Annotated[int, "of the acknowledged insert that was not visible"]
    at: Annotated[Seconds, "s after the fault"]


@component(text="The first hundred of each.")
@dataclass(frozen=True)
class WriteRows:
    """The writes and reads behind the counts, as far as the run's report lists them (the first hundred of each)."""

    lost: tuple[Insert, ...] = ()
    errant: tuple[Insert, ...] = ()
    duplicated: tuple[Insert, ...] = ()
    failed_present: tuple[Insert, ...] = ()
    stale: tuple[StaleRead, ...] = ()


@component(text="How a Galera node got its state when it came back, by its error log and its files.")
@dataclass(frozen=True)
class RejoinTransfer:
    kind: Annotated[str, "whole (SST), incremental (IST) or none"]
    method: Annotated[str, "of a whole one, such as rsync; empty: not reported"]
    file_bytes: Annotated[int | None, "of a whole one: size of the files that it wrote; null: not known"]
    writesets: Annotated[int, "of an incremental one, which may follow a whole one"]
    received_bytes: Annotated[int | None, "from the group since the node's start, without the transfer"]
    words: str


@dataclass(frozen=True)
class Course:
    """`outage`: longest time without an acknowledged write; `recovered`: it ended. `proxy`: when the proxy acted.
    `late`: the probe was delayed."""

    at: Annotated[Seconds, "the fault, s on the run's clock"]
    words: str
    node: Annotated[str, "affected by the fault; empty: none"]
    outage: Annotated[Seconds | None, "s; if it did not end, its length so far; null: not reported"]
    recovered: bool
    interrupted: Annotated[bool, "false: no longer than the usual time between two writes"]
    watched: Annotated[Seconds, "s after the fault for which the probe is known to have run"]
    phases: tuple[TrialPhase, ...]
    reached: Annotated[Mapping[str, Seconds], REACHED]
    rejoin: Annotated[Seconds | None, "s from the restart, thaw or reconnection of the affected node"]
    rejoin_outage: Annotated[
        Seconds | None, "s; longest time without an acknowledged write while the affected node came back"
    ]
    transfer: Annotated[RejoinTransfer | None, "null: not a Galera node, or its log could not be read"]
    proxy: Annotated[Seconds | None, "s after the fault; the proxy marked the node down or was switched"]
    proxy_words: str
    proxy_checks: Annotated[Mapping[str, str], "settings of the proxy's checks"]
    counts: Annotated[Mapping[str, int | None], f"{', '.join(COUNTS)}; null: not read back"]
    rows: Annotated[WriteRows, "the writes and reads behind the counts"]
    late: Hidden[bool]

    @property
    def not_recovered(self) -> bool:
        return self.outage is not None and not self.recovered


def course(
    events: Iterable[RunEvent], values: Mapping[str, float], *, rate: float = 0.0, offset: float = 0.0
) -> Course | None:
    """`values`: the run's measurements by metric, empty for a run that broke off; `rate`: inserts/s; `offset`: start
    of the probe's clock, s on the run's. None: no fault was reported."""
    first: dict[str, RunEvent] = {}
    late = False
    # RDS's journal tells when a failover began, too: it explains a phase only where nothing else does.
    for event in sorted(events, key=lambda event: (event.detail.get("clock") == RDS_CLOCK, event.starts_at)):
        first.setdefault(event.kind, event)
        late = late or (event.kind == CHECK and event.detail.get("check") == SCHEDULE and not event.detail.get("held"))
    if FAULT not in first:
        return None
    fault, gap = first[FAULT], first.get(OUTAGE)
    at = fault.starts_at
    recovered = gap is not None and gap.detail.get("recovered", not gap.label.startswith(NOT_RECOVERED))
    ends = {kind: event.ends_at - at for kind, event in first.items() if event.ends_at is not None}
    reached = {
        key: values[metric] if metric in values else ends[kind]
        for key, (metric, kind, _) in PHASES.items()
        if metric in values or kind in ends
    }
    outage = None
    if gap is not None and gap.ends_at is not None:
        outage = values.get("failover.outage", gap.ends_at - gap.starts_at)
    begun, proxy = first.get(BEGUN), first.get(PROXY)
    checks = begun.detail.get("proxy") if begun else None
    rejoin = first.get(REJOIN)
    return Course(
        at=at,
        words=fault.label,
        node=fault.node,
        outage=outage,
        recovered=recovered,
        interrupted="client" in reached or not recovered,
        watched=max([0.0, *(ends[kind] for kind in (OUTAGE, BASELINE) if kind in ends)]),
        phases=tuple(_phases(reached, first, since=max(0.0, gap.starts_at - at) if gap else 0.0)),
        reached=reached,
        rejoin=values.get("failover.rejoin", _length(rejoin) if rejoin else None),
        rejoin_outage=values.get("failover.rejoin_outage"),
        transfer=_transfer(first[TRANSFER]) if TRANSFER in first else None,
        proxy=ends.get(PROXY),
        proxy_words=proxy.label if proxy else "",
        proxy_checks=checks if isinstance(checks, Mapping) else {},
        counts={key: int(values[metric]) if metric in values else None for key, metric in COUNTS.items()},
        rows=_rows(first, rate=rate, offset=offset, at=at),
        late=late,
    )


def _transfer(event: RunEvent) -> RejoinTransfer:
    """Older reports have no method and no size of files."""
    detail = event.detail
    return RejoinTransfer(
        kind=str(detail.get("transfer", "")),
        method=str(detail.get("method") or ""),
        file_bytes=detail.get("file_bytes"),
        writesets=int(detail.get("writesets") or 0),
        received_bytes=detail.get("received_bytes"),
        words=event.label,
    )


def _length(event: RunEvent) -> float | None:
    return None if event.ends_at is None else event.ends_at - event.starts_at


def _phases(reached: Mapping[str, float], first: Mapping[str, RunEvent], *, since: float) -> Iterable[TrialPhase]:
    """The phases reached, in order; a phase that ended before its predecessor has length 0. `since`: start of the
    outage: a node that is stopped or switched may serve for a while after the control action began."""
    before = since
    for key, (_, kind, name) in PHASES.items():
        if key not in reached:
            continue
        end = max(before, reached[key])
        event = first.get(kind or key)
        yield TrialPhase(key, name, before, end, event.label if event else name)
        before = end


def _rows(first: Mapping[str, RunEvent], *, rate: float, offset: float, at: float) -> WriteRows:
    def inserts(key: str) -> tuple[Insert, ...]:
        numbers = first[READ_BACK].detail.get(key, ()) if READ_BACK in first else ()
        return tuple(Insert(number, number / rate + offset - at if rate else None) for number in numbers)

    stale = first[STALE].detail.get("reads", ()) if STALE in first else ()
    return WriteRows(
        lost=inserts("missing"),
        errant=inserts("errant"),
        duplicated=inserts("duplicated"),
        failed_present=inserts("failed_present"),
        stale=tuple(StaleRead(str(place), int(number), t + offset - at) for place, number, t in stale),
    )


@dataclass(frozen=True)
class TrialSpread:
    """Median, minimum and maximum of `count` values, s."""

    count: Annotated[int, "trials with a value"]
    median: Seconds
    low: Seconds
    high: Seconds


def spread(values: Iterable[float | None]) -> TrialSpread | None:
    known = [value for value in values if value is not None]
    return TrialSpread(len(known), statistics.median(known), min(known), max(known)) if known else None


@component(
    text="Write downtime: seconds without an acknowledged write. An unended outage counts as longer than any other."
)
@dataclass(frozen=True)
class Interruption:
    """An outage that did not end counts as longer than any that did. `watched`: shortest observation of those."""

    trials: Annotated[int, "number of trials that count"]
    median: Annotated[Seconds | None, "null: it falls on a trial that did not recover"]
    low: Annotated[Seconds | None, "of those that recovered"]
    high: Seconds | None
    not_recovered: int
    watched: Annotated[Seconds | None, "s; shortest outage observed among those that did not recover"]


def interruption(courses: Sequence[Course]) -> Interruption:
    ended = sorted(one.outage for one in courses if one.outage is not None and one.recovered)
    open_ends = [one.outage for one in courses if one.outage is not None and not one.recovered]
    trials = len(ended) + len(open_ends)
    middle = [place for place in ((trials - 1) // 2, trials // 2) if trials]
    is_known = bool(middle) and middle[-1] < len(ended)
    return Interruption(
        trials=trials,
        median=statistics.mean(ended[place] for place in middle) if is_known else None,
        low=ended[0] if ended else None,
        high=ended[-1] if ended else None,
        not_recovered=len(open_ends),
        watched=min(open_ends, default=None),
    )
