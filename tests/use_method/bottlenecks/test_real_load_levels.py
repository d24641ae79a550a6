"""Load levels of a real server whose clients all want one row: what limits it is named from what the server counted."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pymysql
import pytest
from pymysql.cursors import Cursor

from apps.runs.samples.columns import SampledNode
from apps.runs.storage.codec import Column
from apps.use_method import engine
from apps.use_method.bottlenecks import wording
from apps.use_method.bottlenecks.find import Bottleneck, Kind, PanelsAtLevel, find
from lab.mariadb import ACCOUNT, MariaDB
from tests.support.waiting import eventually
from tests.use_method.builders import facts, of_sampled
from tests.workers.agent.benches import Bench, Server
from workers.agent.samplers.mysql import GlobalStatus
from workers.protocol.wire import Number

pytestmark = pytest.mark.mariadb

# Each transaction holds the row for so long while the server has nothing else to do, however slow the machine.
HELD = 0.05  # s
SAMPLES, EVERY = 6, 5  # samples of a level, transactions from one to the next


class Clients:
    """So many connections, each of which changes the row as often as it gets it; `done`: transactions."""

    def __init__(self, bench: Bench, number: int) -> None:
        self.done = 0
        self._stop = threading.Event()
        self._counting = threading.Lock()
        self._bench = bench
        self._threads = [threading.Thread(target=self._work) for _ in range(number)]

    def __enter__(self) -> "Clients":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        with connect(self._bench) as connection, connection.cursor() as cursor:
            while not self._stop.is_set():
                connection.begin()
                cursor.execute("UPDATE hot SET changed = changed + 1 WHERE id = 1")
                cursor.execute(f"DO SLEEP({HELD})")
                connection.commit()
                with self._counting:
                    self.done += 1


def connect(bench: Bench) -> "pymysql.connections.Connection[Cursor]":
    address, system = bench.system.address, bench.system
    return pymysql.connect(
        host=address.host, port=address.port, user=ACCOUNT, password=system.password, database=bench.schema
    )


@pytest.fixture
def bench(mariadb: MariaDB, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(Server(mariadb.port, mariadb.password), "iibench", {}, tmp_path)
    with connect(made) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE hot (id INT PRIMARY KEY, changed INT NOT NULL) ENGINE=InnoDB")
        cursor.execute("INSERT INTO hot VALUES (1, 0)")
        connection.commit()
    yield made
    with connect(made) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {made.schema}")


def at_level(bench: Bench, threads: int) -> PanelsAtLevel:
    source = GlobalStatus(bench.system, bench.system.address)
    clock: list[float] = []
    read: list[dict[str, Number]] = []
    with Clients(bench, threads) as clients:
        start = time.monotonic()
        for _ in range(SAMPLES):
            read.append(dict(source.read().values))
            clock.append(time.monotonic() - start)
            due = clients.done + EVERY
            eventually(lambda due=due: clients.done >= due, what="the next transactions are done")  # type: ignore[misc]
        throughput = clients.done / (time.monotonic() - start)
    source.close()
    keys = [key for key in read[0] if all(key in each for each in read)]
    columns = {
        key: Column(np.array([each[key] for each in read], np.float64), np.ones(len(read), np.bool_)) for key in keys
    }
    node = of_sampled(SampledNode("db1", "writer", np.array(clock), columns), (0.0, clock[-1]))
    panel = engine.panel(facts(node, threads=threads, measured=(0.0, clock[-1]), throughput=throughput))
    return PanelsAtLevel(threads, {threads: panel}, (throughput,))


def test_clients_that_want_one_row_are_limited_by_row_locks(bench: Bench) -> None:
    found: Bottleneck = find([at_level(bench, threads) for threads in (1, 4, 16)])
    assert found.kind is Kind.LIMITED
    assert wording.headline(found).replace("\u00a0", " ") == "limited by row locks from 4 threads on"
    [onset] = found.first
    # All but the one that holds the row wait for it, if the machine does not hold them up elsewhere.
    assert onset.reading.indicator.startswith("row_locks.")
    assert 50 < (onset.reading.value or 0) <= 100
    assert onset.before_threads == 1
    assert "cpu" in found.unseen, "the machine was not sampled"
