"""A second load generator, independent of sysbench: our own asynchronous client, in a closed or an open loop.

In the open loop (with a rate) transactions follow a fixed schedule and latency counts from the due time, whether or not
a connection was free; in the closed loop every connection starts its next transaction at once.
"""

import asyncio
import itertools
import math
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import aiomysql
import pymysql

from workers.agent.programs import grid, tables
from workers.agent.programs.order import Order, obey
from workers.agent.programs.report import Failed, Secrets, emit, emit_begin, emit_check, emit_executed

RANGE = 100  # rows of a range, sysbench's default
POINT_SELECTS = 10
LOST = {2006, 2013, 2055, 1053, 1927, 0}  # client and server errors after which the connection is closed
RECONNECT_PAUSE = 0.1  # s
RANGES = (
    "SELECT c FROM {t} WHERE id BETWEEN {a} AND {b}",
    "SELECT SUM(k) FROM {t} WHERE id BETWEEN {a} AND {b}",
    "SELECT c FROM {t} WHERE id BETWEEN {a} AND {b} ORDER BY c",
    "SELECT DISTINCT c FROM {t} WHERE id BETWEEN {a} AND {b} ORDER BY c",
)


@dataclass
class LoadTally:
    """Counts of a period; latencies in ms, counted on the grid so that long runs need little memory."""

    counts: Counter[str] = field(default_factory=Counter)
    latencies: Counter[int] = field(default_factory=Counter)
    least: float = math.inf
    most: float = 0.0
    sum: float = 0.0
    lag: float = 0.0  # total delay of transactions on free connections, ms
    lags: int = 0

    def add(self, latency: float) -> None:
        self.latencies[grid.bucket(latency)] += 1
        self.least, self.most = min(self.least, latency), max(self.most, latency)
        self.sum += latency

    def values(self) -> dict[str, float]:
        number = self.latencies.total()
        if not number:
            return {}
        found = {"latency.min": round(self.least, 3), "latency.avg": round(self.sum / number, 3)}
        found["latency.max"] = round(self.most, 3)
        found |= {f"latency.p{percent}": grid.percentile(self.latencies, percent) for percent in (50, 95, 99)}
        return found | ({"client.schedule_lag": round(self.lag / self.lags, 3)} if self.lags else {})


@dataclass
class LoadClient:
    """State shared by all connections; everything runs on one thread."""

    order: Order
    secrets: Secrets
    random: random.Random
    zero: float = 0.0
    end: float = 0.0  # on the load's clock, s
    interval: LoadTally = field(default_factory=LoadTally)
    measured: LoadTally = field(default_factory=LoadTally)
    whole: Counter[str] = field(default_factory=Counter)  # warm-up included
    errors: Counter[tuple[int, str]] = field(default_factory=Counter)
    inserted: int = 0  # since the load began
    unmatched: int = 0
    busy: int = 0
    due: Iterator[int] = field(default_factory=itertools.count)
    taken: int = 0

    def now(self) -> float:
        return time.monotonic() - self.zero

    def count(self, **counts: int) -> None:
        self.interval.counts.update(counts)
        self.whole.update(counts)
        if self.is_measured():
            self.measured.counts.update(counts)

    def is_measured(self) -> bool:
        return self.order.warmup <= self.now() <= self.end

    def ended(self, *, since: float) -> None:
        latency = (self.now() - since) * 1000
        self.interval.add(latency)
        if self.is_measured():
            self.measured.add(latency)
        self.count(transactions=1)

    def queue_length(self) -> int:
        """Transactions due but not yet started."""
        rate = self.order.rate or 0
        return max(0, int(min(self.now(), self.end) * rate) - self.taken)


Cursor = Any  # aiomysql's, which has no types
Transaction = Callable[[LoadClient, Cursor], Awaitable[None]]


async def insert(client: LoadClient, cursor: Cursor) -> None:
    chosen = client.order.parameters
    row = tables.columns(client.random, chosen["table_size"])
    await cursor.execute(f"INSERT INTO {_table(client)} (k,c,pad) VALUES ({row})")  # noqa: S608  (made here)
    client.inserted += 1
    client.count(writes=1)


async def point_select(client: LoadClient, cursor: Cursor) -> None:
    row = client.random.randint(1, client.order.parameters["table_size"])
    await cursor.execute(f"SELECT c FROM {_table(client)} WHERE id = {row}")  # noqa: S608  (made here)
    if len(await cursor.fetchall()) != 1:
        client.unmatched += 1
    client.count(reads=1)


async def read_only(client: LoadClient, cursor: Cursor) -> None:
    await cursor.execute("BEGIN")
    for _ in range(POINT_SELECTS):
        await point_select(client, cursor)
    for sql in RANGES:
        first = client.random.randint(1, client.order.parameters["table_size"])
        await cursor.execute(sql.format(t=_table(client), a=first, b=first + RANGE - 1))
        await cursor.fetchall()
        client.count(reads=1)
    await cursor.execute("COMMIT")
    client.count(others=2)


MIXES: dict[str, Transaction] = {"insert": insert, "point_select": point_select, "read_only": read_only}


def _table(client: LoadClient) -> str:
    return tables.table(client.random.randint(1, client.order.parameters["tables"]))


