"""Loads a dump with the server's own client, timed, then counts the rows."""

import contextlib
import json
import shutil
import subprocess
import threading
import time
from contextlib import closing
from pathlib import Path

from pymysql.cursors import Cursor

from workers.agent.programs.dump import CREATE, REFERENCES, Dump, rows_of
from workers.agent.programs.order import Order, obey
from workers.agent.programs.perf_profile import Profile
from workers.agent.programs.report import Failed, emit, emit_begin, emit_check, emit_executed, private_file

DUMP = "data_load.sql"
PROFILE = "data_load.perf.txt"
SPARE = 256 * 1024 * 1024  # bytes kept free beside the dump
MEBIBYTE = 1024 * 1024
CLIENTS = ("mariadb", "mysql")


def prepare(order: Order) -> None:
    dump = Dump(order.parameters)
    free = shutil.disk_usage(order.work).free
    if free < dump.expected_bytes() + SPARE:
        raise Failed(
            f"{order.work} has {free // MEBIBYTE} MiB free; the dump takes {dump.expected_bytes() // MEBIBYTE} MiB and "
            f"{SPARE // MEBIBYTE} MiB must stay: give fewer rows or set agent.spool to another disk"
        )
    dump.write(order.work / DUMP)


def drop(cursor: Cursor) -> None:
    for table in reversed(CREATE):
        cursor.execute(f"DROP TABLE IF EXISTS {table}")


class Feed:
    """Streams the dump into the client's standard input; `rows` and `sent` (bytes) so far."""

    def __init__(self, file: Path) -> None:
        self.rows = 0
        self.statements = 0  # INSERTs
        self.sent = 0
        self._file = file

    def through(self, client: "subprocess.Popen[bytes]") -> None:
        """Ends early when the client exits."""
        pipe = client.stdin
        assert pipe is not None  # noqa: S101  (opened as a pipe)
        with contextlib.suppress(BrokenPipeError), self._file.open("rb") as stream, pipe:
            for statement in stream:
                pipe.write(statement)
                self.rows += (rows := rows_of(statement))
                self.statements += rows > 0
                self.sent += len(statement)


def report_progress(feed: Feed, zero: float, done: threading.Event) -> None:
    """Prints the rows handed to the client, each second."""
    before, rows, number = 0.0, 0, 1
    while not done.wait(max(0.0, number - (time.monotonic() - zero))):
        now, handed = time.monotonic() - zero, feed.rows
        emit("interval", t=round(now, 4), seconds=round(now - before, 4), counts={"rows": handed - rows}, values={})
        before, rows, number = now, handed, number + 1


def run(order: Order) -> None:
    secrets, dump = order.secrets, Dump(order.parameters)
    client = next((name for name in CLIENTS if shutil.which(name)), None)
    if client is None:
        raise Failed("neither mariadb nor mysql is installed; install it, for example: apt-get install mariadb-client")
    pid = json.loads(order.secrets_file.read_bytes()).get("pid") if order.parameters["profile"] else None
    profile, feed, done = Profile(pid, order.work / PROFILE), Feed(order.work / DUMP), threading.Event()
    with closing(secrets.connect()) as connection, connection.cursor() as cursor:
        drop(cursor)
    with private_file(order.work / "data_load.cnf", secrets.client_file()) as options, profile:
        zero = time.monotonic()
        emit_begin("data_load", zero=zero)
        reporting = threading.Thread(target=report_progress, args=(feed, zero, done), daemon=True)
        reporting.start()
        process = subprocess.Popen(
            (client, f"--defaults-file={options}", "--batch", secrets.schema),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            feed.through(process)
            assert process.stderr is not None  # noqa: S101  (opened as a pipe)
            with process.stderr as stream:
                output = stream.read().decode(errors="replace")
            code = process.wait()
        finally:
            process.kill()
            took = time.monotonic() - zero
            done.set()
            reporting.join()
    if code:
        raise Failed(f"{client} ended with code {code}: {output.strip()[:500]}")
    if order.parameters["profile"]:
        profile.report(start=0.0, end=took)
    values = {"data_load.duration": round(took, 4), "data_load.bytes": feed.sent}
    emit("total", **{"from": 0.0, "to": round(took, 4)}, counts={"rows": feed.rows}, values=values)
    with closing(secrets.connect()) as connection, connection.cursor() as cursor:
        _verify(cursor, dump, t=took)
    emit_executed({"reads": 0, "writes": feed.statements, "errors": 0})
    emit("end")


def _verify(cursor: Cursor, dump: Dump, *, t: float) -> None:
    """Checks row counts and foreign keys."""
    found = {}
    for table in CREATE:
        cursor.execute(f"SELECT COUNT(*) FROM {table}")  # noqa: S608  (names are ours)
        found[table] = int((cursor.fetchone() or (0,))[0])
    expected = dump.rows()
    words = ", ".join(f"{table} {count} of {expected[table]}" for table, count in found.items())
    emit_check("rows", t=t, held=found == expected, label=f"rows loaded: {words}", expected=expected, found=found)
    orphans = 0
    for table, column, other in REFERENCES:
        cursor.execute(
            f"SELECT COUNT(*) FROM {table} a LEFT JOIN {other} b ON b.id = a.{column} WHERE b.id IS NULL"  # noqa: S608
        )
        orphans += int((cursor.fetchone() or (0,))[0])
    emit_check("references", t=t, held=orphans == 0, label=f"{orphans} rows have no parent", expected=0, found=orphans)


def clean_up(order: Order) -> None:
    (order.work / DUMP).unlink(missing_ok=True)
    with closing(order.secrets.connect()) as connection, connection.cursor() as cursor:
        drop(cursor)


if __name__ == "__main__":
    obey({"prepare": prepare, "run": run, "clean_up": clean_up})
