"""mysqlslap in rounds of a few seconds until the time is over; each round is an interval of the report."""

import csv
import random
import subprocess
import time
from collections import Counter
from pathlib import Path

from workers.agent.programs import tables
from workers.agent.programs.asyncload import clean_up, prepare
from workers.agent.programs.order import Order, obey
from workers.agent.programs.report import Failed, emit, emit_begin, emit_check, emit_executed, private_file

STATEMENTS = 1000  # distinct statements; every client starts with the first
FIRST = 500  # statements of the first round, which determines the size of the next
SHORTEST = 0.05  # s: a shorter round gives no usable speed


def inserts(order: Order, source: random.Random) -> list[str]:
    chosen = order.parameters
    return [
        f"INSERT INTO {tables.table(source.randint(1, chosen['tables']))} (k,c,pad) "  # noqa: S608  (made here)
        f"VALUES ({tables.columns(source, chosen['table_size'])})"
        for _ in range(STATEMENTS)
    ]


def keys(order: Order, source: random.Random) -> list[tuple[str, int]]:
    """Table and id of each row to read."""
    chosen = order.parameters
    return [
        (tables.table(source.randint(1, chosen["tables"])), source.randint(1, chosen["table_size"]))
        for _ in range(STATEMENTS)
    ]


def slap(order: Order, options: Path, script: Path, number: int) -> float:
    """Seconds taken by the clients for `number` statements in total. Raises Failed."""
    each = number // order.threads
    argv = [
        "mysqlslap",
        f"--defaults-file={options}",
        f"--create-schema={order.secrets.schema}",
        f"--query={script}",
        "--delimiter=;",
        "--no-drop",
        "--iterations=1",
        f"--concurrency={order.threads}",
        f"--number-of-queries={each * order.threads}",
        "--csv",
    ]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"mysqlslap: {(done.stderr or done.stdout).strip()[:500]}")
    rows = [row for row in csv.reader(done.stdout.splitlines()) if len(row) >= 6]
    if not rows:
        raise Failed(f"mysqlslap printed no time: {done.stdout[:200]!r}")
    return float(rows[-1][2])  # engine, kind, mean, least, most, clients, statements per client


def run(order: Order) -> None:
    secrets, size = order.secrets, order.parameters["tables"]
    source = random.Random(tables.SEED)  # noqa: S311  (statements, not secrets)
    before = tables.count(secrets, tables=size)
    kind = "writes" if order.parameters["mix"] == "insert" else "reads"
    read = keys(order, source) if kind == "reads" else []
    statements = [f"SELECT c FROM {table} WHERE id = {row}" for table, row in read] or inserts(order, source)  # noqa: S608
    script = order.work / "slap.sql"
    script.write_text(";\n".join(statements))
    counts: Counter[str] = Counter()
    done, spent, first, last = 0, 0.0, 0.0, 0.0
    try:
        with private_file(order.work / "slap.cnf", secrets.client_file()) as options:
            zero = time.monotonic()
            emit_begin("slap", zero=zero)
            number, end = FIRST, order.warmup + order.duration
            while (start := time.monotonic() - zero) < end:
                number = max(number // order.threads, 1) * order.threads
                took = slap(order, options, script, number)
                last = time.monotonic() - zero
                done += number
                # Starting, connecting and ending mysqlslap are not part of the load.
                counts_now = {"transactions": number, kind: number}
                emit("interval", t=round(last, 4), seconds=took, threads=order.threads, counts=counts_now, values={})
                if start >= order.warmup:
                    first = first or start
                    counts.update(counts_now)
                    spent += took
                number = int(number / max(took, SHORTEST) * order.parameters["round"])
    finally:
        script.unlink(missing_ok=True)
    if not counts:
        raise Failed("no round began in the measured phase; give a shorter round or a longer duration")
    # The sum of the rounds by mysqlslap's own clock, without the pauses between.
    emit("total", **{"from": round(first, 4), "to": round(first + spent, 4)}, counts=dict(counts), values={})
    after = tables.count(secrets, tables=size)
    expected = done if kind == "writes" else 0
    emit_check(
        "rows",
        t=time.monotonic() - zero,
        held=after - before == expected,
        label=f"{expected} inserts were requested, {after - before} rows exist",
        expected=expected,
        found=after - before,
    )
    if read:
        missing = tables.missing(secrets, read)
        emit_check(
            "matched",
            t=time.monotonic() - zero,
            held=missing == 0,
            label=f"of the {len(set(read))} rows that were read by key, {missing} do not exist",
            expected=0,
            found=missing,
        )
    emit_executed({"reads": 0, "writes": 0, "errors": 0, kind: done})
    emit("end")


if __name__ == "__main__":
    obey({"prepare": prepare, "run": run, "clean_up": clean_up})
