"""The same load without and with an index on every table, each on freshly prepared tables."""

import json
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pymysql.cursors import Cursor

from workers.agent.programs.digests import GLOBALS, Digest, Digests, mean_write_time, restore_globals, table_of
from workers.agent.programs.load import Load, SysbenchPlan, password_text, prepare
from workers.agent.programs.order import Order, obey
from workers.agent.programs.report import emit, emit_check, emit_executed, private_file
from workers.agent.tools.report_output import WRITES

DIGESTS = "index_cost.digests.tsv"
INDEX = "splash_cost"
LENGTHS = {"k": "k", "c": "c(120)", "pad": "pad(60)"}


@dataclass
class Stage:
    """Results of one half of the run; times in s on the report's clock."""

    name: str
    start: float = 0.0
    end: float = 0.0
    total: dict[str, Any] = field(default_factory=dict)
    digests: list[Digest] = field(default_factory=list)
    build: float = 0.0
    index_bytes: int = 0
    indexed: int = 0  # tables with the index when the load ended
    executed: Counter[str] = field(default_factory=Counter)
    preparing: int = 0  # writes while filling the tables


@dataclass
class Work:
    """State shared by both stages. `origin`: zero of the report's clock, monotonic; None before the first load."""

    order: Order
    plan: SysbenchPlan
    cursor: Cursor
    digests: Digests
    password_file: Path
    origin: float | None = None


def tables(order: Order) -> list[str]:
    return [f"sbtest{number}" for number in range(1, order.parameters["tables"] + 1)]


def writes(cursor: Cursor) -> int:
    """Writing statements executed by the server so far."""
    cursor.execute("SHOW GLOBAL STATUS WHERE variable_name IN %s", (WRITES,))
    return sum(int(value) for _, value in cursor.fetchall())


def stage(work: Work, name: str) -> Stage:
    order, secrets, found = work.order, work.order.secrets, Stage(name)
    prepare(work.plan, secrets, work.password_file, "cleanup")
    before = writes(work.cursor)
    prepare(replace(work.plan, threads=min(len(tables(order)), 4)), secrets, work.password_file)
    found.preparing = writes(work.cursor) - before
    if name == "with":
        begun = time.monotonic()
        for table in tables(order):
            work.cursor.execute(f"CREATE INDEX {INDEX} ON {table} ({LENGTHS[order.parameters['column']]})")
        found.build = time.monotonic() - begun
    tool = "index_cost" if work.origin is None else ""
    with (
        work.digests.taken(),
        Load(work.plan, secrets, work.password_file, tool=tool, origin=work.origin) as load,
    ):
        work.origin = load.origin
        offset = load.zero - (load.origin or load.zero)
        found.total, found.executed = load.finish(), load.executed()
        found.start, found.end = offset + found.total["from"], offset + found.total["to"]
    found.digests = work.digests.found
    work.cursor.execute(
        "SELECT COUNT(DISTINCT table_name) FROM information_schema.statistics "
        "WHERE table_schema = %s AND index_name = %s",
        (secrets.schema, INDEX),
    )
    found.indexed = int((work.cursor.fetchone() or (0,))[0])
    work.cursor.execute(f"ANALYZE TABLE {', '.join(tables(order))}")
    work.cursor.fetchall()
    work.cursor.execute(
        "SELECT SUM(index_length) FROM information_schema.tables WHERE table_schema = %s", (secrets.schema,)
    )
    found.index_bytes = int((work.cursor.fetchone() or (0,))[0] or 0)
    words = "without the index" if name == "without" else f"with the index on {order.parameters['column']}"
    span = {"from": round(found.start, 3), "to": round(found.end, 3)}
    emit(
        "event",
        event="phase",
        label=words,
        **span,
        detail={"build": round(found.build, 3), "statements_from": work.digests.source},
    )
    return found