async def connect(secrets: Secrets) -> Any:
    return await aiomysql.connect(
        host=secrets.host,
        port=secrets.port,
        unix_socket=secrets.socket or None,
        user=secrets.user,
        password=secrets.password,
        db=secrets.schema,
        autocommit=True,
        program_name="splashboard-load",
    )


async def work(client: LoadClient, connection: Any) -> None:
    """Runs transactions on one connection until the load ends."""
    transaction = MIXES[client.order.parameters["mix"]]
    while (since := await _next(client)) is not None:
        client.busy += 1
        try:
            async with connection.cursor() as cursor:
                await transaction(client, cursor)
            client.ended(since=since)
        except (pymysql.MySQLError, OSError, asyncio.IncompleteReadError) as error:
            connection = await _recover(client, connection, error)
        finally:
            client.busy -= 1
    connection.close()


async def _next(client: LoadClient) -> float | None:
    """Start of the next transaction's latency; None: the load is over."""
    rate = client.order.rate
    if rate is None:
        return client.now() if client.now() < client.end else None
    due = next(client.due) / rate
    if due >= client.end:
        return None
    wait = due - client.now()
    if wait > 0:
        await asyncio.sleep(wait)
        if client.is_measured():
            client.measured.lag += (client.now() - due) * 1000
            client.measured.lags += 1
    client.taken += 1
    return due


async def _recover(client: LoadClient, connection: Any, error: Exception) -> Any:
    code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    client.count(errors=1)
    client.errors[code, str(error.args[-1]) if error.args else type(error).__name__] += 1
    if code not in LOST:
        await connection.rollback()
        return connection
    connection.close()
    while client.now() < client.end:
        try:
            connection = await connect(client.secrets)
            client.count(reconnects=1)
            break
        except (pymysql.MySQLError, OSError):
            await asyncio.sleep(RECONNECT_PAUSE)
    return connection


async def report_intervals(client: LoadClient) -> None:
    """Prints one interval per second until the load ends."""
    before = 0.0
    while before < client.end:
        await asyncio.sleep(max(0.0, min(before + 1.0, client.end) - client.now()))
        tally, client.interval = client.interval, LoadTally()
        now = client.now()
        values: dict[str, float] = {}
        if tally.latencies:
            values["latency.p95"] = grid.percentile(tally.latencies, 95)
        if client.order.rate is not None:
            values |= {"queue_length": client.queue_length(), "concurrency": client.busy}
        counts = _counts(tally)
        emit(
            "interval",
            t=round(now, 4),
            seconds=round(now - before, 4),
            threads=client.order.threads,
            counts=counts,
            values=values,
        )
        for (code, text), number in client.errors.items():
            emit("error", t=round(now, 3), code=code, text=text, count=number)
        client.errors.clear()
        before = now


def _counts(tally: LoadTally) -> dict[str, int]:
    return {name: tally.counts[name] for name in ("transactions", "reads", "writes", "others", "errors", "reconnects")}


async def load(order: Order, secrets: Secrets) -> LoadClient:
    client = LoadClient(order, secrets, random.Random(), end=order.warmup + order.duration)  # noqa: S311
    try:
        opened = await asyncio.gather(*(connect(secrets) for _ in range(order.threads)))
    except (pymysql.MySQLError, OSError) as error:
        raise Failed(f"no connection: {error.args[-1] if error.args else error}") from error
    client.zero = time.monotonic()
    cpu = time.process_time()
    emit_begin("asyncload", zero=client.zero)
    await asyncio.gather(report_intervals(client), *(work(client, connection) for connection in opened))
    busy = (time.process_time() - cpu) / client.now()
    _emit_total(client, busy)
    return client


def _emit_total(client: LoadClient, busy: float) -> None:
    span = {"from": client.order.warmup, "to": client.end}
    measured = client.measured
    if measured.latencies:
        emit("histogram", metric="client.latency", **span, buckets=grid.printed(measured.latencies))
    values = {"client.cpu": round(busy, 3), **measured.values()}
    emit("total", **span, counts=_counts(measured), values=values)


def run(order: Order) -> None:
    secrets, size = order.secrets, order.parameters["tables"]
    before = tables.count(secrets, tables=size)
    client = asyncio.run(load(order, secrets))
    after = tables.count(secrets, tables=size)
    errors = client.measured.counts["errors"]
    emit_check(
        "rows",
        t=client.now(),
        # A failed insert may still have been committed.
        held=client.inserted <= after - before <= client.inserted + errors,
        label=f"{client.inserted} inserts were acknowledged, {after - before} rows exist",
        expected=client.inserted,
        found=after - before,
    )
    emit_check(
        "matched",
        t=client.now(),
        held=client.unmatched == 0,
        label=f"{client.unmatched} reads by key did not find their row",
        expected=0,
        found=client.unmatched,
    )
    emit_executed({name: client.whole[name] for name in ("reads", "writes", "errors")})
    emit("end")


def prepare(order: Order) -> None:
    tables.make(order.secrets, tables=order.parameters["tables"], rows=order.parameters["table_size"])


def clean_up(order: Order) -> None:
    tables.drop(order.secrets, tables=order.parameters["tables"])


if __name__ == "__main__":
    obey({"prepare": prepare, "run": run, "clean_up": clean_up})
