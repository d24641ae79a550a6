"""After the load: the affected node returns, all nodes reach sync, and the table is read back."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

import pymysql

from workers.agent.faults import events, phases, readback
from workers.agent.faults import system as faults_system
from workers.agent.faults.faults import Fault, Faulty, run
from workers.agent.faults.lanes import LoadClock
from workers.agent.faults.onward import Onward
from workers.agent.faults.readback import Row, WriteAccount
from workers.agent.faults.record import Record
from workers.agent.faults.system import TABLE, NodeNames, TargetSystem
from workers.agent.faults.transfer import ErrorLog
from workers.agent.measure.database import error_text
from workers.agent.programs.report import Failed, emit, emit_check

PAUSE = 0.2  # s between polls
SHOWN = 100  # maximum number of inserts or reads in an event


class Settling:
    """`timeout`: deadline in s for the nodes to be in sync; `run` identifies the rows; `interval`: of inserts, s."""

    def __init__(
        self,
        *,
        system: TargetSystem,
        names: NodeNames,
        record: Record,
        clock: LoadClock,
        run: str,
        timeout: float,
        interval: float,
        log: ErrorLog | None,
    ) -> None:
        self._system = system
        self._names = names
        self._record = record
        self._clock = clock
        self._run = run
        self._timeout = timeout
        self._interval = interval
        self._log = log  # of the struck node
        self._own: Counter[Row] | None = None  # rows of the old source before it follows its successor

    def settle(self, faulty: Faulty | None, undo_began: float | None, onward: Onward | None) -> dict[str, float]:
        """The counts, the rejoin time and what it cost. `undo_began`: when the fault was undone under load; `onward`:
        started; None: without a fault. Raises Failed."""
        fault = faulty.fault if faulty else None
        repair = None
        if faulty and fault and fault.undo and undo_began is None:
            repair = _Repair(partial(self._restore, faulty), self._clock.now())
        try:
            repair, came_back = self._await_in_step(fault, repair, below=onward.first if onward else readback.EVERY)
        except Failed:
            if onward:
                onward.stop()
            raise
        if onward:
            onward.finish()
        values: Mapping[str, float] = {}
        began = repair.began if repair else undo_began
        if fault and began is not None:
            if not repair:
                # It returned by itself, under load: its polls have the time.
                came_back = phases.rejoined(self._record.states, node=fault.node, since=began, until=came_back)
            values = events.report_rejoin(fault.node, began, came_back)
            if self._log and (transfer := self._log.transfer()):
                events.report_transfer(fault.node, transfer, began, came_back)
            if onward:
                values = {**values, **events.report_price(fault.node, onward.gap(began), interval=self._interval)}
        if onward:
            # With the rows that were written meanwhile.
            self._await_in_step(None, None)
        return {**values, **self._account(fault, is_repaired=repair is not None or undo_began is not None)}

    def _restore(self, faulty: Faulty) -> None:
        """Raises Failed."""
        fault = faulty.fault
        alone = self._system.controls.get(fault.node, {}).get("start_alone")
        if alone and fault.role == "writer":
            run(alone, f"node {fault.node} could not be started alone", self._timeout)
            self._own = readback.own_rows(self._system, fault.node, self._run)
        faulty.undo(timeout=self._timeout)

    def _await_in_step(
        self, fault: Fault | None, repair: "_Repair | None", *, below: int = readback.EVERY
    ) -> "tuple[_Repair | None, float]":
        """The repair, if one was needed, and when every node was in sync with the writer as to the rows of numbers
        under `below`. Raises Failed."""
        deadline = self._clock.now() + self._timeout
        while True:
            reasons = self._out_of_step(below)
            came_back = self._clock.now()
            if repair:
                repair.check()
            if not reasons:
                break
            if came_back > deadline:
                raise Failed(self._words(reasons, fault))
            if fault and not repair and reasons.get(fault.node) == readback.NO_SOURCE:
                repair = self._repair_of_replaced(fault.node)
            time.sleep(PAUSE)
        if repair:
            repair.join()
            repair.check()
        return repair, came_back

    def _repair_of_replaced(self, node: str) -> "_Repair | None":
        """Of a writer that was replaced while it was frozen or cut off: it would stay a second one for good."""
        self._own = readback.own_rows(self._system, node, self._run)
        start = self._system.controls.get(node, {}).get("start")
        problem = f"node {node}, which was replaced, could not be made a replica"
        return _Repair(partial(run, start, problem, self._timeout), self._clock.now()) if start else None

    def _out_of_step(self, below: int) -> dict[str, str]:
        """Node -> why it is not in sync; "" stands for the endpoint."""
        try:
            writer = faults_system.writer(self._system, self._names)
            present = readback.read_back(self._system, self._system.endpoint, self._run, below=below)
        except (Failed, pymysql.MySQLError, OSError) as error:
            return {"": f"the endpoint does not answer: {error_text(error)}"}
        found = {
            node: readback.out_of_step(self._system, node, self._run, present, is_writer=node == writer, below=below)
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

    def _account(self, fault: Fault | None, *, is_repaired: bool) -> dict[str, float]:
        """The counts, checked against the table. Raises Failed, pymysql.MySQLError or OSError."""
        endpoint, t = self._system.endpoint, round(self._clock.now(), 4)
        attempts = [*self._record.inserts, *self._record.onward]
        outcomes = [(one.sequence, one.error is None) for one in attempts]
        found = readback.account(outcomes, readback.read_back(self._system, endpoint, self._run))
        statement = f"SELECT COUNT(*) FROM `{self._system.schema}`.`{TABLE}` WHERE run = %s"  # noqa: S608
        rows = int(self._system.ask(endpoint, statement, self._run, timeout=readback.READ_TIMEOUT)[0][0])
        errant = self._errant(fault, is_repaired=is_repaired)
        detail = {
            "missing": found.missing[:SHOWN],
            "errant": sorted(errant.elements())[:SHOWN] if errant is not None else [],
            "failed_present": found.failed_present[:SHOWN],
            "duplicated": found.twice[:SHOWN],
        }
        label = found.words() + _errant_words(fault, errant, found)
        emit("event", event="read_back", label=label, **{"from": t}, node="client", detail=detail)
        held = rows == found.expected() and not found.unknown
        label = f"the table holds {rows} rows of this run; by the counts it is {found.expected()}"
        emit_check("read_back", t=t, held=held, label=label, expected=found.expected(), found=rows)
        emit_check("in_step", t=t, held=True, label=f"the same rows are on {', '.join(self._system.nodes)}")
        values: dict[str, float] = {
            "failover.acknowledged_missing": len(found.missing),
            "failover.failed_present": len(found.failed_present),
            "failover.duplicated": found.duplicated,
        }
        return values if errant is None else {**values, "failover.errant_rows": errant.total()}

    def _errant(self, fault: Fault | None, *, is_repaired: bool) -> Counter[int] | None:
        """Rows that only the old source had, by the client's number; None: not known. Raises Failed,
        pymysql.MySQLError or OSError."""
        if fault is None or fault.role == "reader":
            return None
        if self._own is not None:
            return readback.errant(self._own, readback.rows_of(self._system, self._system.endpoint, self._run))
        if fault.control == "switch" and not is_repaired:
            return Counter()  # every node has the same rows, and none got another's data
        is_source = readback.has_no_source(self._system, fault.node)
        is_writer = faults_system.writer(self._system, self._names) == fault.node
        return Counter() if is_source and is_writer else None  # nobody took over


def _errant_words(fault: Fault | None, errant: Counter[int] | None, found: WriteAccount) -> str:
    if fault is None or fault.role == "reader":
        return ""
    if errant is None:
        return f"; rows that only {fault.node} had: not known"
    acknowledged = sum(rows for number, rows in errant.items() if number in found.acknowledged)
    return f"; {errant.total()} rows only on {fault.node}, the old source, {acknowledged} of them acknowledged"


class _Repair(threading.Thread):
    """Repairs the node while the main thread polls whether it is in sync."""

    def __init__(self, act: Callable[[], None], began: float) -> None:
        super().__init__(name="repair", daemon=True)
        self.began = began
        self._act = act
        self._problem: Failed | None = None
        self.start()

    def run(self) -> None:
        try:
            self._act()
        except Failed as problem:
            self._problem = problem

    def check(self) -> None:
        """Raises Failed if it did not work."""
        if self._problem:
            raise self._problem
