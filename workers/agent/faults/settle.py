"""After the load: the affected node returns, all nodes reach sync, and the table is read back."""

import threading
import time
from collections.abc import Mapping

import pymysql

from workers.agent.faults import events, phases, readback
from workers.agent.faults import system as faults_system
from workers.agent.faults.faults import LASTING, Fault, Faulty
from workers.agent.faults.lanes import LoadClock
from workers.agent.faults.record import Record
from workers.agent.faults.system import TABLE, Identity, TargetSystem
from workers.agent.measure.database import error_text
from workers.agent.programs.report import Failed, emit, emit_check

PAUSE = 0.2  # s between polls
SHOWN = 100  # maximum number of inserts or reads in an event


class Settling:
    """`timeout`: deadline in s for the nodes to be in sync; `run` identifies the rows."""

    def __init__(
        self,
        *,
        system: TargetSystem,
        names: Mapping[Identity, str],
        record: Record,
        clock: LoadClock,
        run: str,
        timeout: float,
    ) -> None:
        self._system = system
        self._names = names
        self._record = record
        self._clock = clock
        self._run = run
        self._timeout = timeout

    def settle(self, faulty: Faulty | None, undo_began: float | None) -> dict[str, float]:
        """The counts and the rejoin time. `undo_began`: when the fault was undone under load. Raises Failed."""
        fault = faulty.fault if faulty else None
        starting = None
        if faulty and fault and fault.undo and undo_began is None:
            undo_began = self._clock.now()
            starting = _Starting(faulty, self._timeout)
            starting.start()
        came_back = self._await_in_step(fault, starting)
        values = dict(self._rejoin(fault, undo_began, came_back)) if fault and undo_began is not None else {}
        return values | self._account()

    def _await_in_step(self, fault: Fault | None, starting: "_Starting | None") -> float:
        """The time when every node was in sync with the writer. Raises Failed."""
        deadline = self._clock.now() + self._timeout
        while True:
            reasons = self._out_of_step()
            came_back = self._clock.now()
            if starting and starting.problem:
                raise starting.problem
            if not reasons:
                break
            if came_back > deadline:
                raise Failed(self._words(reasons, fault))
            time.sleep(PAUSE)
        if starting:
            starting.join()
            if starting.problem:
                raise starting.problem
        return came_back

    def _rejoin(self, fault: Fault, began: float, came_back: float) -> Mapping[str, float]:
        """For a fault undone under load, the node's polls give the time of its return."""
        if fault.control in LASTING:
            came_back = phases.rejoined(self._record.states, node=fault.node, since=began, until=came_back)
        return events.report_rejoin(fault.node, began, came_back)

    def _out_of_step(self) -> dict[str, str]:
        """Node -> why it is not in sync; "" stands for the endpoint."""
        try:
            writer = faults_system.writer(self._system, self._names)
            present = readback.read_back(self._system, self._system.endpoint, self._run)
        except (Failed, pymysql.MySQLError, OSError) as error:
            return {"": f"the endpoint does not answer: {error_text(error)}"}
        found = {
            node: readback.out_of_step(self._system, node, self._run, present, is_writer=node == writer)
            for node in self._system.nodes
        }
        return {node: reason for node, reason in found.items() if reason}

    def _words(self, reasons: Mapping[str, str], fault: Fault | None) -> str:
        """The error text, of the affected node if it is among `reasons`."""
        struck = fault.node if fault else ""
        node = struck if struck in reasons else next(iter(reasons))
        start = self._system.controls.get(node or struck, {}).get("start") or (fault.undo if fault else ())
        remedy = f"run: {' '.join(start)}" if start else "restore it manually"
        who = f"node {node}" if node else "the system"
        return f"{who} is not in sync {self._timeout:g} s after the load: {reasons[node]}; {remedy}"

    def _account(self) -> dict[str, float]:
        """The counts, checked against the table. Raises pymysql.MySQLError or OSError."""
        endpoint, t = self._system.endpoint, round(self._clock.now(), 4)
        outcomes = [(one.sequence, one.error is None) for one in self._record.inserts]
        found = readback.account(outcomes, readback.read_back(self._system, endpoint, self._run))
        statement = f"SELECT COUNT(*) FROM `{self._system.schema}`.`{TABLE}` WHERE run = %s"  # noqa: S608
        rows = int(self._system.ask(endpoint, statement, self._run, timeout=readback.READ_TIMEOUT)[0][0])
        detail = {
            "missing": found.missing[:SHOWN],
            "failed_present": found.failed_present[:SHOWN],
            "duplicated": found.twice[:SHOWN],
        }
        emit("event", event="read_back", label=found.words(), **{"from": t}, node="client", detail=detail)
        held = rows == found.expected() and not found.unknown
        label = f"the table holds {rows} rows of this run; by the counts it is {found.expected()}"
        emit_check("read_back", t=t, held=held, label=label, expected=found.expected(), found=rows)
        emit_check("in_step", t=t, held=True, label=f"the same rows are on {', '.join(self._system.nodes)}")
        return {
            "failover.acknowledged_missing": len(found.missing),
            "failover.failed_present": len(found.failed_present),
            "failover.duplicated": found.duplicated,
        }


class _Starting(threading.Thread):
    """Undoes the fault while the main thread polls whether the node is in sync."""

    def __init__(self, faulty: Faulty, timeout: float) -> None:
        super().__init__(name="start", daemon=True)
        self.problem: Failed | None = None
        self._faulty = faulty
        self._timeout = timeout

    def run(self) -> None:
        try:
            self._faulty.undo(timeout=self._timeout)
        except Failed as problem:
            self.problem = problem
