"""ALTER TABLE under a steady load: its duration, its wait for metadata locks, and the stall of the load."""

import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import Any

import pymysql
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from workers.agent.programs import bystanders, stalls
from workers.agent.programs.bystanders import Holder, OtherWriters
from workers.agent.programs.load import Load, SysbenchPlan, password_text, prepare
from workers.agent.programs.order import Order, obey
from workers.agent.programs.report import Secrets, emit, emit_check, emit_executed, private_file
from workers.protocol.workloads.schema_changes import SETTLE

TEST = "oltp_read_write"
TABLE = "sbtest1"
LOOK = 0.05  # s between polls for metadata lock waits
LEAD = 0.2  # s by which the transaction that blocks an ALTER starts before it
WAITING = "SELECT id FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata lock%'"


@dataclass(frozen=True)
class AlterOperation:
    """An operation on the table: `sql` for statement `number`; `setup`: a change made beforehand."""

    sql: str
    setup: str = ""


CHANGES = {
    "add_column": AlterOperation("ADD COLUMN splash_{n} INT NULL"),
    "add_column_not_null": AlterOperation("ADD COLUMN splash_{n} INT NOT NULL DEFAULT 0"),
    "drop_column": AlterOperation("DROP COLUMN splash_{n}", setup="ADD COLUMN splash_{n} INT NULL"),
    "add_index": AlterOperation("ADD INDEX splash_{n} (pad)"),
}


def statement(operation: str, algorithm: str, lock: str, number: int) -> str:
    """INPLACE adds FORCE: otherwise a column may be added without a rebuild, as by `instant`."""
    parts = [CHANGES[operation].sql.format(n=number)]
    if algorithm == "inplace" and operation != "add_index":
        parts.append("FORCE")
    if algorithm != "default":
        parts.append(f"ALGORITHM={algorithm.upper()}")
    if lock != "default":
        parts.append(f"LOCK={lock.upper()}")
    return f"ALTER TABLE {TABLE} {', '.join(parts)}"


@dataclass
class Done:
    """One statement, on the load's clock, s. `waited`: for its metadata lock; `blocked`: most other waiters."""

    sql: str
    start: float
    end: float = 0.0
    waited: float = 0.0
    blocked: int = 0
    rows: int = 0
    rebuilt: bool | None = None
    failure: str = ""
    code: int = 0
    held: Holder | None = None  # the transaction in its way

    @property
    def took(self) -> float:
        return self.end - self.start


