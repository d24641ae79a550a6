"""Prints the phases of a failover as events and returns its figures. Times in s on the probe's clock."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workers.agent.faults import phases
from workers.agent.faults.faults import Fault
from workers.agent.faults.phases import Gap, PhaseMoment, SteadyState
from workers.agent.faults.record import Record
from workers.agent.faults.transfer import StateTransfer
from workers.agent.programs.report import emit

UNFORESEEN = ("kill", "freeze", "cut", "stop", "crash")  # unplanned faults, which the system must detect


@dataclass(frozen=True)
class InjectedFault:
    """The injected fault, and when its control ran."""

    fault: Fault
    began: float
    ended: float


def phase_values(
    record: Record, struck: InjectedFault | None, *, warmup: float, interval: float, rule: SteadyState
) -> dict[str, float]:
    """The values of `failover.*`; a phase that was not reached has no value, only an event."""
    writes, states = record.writes(), sorted(record.states, key=lambda state: state.t)
    until = max((write.due for write in writes), default=0.0)
    at = warmup
    if struck:
        at = phases.moment(struck.fault.control, struck.began, struck.ended, states, struck.fault.node)
        _event("fault", struck.fault.words(), at, struck.ended, struck.fault.node, control_from=round(struck.began, 4))
    gap = phases.outage(writes, fault=at, start=0.0, until=until)
    if gap is None:
        return {}
    cut_off = phases.is_interruption(gap, writes, fault=at, start=warmup, interval=interval)
    shown = {"recovered": gap.end is not None, "interrupted": cut_off}
    _event("outage", _outage_words(gap, cut_off=cut_off), gap.start, gap.end or gap.until, "client", **shown)
    values = {"failover.outage": gap.length} if gap.end is not None else {}
    if not struck:
        return values
    if moved := phases.proxy_acted(record.proxy, fault=at, struck=struck.fault.node):
        _event("proxy", moved.text, at, moved.t)
    found = None
    if struck.fault.control in UNFORESEEN:
        found = phases.detected(
            fault=at,
            states=states,
            manager=record.manager,
            proxy=record.proxy,
            errors=record.errors(),
            struck=struck.fault.node,
        )
        if found:
            values["failover.detect"] = found.t - at
            _event("detect", _noticed_words(found, at), at, found.t, evidence=found.evidence)
        else:
            _event("detect", "the fault was not detected", at, None)
    if gap.end is None or not cut_off:
        return values
    return values | _recovery(record, gap.end, at=at, noticed=found.t if found else at, warmup=warmup, rule=rule)


def _recovery(
    record: Record, recovered: float, *, at: float, noticed: float, warmup: float, rule: SteadyState
) -> dict[str, float]:
    writes, states = record.writes(), sorted(record.states, key=lambda state: state.t)
    writer = next((write.server for write in writes if write.ok and write.end == recovered), "")
    values = {"failover.client_recovered": recovered - at}
    promoted = phases.promoted(fault=at, recovered=recovered, states=states, writer=writer)
    if promoted:
        values["failover.promote"] = promoted.t - at
        _event("promotion", promoted.text, min(noticed, promoted.t), promoted.t, writer)
    words = f"first write acknowledged by {writer}, {recovered - at:.2f} s after the fault"
    _event("recovered", words, promoted.t if promoted else min(noticed, recovered), recovered, writer)
    until = max(write.due for write in writes)
    back = phases.baseline(writes, since=warmup, fault=at, recovered=recovered, until=until, rule=rule)
    if back is None:
        _event("baseline", f"not back to baseline for {rule.seconds} s in a row before the end", recovered, until)
    else:
        values["failover.baseline"] = back - at
        _event("baseline", f"back to baseline {back - at:.2f} s after the fault", recovered, back)
    return values


def _noticed_words(found: PhaseMoment, at: float) -> str:
    words = f"detected by the {found.evidence}: {found.text}"
    return words if found.suspected is None else f"{words}; its first sign {found.suspected - at:.2f} s after the fault"


def _outage_words(gap: Gap, *, cut_off: bool) -> str:
    if gap.end is None:
        return f"not recovered: no write acknowledged from {gap.start:.2f} s to the probe's end, {gap.length:.2f} s"
    if not cut_off:
        return f"no interruption: the longest time without an acknowledged write was {gap.length:.3f} s"
    return f"no write acknowledged for {gap.length:.2f} s"


def report_rejoin(node: str, began: float, ended: float) -> Mapping[str, float]:
    _event("rejoin", f"{node} is in sync again, {ended - began:.2f} s after its repair", began, ended, node)
    return {"failover.rejoin": ended - began}


def report_transfer(node: str, transfer: StateTransfer, began: float, ended: float) -> None:
    shown = {"transfer": transfer.kind, "writesets": transfer.writesets, "received_bytes": transfer.received}
    shown |= {"method": transfer.method, "file_bytes": transfer.files}
    _event("state_transfer", transfer.words(node), began, ended, node, **shown)


def report_price(node: str, gap: Gap | None, *, interval: float) -> Mapping[str, float]:
    """What the return of the node cost the clients. `gap`: the longest between acknowledged writes meanwhile."""
    if gap is None:
        return {}
    if gap.length <= phases.INTERVALS * interval:
        words = f"no interruption while {node} came back: the longest time without an acknowledged write was "
        _event("rejoin_outage", f"{words}{gap.length:.3f} s", gap.start, gap.end or gap.until, "client")
    else:
        words = f"no write acknowledged for {gap.length:.2f} s while {node} came back"
        _event("rejoin_outage", words, gap.start, gap.end or gap.until, "client", interrupted=True)
    return {"failover.rejoin_outage": gap.length} if gap.end is not None else {}


def _event(kind: str, label: str, start: float, end: float | None, node: str = "", **detail: Any) -> None:
    ends = {} if end is None else {"to": round(max(start, end), 4)}
    emit("event", event=kind, label=label, **{"from": round(start, 4)}, **ends, node=node, detail=detail)
