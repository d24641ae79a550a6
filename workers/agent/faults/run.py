"""One run of the probe: insert and read lanes, watches of every node, manager and proxy, the fault, the report."""

import math
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any

import pymysql
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from workers.agent.faults import events, faults, system
from workers.agent.faults.faults import Faulty
from workers.agent.faults.lanes import Attempt, Lane, LoadClock
from workers.agent.faults.onward import Onward
from workers.agent.faults.phases import SteadyState
from workers.agent.faults.record import Record
from workers.agent.faults.settle import SHOWN, Settling
from workers.agent.faults.system import TABLE
from workers.agent.faults.transfer import ErrorLog
from workers.agent.faults.watch import ManagerWatch, NodeWatch, ProxyWatch
from workers.agent.measure.database import error_text
from workers.agent.programs import grid
from workers.agent.programs.order import Order
from workers.agent.programs.report import emit, emit_begin, emit_check

MOST_LATE = 1.0  # s that an insert may start late
UPTIME = "SHOW GLOBAL STATUS LIKE 'Uptime'"


class ProbeRun:
    def __init__(self, order: Order) -> None:
        """Raises Failed when the system is not ready for a fault."""
        self.order = order
        self.chosen: Mapping[str, Any] = order.parameters
        self.system = system.read(order.secrets_file)
        self.until = order.warmup + order.duration
        self.id = secrets.token_hex(8)
        self.names = system.node_names(self.system)
        self.writer = system.writer(self.system, self.names)
        readers = [node for node in self.system.nodes if node != self.writer]
        self.fault = faults.plan(self.chosen["fault"], system=self.system, writer=self.writer, readers=readers)
        if self.fault:
            faults.await_ready(self.system)
        self.record = Record()
        self.last: tuple[int, int] | None = None  # number and id of the last acknowledged row
        self.log = ErrorLog(self.system, self.fault.node) if self.fault and self.fault.node else None

    def perform(self) -> None:
        """Raises Failed."""
        clock = LoadClock()
        settling = Settling(
            system=self.system,
            names=self.names,
            record=self.record,
            clock=clock,
            run=self.id,
            timeout=self.chosen["rejoin_timeout"],
            interval=1 / self.chosen["rate"],
            log=self.log,
        )
        with ExitStack() as stack:
            lanes = [self._insert_lane(clock), *self._read_lanes(clock)]
            watches = self._watches(clock, stack)
            for lane in lanes:
                lane.warm()
            # Exited first: a program being stopped has little time.
            struck_file = self.order.work / faults.STRUCK
            faulty = stack.enter_context(Faulty(self.fault, self.system, struck_file)) if self.fault else None
            clock.begin()
            emit_begin("failover")
            label = f"{self.writer} is the writer"
            emit(
                "event",
                event="node_state",
                label=label,
                **{"from": 0.0},
                node=self.writer,
                detail={"run": self.id, "began_at": round(time.time(), 3), "proxy": dict(self.system.proxy_settings)},
            )
            for watch in watches:
                watch.start()
            struck, undo_began = self._load(clock, lanes, faulty)
            values = self._story(struck)
            onward = self._onward(clock) if faulty and (faulty.fault.undo or undo_began is not None) else None
            values |= settling.settle(faulty, undo_began, onward)
            if struck and struck.fault.control == "crash":
                self._check_restart(clock, struck)
        self._check_schedule()
        self._total(values)
        emit("end")

    def _load(
        self, clock: LoadClock, lanes: list[Lane], faulty: Faulty | None
    ) -> tuple[events.InjectedFault | None, float | None]:
        """Returns the fault and, if it was undone under load, when. Raises Failed."""
        for lane in lanes:
            lane.start(self.until)
        reporting = threading.Thread(target=self._report, args=(clock,), name="report", daemon=True)
        reporting.start()
        struck, undo_began = self._strike(clock, faulty) if faulty else (None, None)
        clock.sleep_until(self.until)
        for lane in lanes:
            lane.finish()
        reporting.join()
        return struck, undo_began

    def _story(self, struck: events.InjectedFault | None) -> dict[str, float]:
        rule = SteadyState(
            seconds=self.chosen["baseline_seconds"],
            share=self.chosen["baseline_share"],
            latency=self.chosen["baseline_latency"],
        )
        interval = 1 / self.chosen["rate"]
        return events.phase_values(self.record, struck, warmup=self.order.warmup, interval=interval, rule=rule)

    # ------------------------------------------------------------ load

    def _insert_lane(self, clock: LoadClock, record: Callable[[Attempt], None] | None = None) -> Lane:
        return self._lane(
            clock,
            rate=self.chosen["rate"],
            retries=self.chosen["retries"],
            act=self._insert,
            record=record or self.record.insert,
        )

    def _onward(self, clock: LoadClock) -> Onward | None:
        """Writes while the struck node comes back; None: the endpoint takes none."""
        found = Onward(clock, self.record, partial(self._insert_lane, clock), self.chosen["rate"])
        try:
            found.start(self.until)
        except (pymysql.MySQLError, OSError) as error:
            words = f"no writes while {self.writer} comes back: {error_text(error)}"
            emit("event", event="warning", label=words, **{"from": round(clock.now(), 4)}, node="client")
            return None
        return found

    def _read_lanes(self, clock: LoadClock) -> list[Lane]:
        rate = self.chosen["read_rate"]
        if not rate:
            return []
        places = {"endpoint": self.system.endpoint, **self.system.nodes}
        return [
            self._lane(clock, rate=rate, act=self._read, record=partial(self.record.read, place), address=address)
            for place, address in places.items()
        ]

    def _lane(self, clock: LoadClock, **more: Any) -> Lane:
        defaults = {"address": self.system.endpoint, "timeout": self.chosen["timeout"], "names": self.names}
        return Lane(system=self.system, clock=clock, **(defaults | more))

    def _insert(self, connection: "Connection[Cursor]", sequence: int, worker: int) -> Mapping[str, int | bool]:
        with connection.cursor() as cursor:
            statement = f"INSERT INTO `{self.system.schema}`.`{TABLE}` (run, seq, worker) VALUES (%s, %s, %s)"  # noqa: S608
            cursor.execute(statement, (self.id, sequence, worker))
            self.last = sequence, cursor.lastrowid
            return {"id": cursor.lastrowid}

    def _read(self, connection: "Connection[Cursor]", *_: int) -> Mapping[str, int | bool]:
        """A read is stale when it misses a row acknowledged before it began."""
        if self.last is None:
            return {}
        sequence, row = self.last
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT run, seq FROM `{self.system.schema}`.`{TABLE}` WHERE id = %s", (row,))  # noqa: S608
            return {"row": sequence, "stale": cursor.fetchone() != (self.id, sequence)}

    def _watches(self, clock: LoadClock, stack: ExitStack) -> list[NodeWatch | ManagerWatch | ProxyWatch]:
        """Watches of every node, the manager and the proxy, ready to start; `stack` stops them."""
        nodes = [NodeWatch(self.system, node, clock, self.record.state) for node in self.system.nodes]
        for node in nodes:
            node.warm()
        watches: list[NodeWatch | ManagerWatch | ProxyWatch] = [*nodes]
        if argv := self.system.controls.get("", {}).get("watch"):
            watches.append(ManagerWatch(argv, clock, self.record.add_manager_sign))
        if self.system.proxy:
            watches.append(ProxyWatch(self.system.proxy, clock, self.record.add_proxy_sign))
        for watch in watches:
            stack.callback(watch.stop)
        return watches

    # ------------------------------------------------------------ fault

    def _strike(self, clock: LoadClock, faulty: Faulty) -> tuple[events.InjectedFault, float | None]:
        """Injects the fault on schedule; undoes a lasting fault under load and returns when the undoing began."""
        clock.sleep_until(self.order.warmup + self.chosen["fault_at"])
        if self.log:
            self.log.mark()
        began = clock.now()
        faulty.strike()
        struck = events.InjectedFault(faulty.fault, began, clock.now())
        emit("probe", what="fault", label=struck.fault.words(), start=round(began, 5), end=round(struck.ended, 5))
        if faulty.fault.control not in faults.LASTING:
            return struck, None
        clock.sleep_until(struck.ended + self.chosen["hold"])
        undo_began = clock.now()
        faulty.undo(timeout=self.chosen["rejoin_timeout"])
        return struck, undo_began

    def _check_restart(self, clock: LoadClock, struck: events.InjectedFault) -> None:
        """Checks that the crashed server began anew. Raises pymysql.MySQLError or OSError."""
        node = struck.fault.node
        ((_, value),) = self.system.ask(self.system.nodes[node], UPTIME, timeout=system.ASK_TIMEOUT)
        uptime, since = int(value), clock.now() - struck.began
        held = uptime <= since + 1  # whole seconds
        outcome = "restarted" if held else "did not restart"
        label = f"the server of {node} {outcome}: it has run for {uptime} s, {since:.0f} s after the fault"
        emit_check("restarted", t=clock.now(), held=held, label=label, expected=round(since, 1), found=uptime)

    # ------------------------------------------------------------ report

    def _report(self, clock: LoadClock) -> None:
        """Prints one line per second. Operations missing from the last lines are in the totals."""
        second = 0
        while second < self.until:
            clock.sleep_until(second + 1)
            inserts, reads = self.record.ended(second, second + 1)
            values = latencies([one for one in inserts if one.error is None])
            counts = counts_of(inserts, reads)
            emit("interval", t=second + 1, seconds=1, counts=counts, values={"latency.p95": values.get("latency.p95")})
            second += 1

    def _check_schedule(self) -> None:
        """Checks for late inserts: a delayed open loop does not measure the client's view."""
        sent = [one for one in self.record.inserts if one.sent and one.number == 1]
        late = max((one.start - one.due for one in sent), default=0.0)
        label = f"the latest insert was sent {late:.3f} s after it was due; at most {MOST_LATE:g} s is allowed"
        emit_check(
            "schedule", t=self.until, held=late <= MOST_LATE, label=label, expected=MOST_LATE, found=round(late, 4)
        )

    def _total(self, values: Mapping[str, float]) -> None:
        since, until = self.order.warmup, self.until
        inserts = [one for one in self.record.inserts if since <= one.due < until]
        reads = [one for _, one in self.record.reads if since <= one.due < until]
        stale = Counter(place for place, _ in self.record.stale(since, until))
        figures = {
            **latencies([one for one in inserts if one.error is None]),
            **values,
            "failover.stale_reads": sum(stale.values()),
            "failover.errors": sum(one.error is not None for one in inserts),
        }
        if stale:
            label = "stale reads: " + ", ".join(f"{count} at {place}" for place, count in sorted(stale.items()))
            stale_reads = [
                [place, one.answer["row"], round(one.end, 3)] for place, one in self.record.stale(since, until)[:SHOWN]
            ]
            span = {"from": since, "to": until}
            emit("event", event="stale_reads", label=label, **span, node="client", detail={"reads": stale_reads})
        for (code, text), times in self.record.errors_by_kind(since, until).items():
            emit("error", t=round(times[0], 3), code=code or None, text=text, count=len(times))
        counted = Counter(grid.bucket((one.end - one.due) * 1000) for one in inserts if one.error is None)
        if counted:
            buckets = grid.printed(counted)
            emit("histogram", metric="client.latency", **{"from": since, "to": until}, buckets=buckets)
        rounded = {name: round(value, 4) for name, value in figures.items()}
        emit("total", **{"from": since, "to": until}, counts=counts_of(inserts, reads), values=rounded)


def counts_of(inserts: list[Attempt], reads: list[Attempt]) -> dict[str, int]:
    acknowledged = sum(one.error is None for one in inserts)
    return {
        "transactions": acknowledged,
        "writes": acknowledged,
        "reads": sum(one.error is None for one in reads),
        "errors": len(inserts) - acknowledged,
    }


def latencies(acknowledged: list[Attempt]) -> dict[str, float]:
    """Percentiles, min, avg and max in ms, from when each was due."""
    took = sorted((one.end - one.due) * 1000 for one in acknowledged)
    if not took:
        return {}
    found = {f"latency.p{percent}": took[math.ceil(len(took) * percent / 100) - 1] for percent in (50, 95, 99)}
    found |= {"latency.min": took[0], "latency.avg": sum(took) / len(took), "latency.max": took[-1]}
    return {name: round(value, 3) for name, value in found.items()}