@dataclass
class Watch:
    """Polls metadata lock waits every LOOK s during a statement of connection `of`."""

    secrets: Secrets
    of: int
    waited: float = 0.0
    blocked: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Watch":
        self._thread = threading.Thread(target=self._look, name="watch", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        with closing(self.secrets.connect()) as connection, connection.cursor() as cursor:
            before, was_waiting = time.monotonic(), False
            while not self._stop.wait(LOOK):
                cursor.execute(WAITING)
                found = {int(row[0]) for row in cursor.fetchall()}
                now = time.monotonic()
                is_waiting = self.of in found
                if is_waiting or was_waiting:
                    # Waiting at only one end of a pause counts half.
                    self.waited += (now - before) / (1 if is_waiting and was_waiting else 2)
                self.blocked = max(self.blocked, len(found - {self.of}))
                before, was_waiting = now, is_waiting


def table_id(cursor: Cursor, schema: str) -> int | None:
    """InnoDB's table id, which a rebuild changes; None where it is not visible."""
    for view in ("innodb_sys_tables", "innodb_tables"):
        try:
            cursor.execute(
                f"SELECT table_id FROM information_schema.{view} WHERE name = %s",  # noqa: S608  (names are ours)
                (f"{schema}/{TABLE}",),
            )
            row = cursor.fetchone()
            return int(row[0]) if row else None
        except pymysql.MySQLError:
            continue
    return None


def ours(cursor: Cursor, schema: str) -> tuple[list[str], list[str]]:
    """Columns and indexes of the table added by this program."""
    found = []
    for what, view in (("column_name", "columns"), ("index_name", "statistics")):
        cursor.execute(
            f"SELECT DISTINCT {what} FROM information_schema.{view} "  # noqa: S608  (names are ours)
            f"WHERE table_schema = %s AND table_name = %s AND {what} LIKE 'splash\\_%%' ORDER BY 1",
            (schema, TABLE),
        )
        found.append([str(row[0]) for row in cursor.fetchall()])
    return found[0], found[1]


def undo(cursor: Cursor, schema: str) -> None:
    """Restores and rebuilds the table as prepared, so that every run starts from the same."""
    columns, indexes = ours(cursor, schema)
    parts = [f"DROP COLUMN {name}" for name in columns] + [f"DROP INDEX {name}" for name in indexes]
    if parts:
        cursor.execute(f"ALTER TABLE {TABLE} {', '.join(parts)}, FORCE")


def alter(connection: "Connection[Cursor]", secrets: Secrets, sql: str, load: Load) -> Done:
    done = Done(sql=sql, start=load.now())
    with connection.cursor() as cursor:
        before = table_id(cursor, secrets.schema)
        cursor.execute("SELECT CONNECTION_ID()")
        me = int((cursor.fetchone() or (0,))[0])
        with Watch(secrets, me) as watch:
            done.start = load.now()
            try:
                done.rows = cursor.execute(sql)
            except pymysql.MySQLError as error:
                done.code = int(error.args[0]) if error.args and isinstance(error.args[0], int) else 0
                done.failure = str(error.args[-1]) if error.args else type(error).__name__
            done.end = load.now()
        done.waited, done.blocked = min(watch.waited, done.took), watch.blocked
        after = table_id(cursor, secrets.schema)
        if before is not None and after is not None:
            done.rebuilt = before != after
    return done


def run(order: Order) -> None:
    chosen, secrets = order.parameters, order.secrets
    operation, algorithm, count = chosen["operation"], chosen["algorithm"], chosen["count"]
    first = order.warmup + chosen["at"]
    plan = _plan(order)
    with closing(secrets.connect()) as connection, connection.cursor() as cursor:
        undo(cursor, secrets.schema)
        setup = [CHANGES[operation].setup.format(n=n) for n in range(1, count + 1) if CHANGES[operation].setup]
        if setup:
            cursor.execute(f"ALTER TABLE {TABLE} {', '.join(setup)}, FORCE")
        all_done: list[Done] = []
        try:
            bystanders.make_other(secrets)
            with (
                private_file(order.work / "ddl.sysbench", password_text(secrets)) as password_file,
                Load(plan, secrets, password_file, tool="ddl_under_load", marked=True) as load,
                OtherWriters(secrets, load) as others,
            ):
                load.sleep_until(first - (LEAD if chosen["hold"] else 0))
                for number in range(1, count + 1):
                    sql = statement(operation, algorithm, chosen["lock"], number)
                    with ExitStack() as stack:
                        held = None
                        if chosen["hold"]:
                            until = load.now() + LEAD + chosen["hold"]
                            held = stack.enter_context(Holder(secrets, load, TABLE, until=until))
                            time.sleep(LEAD)
                        all_done.append(alter(connection, secrets, sql, load))
                        all_done[-1].held = held
                    if all_done[-1].failure or not load.is_on():
                        break
                    if number < count:
                        time.sleep(chosen["pause"])
                outlived = not load.is_on()
                total = load.finish()
            _report(order, load, all_done, others, total, outlived=outlived)
            with closing(secrets.connect()) as later, later.cursor() as verifying:
                _verify(order, verifying, load, all_done)
            emit_executed(load.executed(), setup_writes=len(others.writes) + 1)
        finally:
            # The connection from before the load may have been closed by the server, or by a proxy.
            with closing(secrets.connect()) as last, last.cursor() as undoing:
                undo(undoing, secrets.schema)
            bystanders.drop_other(secrets)
    emit("end")


def _plan(order: Order) -> SysbenchPlan:
    chosen = order.parameters
    options = {"tables": str(chosen["tables"]), "table_size": str(chosen["table_size"]), "auto_inc": "off"}
    return SysbenchPlan(
        TEST,
        options,
        threads=order.threads,
        rate=order.rate,
        warmup=round(order.warmup),
        measured=max(1, round(order.duration)),
    )


def _report(
    order: Order, load: Load, all_done: list[Done], others: OtherWriters, total: dict[str, Any], *, outlived: bool
) -> None:
    """Prints events, checks of the load, and totals with the cost of the statements."""
    first = all_done[0].start
    base = stalls.baseline(load.intervals, since=order.warmup, until=first)
    emit_check(
        "baseline",
        t=load.now(),
        held=base is not None
        and stalls.is_served(load.intervals, rate=order.rate or 0, since=order.warmup, until=first),
        label=f"before the first statement the load ran at {base or 0:.1f} of {order.rate or 0:g} transactions/s"
        if base is not None
        else f"fewer than {stalls.FEWEST} whole seconds before the first statement: no baseline",
        expected=order.rate,
        found=base,
    )
    emit_check(
        "load",
        t=load.now(),
        held=not outlived,
        label="the load outlasted the statements"
        if not outlived
        else "the load ended before the statements: not all stalls were observed; give a longer duration",
    )
    share = order.parameters["stall_share"]
    before = [interval for interval in load.intervals if interval.end <= first]
    quiet = stalls.stall(before, base=base or 0, spans=[(order.warmup, first)], share=share)
    ends, other_ends = load.transaction_ends(), others.ends()
    spans: list[tuple[float, float]] = []
    gaps, other_gaps = [], []
    for place, done in enumerate(all_done):
        after = all_done[place + 1].start if place + 1 < len(all_done) else load.intervals[-1].end
        until = min(done.end + SETTLE, after)
        spans.append((done.start, until))
        gaps.append(stalls.longest_gap(ends, since=done.start, until=until))
        other_gaps.append(stalls.longest_gap(other_ends, since=done.start, until=until))
        beside = {
            "other_tables_gap": other_gaps[-1],
            "other_tables_failed": others.failed(since=done.start, until=until),
        }
        if done.held is not None:
            beside["holders_lost"] = int(bool(done.held.failure))
        own = stalls.stall(load.intervals, base=base or 0, spans=spans[-1:], share=share)
        _emit_statement(order, done, own, {"gap": gaps[-1], **beside})
    values = {
        "ddl.duration": round(max(done.took for done in all_done), 4),
        "ddl.metadata_lock_wait": round(max(done.waited for done in all_done), 3),
        "ddl.metadata_lock_queue": max(done.blocked for done in all_done),
        "ddl.gap": max(gaps),
        "ddl.gap_before": stalls.longest_gap(ends, since=order.warmup, until=first),
        "ddl.other_tables.gap": max(other_gaps),
        "ddl.other_tables.gap_before": stalls.longest_gap(other_ends, since=order.warmup, until=first),
    }
    held = [done.held for done in all_done if done.held is not None]
    if held:
        values["ddl.holders_lost"] = sum(bool(each.failure) for each in held)
    if base:
        whole = stalls.stall(load.intervals, base=base, spans=spans, share=share)
        values |= {
            "ddl.baseline": round(base, 2),
            "ddl.stall.length": whole.length,
            "ddl.stall.depth": whole.depth,
            "ddl.stall.depth_before": quiet.depth,
        }
    emit("total", **{**total, "values": total["values"] | values})


def _emit_statement(order: Order, done: Done, stall: stalls.Stall, beside: Mapping[str, float]) -> None:
    """`beside`: more details of the statement, by name."""
    if done.failure:
        emit("error", t=round(done.end, 3), code=done.code, text=done.failure, count=1)
    words = f"{done.sql} took {done.took:.3f} s"
    emit(
        "event",
        event="ddl",
        label=words if not done.failure else f"{done.sql} failed",
        **{"from": round(done.start, 4), "to": round(done.end, 4)},
        detail={
            "statement": done.sql,
            "algorithm": order.parameters["algorithm"],
            "lock": order.parameters["lock"],
            "seconds": round(done.took, 4),
            "metadata_lock_wait": round(done.waited, 3),
            "metadata_lock_queue": done.blocked,
            "rows_copied": done.rows,
            "rebuilt": done.rebuilt,
            "stall_length": stall.length,
            "stall_depth": stall.depth,
            **beside,
        },
    )


def _verify(order: Order, cursor: Cursor, load: Load, all_done: list[Done]) -> None:
    """Checks that every statement took effect, by the requested algorithm, and that no row was lost."""
    chosen = order.parameters
    failures = [done.failure for done in all_done if done.failure]
    columns, indexes = ours(cursor, load.secrets.schema)
    there = len(columns) + len(indexes)
    expected = 0 if chosen["operation"] == "drop_column" else chosen["count"]
    emit_check(
        "statements",
        t=load.now(),
        held=not failures and there == expected and len(all_done) == chosen["count"],
        label=failures[0]
        if failures
        else f"{len(all_done)} of {chosen['count']} statements done; columns and indexes: {there} of {expected}",
        expected=expected,
        found=there,
    )
    if not failures and chosen["algorithm"] != "default":
        copied = sum(done.rows > 0 for done in all_done)
        seen = [done.rebuilt for done in all_done if done.rebuilt is not None]
        rebuilt = f", {sum(seen)} of {len(seen)} rebuilt the table" if seen else ""
        emit_check(
            "algorithm",
            t=load.now(),
            held=all(_is_by(chosen["algorithm"], chosen["operation"], done) for done in all_done),
            label=f"{chosen['algorithm']}: {copied} of {len(all_done)} statements copied rows{rebuilt}",
        )
    cursor.execute(f"SELECT COUNT(*) FROM {TABLE}")  # noqa: S608  (a constant)
    rows = int((cursor.fetchone() or (0,))[0])
    emit_check(
        "rows",
        t=load.now(),
        held=rows == chosen["table_size"],
        label=f"{TABLE} holds {rows} of {chosen['table_size']} rows afterwards",
        expected=chosen["table_size"],
        found=rows,
    )


def _is_by(algorithm: str, operation: str, done: Done) -> bool:
    """Only COPY copies rows; a rebuild changes the table's id. An invisible id passes the check."""
    if algorithm == "copy":
        return done.rows > 0 and done.rebuilt is not False
    rebuilds = algorithm == "inplace" and operation != "add_index"
    return done.rows == 0 and done.rebuilt in (None, rebuilds)


def _prepare(order: Order, step: str) -> None:
    secrets = order.secrets
    with private_file(order.work / "ddl.sysbench", password_text(secrets)) as password_file:
        prepare(_plan(order), secrets, password_file, step)
    if step == "cleanup":
        bystanders.drop_other(secrets)


if __name__ == "__main__":
    obey(
        {"prepare": lambda order: _prepare(order, "prepare"), "run": run, "clean_up": lambda o: _prepare(o, "cleanup")}
    )