def run(order: Order) -> None:
    secrets, first = order.secrets, order.parameters["first"]
    is_local = bool(json.loads(order.secrets_file.read_bytes()).get("local"))
    with (
        closing(secrets.connect()) as connection,
        connection.cursor() as cursor,
        private_file(order.work / "index_cost.sysbench", password_text(secrets)) as password_file,
    ):
        digests = Digests(cursor, secrets, work=order.work, is_local=is_local)
        work = Work(order, _plan(order), cursor, digests, password_file)
        stages = {name: stage(work, name) for name in (first, "with" if first == "without" else "without")}
        (order.work / DIGESTS).write_text(table_of({name: each.digests for name, each in stages.items()}))
    now = max(each.end for each in stages.values())
    if digests.refusal:
        emit("event", event="not_observable", label=f"statement times: {digests.refusal}"[:200], **{"from": now})
    _emit_total(stages, now)
    _verify(order, stages, t=now)
    both = stages.values()
    executed = {
        name: sum(found.executed[name] for found in both) for name in ("reads", "writes", "errors", "unmatched")
    }
    emit_executed(executed, setup_writes=sum(found.preparing for found in both))
    emit("end")


def _emit_total(stages: dict[str, Stage], now: float) -> None:
    values: dict[str, float] = {
        "index_cost.build": round(stages["with"].build, 4),
        "index_cost.index_bytes": stages["with"].index_bytes,
    }
    for name, found in stages.items():
        seconds = found.total["to"] - found.total["from"]
        values[f"index_cost.throughput_{name}"] = round(found.total["counts"]["transactions"] / seconds, 3)
        if "latency.p95" in found.total["values"]:
            values[f"index_cost.latency_p95_{name}"] = found.total["values"]["latency.p95"]
        mean = mean_write_time(found.digests)
        if mean is not None:
            values[f"index_cost.statement_time_{name}"] = round(mean, 5)
    start = min(found.start for found in stages.values())
    # No counts: a throughput over both stages is meaningless.
    emit("total", **{"from": round(start, 4), "to": round(now, 4)}, counts={}, values=values)


def _verify(order: Order, stages: dict[str, Stage], *, t: float) -> None:
    number = order.parameters["tables"]
    emit_check(
        "index",
        t=t,
        held=(stages["without"].indexed, stages["with"].indexed) == (0, number),
        label=f"the index was on {stages['without'].indexed} tables without it and on {stages['with'].indexed} of "
        f"{number} with it",
    )
    done = {name: found.total["counts"]["transactions"] for name, found in stages.items()}
    emit_check(
        "load",
        t=t,
        held=all(done.values()),
        label=f"{done['without']} transactions without the index, {done['with']} with it",
    )


def _plan(order: Order) -> SysbenchPlan:
    chosen = order.parameters
    # Ids drawn by sysbench for its inserts would collide with prepared rows: it then prepares none.
    auto_inc = "on" if chosen["test"] == "oltp_insert" else "off"
    options = {"tables": str(chosen["tables"]), "table_size": str(chosen["table_size"]), "auto_inc": auto_inc}
    return SysbenchPlan(
        chosen["test"],
        # MariaDB's performance_schema has no digests of prepared statements.
        options | {"create_secondary": "off", "db_ps_mode": "disable"},
        threads=order.threads,
        rate=order.rate,
        warmup=round(order.warmup),
        measured=max(1, round(order.duration / 2)),
    )


def _prepare(order: Order, step: str) -> None:
    plan = _plan(order)
    with private_file(order.work / "index_cost.sysbench", password_text(order.secrets)) as password_file:
        prepare(replace(plan, threads=min(len(tables(order)), 4)), order.secrets, password_file, step)


if __name__ == "__main__":
    obey(
        {
            "prepare": lambda order: _prepare(order, "prepare"),
            "run": run,
            "restore": lambda order: restore_globals(order.secrets, order.work / GLOBALS),
            "clean_up": lambda order: _prepare(order, "cleanup"),
        }
    )
