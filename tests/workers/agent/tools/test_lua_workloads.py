"""Our workloads on sysbench, each for a few seconds on a real MariaDB, by the real tools and the server's reader."""

import contextlib
import math
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pymysql.cursors import Cursor

from apps.runs.samples.histograms import HistogramCounts, SysbenchGrid
from lab.mariadb import MariaDB
from lab.packages import program
from tests.support.databases import StartMariaDB
from tests.support.ports import ReservedPort
from tests.support.waiting import eventually
from tests.workers.agent.benches import Benches, Server, broken, has_promised, values
from workers.agent.tools.lua import SCRIPTS
from workers.protocol.workloads import sysbench_oltp

pytestmark = pytest.mark.mariadb


@contextlib.contextmanager
def full_proxy(folder: Path, *, to: int, most: int) -> Iterator[int]:
    """Port of one that lets `most` connections through at once and leaves the others waiting."""
    reserved = ReservedPort()
    port = reserved.number
    file = folder / "proxy.cfg"
    file.write_text(
        "defaults\n  mode tcp\n  timeout connect 2s\n  timeout client 1m\n  timeout server 1m\n"
        f"listen proxy\n  bind 127.0.0.1:{port}\n  maxconn {most}\n  server db 127.0.0.1:{to}\n"
    )
    process = subprocess.Popen([program("haproxy"), "-db", "-f", str(file)])
    try:
        eventually(lambda: is_listening(port), what="the proxy listens")
        yield port
    finally:
        process.kill()
        process.wait()
        reserved.release()


def is_listening(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def is_share(count: float, *, of: float, p: float, give: float = 0.0) -> bool:
    """Whether that many of `of` random choices are of probability `p`, or `give` beside it.

    Six standard deviations: by chance alone it is not once in 10^8 runs, whatever the machine's speed.
    """
    return abs(count - of * p) <= of * give + 6 * math.sqrt(of * p * (1 - p)) + 1


@pytest.fixture
def bench(mariadb: MariaDB, tmp_path: Path) -> Iterator[Benches]:
    benches = Benches(Server(mariadb.port, mariadb.password), tmp_path)
    yield benches
    benches.close()


def test_iibench_counts_rows_and_the_table_holds_them(bench: Benches) -> None:
    filling = bench("iibench", batch=50)
    read, checks = filling.run(warmup=1, duration=2)
    assert broken(checks) == []
    assert has_promised(read, "iibench")
    found = values(read)
    assert found["client.rows"] == pytest.approx(50 * found["client.throughput"], rel=0.02)
    assert found["client.throughput"] * found["client.elapsed"] == pytest.approx(found["client.transactions"])
    with filling.sql() as cursor:
        assert cursor.execute("SELECT id FROM purchases") == found["client.rows_inserted"]
    rows = [interval["client.rows_inserted"] or 0 for interval in read.intervals.values()]
    assert len(rows) >= 2
    assert sorted(rows) == rows


def test_iibench_ends_at_its_row_limit_and_the_next_run_starts_anew(bench: Benches) -> None:
    filling = bench("iibench", batch=100, rows_limit=20_000, secondary_indexes=0)
    for _ in range(2):
        read, checks = filling.run(duration=120)
        assert broken(checks) == []
        assert values(read)["client.rows_inserted"] == 20_000
        assert values(read)["client.elapsed"] < 120


def test_the_sysbench_family_counts_writes_that_match_nothing(bench: Benches) -> None:
    """Ids with gaps, as several writing nodes give them: throughput looks better than it is."""
    family = bench("sysbench_oltp", test="oltp_update_non_index", tables=2, table_size=200, rand_type="uniform")
    read, checks = family.run(duration=1)
    assert broken(checks) == []
    assert has_promised(read, "sysbench_oltp")
    assert values(read)["client.unmatched"] == 0
    with family.sql() as cursor:
        cursor.execute("DELETE FROM sbtest1 WHERE id % 3 > 0")
    read, checks = family.run(duration=1)
    # Of a write to either table with the same chance, 134 of 200 rows of one are gone.
    found = values(read)
    assert is_share(found["client.unmatched"] * found["client.elapsed"], of=found["client.transactions"], p=134 / 400)
    assert "writes matched no row" in checks["matched"].label
    assert not checks["matched"].held
    assert checks["rows"].label == "sbtest1 holds 66 rows, not 200"


def test_the_catalog_s_250_tables_are_all_made_used_and_dropped(bench: Benches) -> None:
    (many,) = [given for given in sysbench_oltp.SPEC.seeds if given.get("tables") == 250]
    wide = bench("sysbench_oltp", **{**many, "table_size": 10, "rand_type": "uniform"})
    read, checks = wide.run(duration=1)
    assert broken(checks) == []
    assert checks["rows"].label == "2500 rows in 250 tables, as reported"
    assert values(read)["client.throughput"] > 0


@pytest.mark.parametrize("test", ["oltp_insert", "select_random_points"])
def test_a_test_that_sets_itself_up_runs_twice(bench: Benches, test: str) -> None:
    family = bench("sysbench_oltp", test=test, tables=1, table_size=100)
    for _ in range(2):
        read, checks = family.run(duration=1)
        assert broken(checks) == []
        assert read.complete


def test_without_transactions_rows_that_two_threads_insert_are_errors_and_not_the_end(bench: Benches) -> None:
    loose = bench("sysbench_oltp", test="oltp_write_only", tables=1, table_size=200, rand_type="uniform", skip_trx=True)

    def duplicates() -> int:
        read, checks = loose.run(threads=8)
        assert broken(checks) == []
        assert read.complete
        assert checks["rows"].label == "200 rows in 1 table, as reported"
        errors = [event.detail for event in read.events if event.kind == "error" and event.detail["code"] == 1062]
        return sum(error["count"] for error in errors)

    # Some 1 % of the transactions: of the few hundred that a busy machine makes in a run maybe none.
    eventually(duplicates, what="two threads have inserted the same row")


def test_a_server_that_refuses_connections_still_gives_a_result(start_mariadb: StartMariaDB, tmp_path: Path) -> None:
    server = start_mariadb(max_connections="10")
    benches = Benches(Server(server.port, server.password), tmp_path)
    full = benches("sysbench_oltp", test="oltp_read_write", table_size=100)
    read, checks = full.run(threads=40, duration=1)
    found = values(read)
    assert found["client.connections.opened"] + found["client.connections.refused"] == 40
    assert found["client.connections.refused"] >= 29
    assert found["client.throughput"] > 0
    assert broken(checks) == []
    assert checks["load"].label.endswith("connections were refused (1040: Too many connections)")
    assert any("Too many connections" in event.label for event in read.events)


def test_a_storm_of_connections_counts_those_refused_as_errors(start_mariadb: StartMariaDB, tmp_path: Path) -> None:
    server = start_mariadb(max_connections="10")
    storm = Benches(Server(server.port, server.password), tmp_path)("sysbench_oltp", test="connect", table_size=100)
    read, checks = storm.run(threads=40, duration=1)
    found = values(read)
    assert broken(checks) == []
    assert found["client.connections.opened"] == found["client.transactions"] > 0
    assert found["client.connections.refused"] == found["client.errors.total"] > 0


UNGREETED = "2013: Lost connection to server at 'handshake"


def test_a_storm_that_fills_the_accept_queue_counts_those_never_greeted_as_refused_and_ends(
    start_mariadb: StartMariaDB, tmp_path: Path
) -> None:
    """The client's connections stand, the server knows nothing of them."""
    server = start_mariadb(back_log="1", max_connections="300")
    storm = Benches(Server(server.port, server.password), tmp_path)("sysbench_oltp", test="connect", table_size=100)
    began = time.monotonic()
    read, checks = storm.run(threads=100, duration=1)
    took = time.monotonic() - began
    found = values(read)
    assert broken(checks) == []
    assert found["client.connections.refused"] == found["client.errors.total"] > 0
    assert UNGREETED in checks["load"].label
    # The seconds of waiting for them are no part of the load.
    assert found["client.elapsed"] < took / 2


def test_threads_that_are_never_greeted_leave_the_load_to_the_others(mariadb: MariaDB, tmp_path: Path) -> None:
    """A proxy that is full accepts no more."""
    with full_proxy(tmp_path, to=mariadb.port, most=6) as port:
        reading = Benches(Server(port, mariadb.password), tmp_path)(
            "sysbench_oltp", test="oltp_point_select", table_size=100
        )
        read, checks = reading.run(threads=10, duration=1)
        assert reading.clean_up() == []
    found = values(read)
    assert broken(checks) == []
    assert (found["client.connections.opened"], found["client.connections.refused"]) == (6, 4)
    assert UNGREETED in checks["load"].label
    assert found["client.throughput"] > 0


def test_statements_that_cannot_be_prepared_fail_the_run_with_the_remedy(bench: Benches) -> None:
    family = bench("sysbench_oltp", test="oltp_read_write", tables=4, table_size=10)
    with family.sql() as cursor:
        cursor.execute("SET GLOBAL max_prepared_stmt_count = 50")
        try:
            assert "give db_ps_mode=disable" in family.failure(threads=4)
        finally:
            cursor.execute("SET GLOBAL max_prepared_stmt_count = DEFAULT")


def test_ingest_fills_parents_and_their_children(bench: Benches) -> None:
    ingest = bench("app_ingest", tables=3, children=2, primary_key="composite", foreign_keys=True)
    for _ in range(2):
        read, checks = ingest.run(duration=1)
        assert broken(checks) == []
        assert has_promised(read, "app_ingest")
    found = values(read)
    assert found["client.rows"] == pytest.approx(150 * found["client.throughput"])
    with ingest.sql() as cursor:
        cursor.execute("DELETE FROM child2 LIMIT 1")
    assert not ingest.verified()["rows"].held


def test_the_application_keeps_its_tables_and_the_next_run_starts_as_prepared(bench: Benches) -> None:
    application = bench("app_oltp", tables=4, rows=200, creates=20, deletes=20, foreign_keys=True)
    for _ in range(2):
        read, checks = application.run(warmup=1, duration=1)
        assert broken(checks) == []
        assert has_promised(read, "app_oltp")
        assert values(read)["client.unmatched"] == 0
        assert values(read)["client.rows_deleted"] > 0
        # To the last statement, those that put the tables back included.
        client, server = map(int, re.findall(r"\d+", checks["writes"].label))
        assert 0 <= server - client <= values(read)["client.errors.total"]
    with application.sql() as cursor:
        cursor.execute("DELETE FROM child1 WHERE parent_id % 4 = 1 OR parent_id % 4 = 2")
    read, checks = application.run(duration=1)
    assert not checks["matched"].held
    assert values(read)["client.unmatched"] > 0
    assert not checks["rows"].held


def test_the_tpcc_like_mix_leaves_consistent_tables_and_counts_new_orders(bench: Benches) -> None:
    shop = bench("tpcc_like", warehouses=2, items=100, customers=30)
    for _ in range(2):
        read, checks = shop.run(threads=8, duration=1)
        assert broken(checks) == []
        assert read.failures == ()
        assert has_promised(read, "tpcc_like")
    found = values(read)
    # 45 of 100 are asked for; those that lose a lock and are tried again, or are rolled back, shift it a little.
    assert is_share(
        found["client.new_orders"] * found["client.elapsed"], of=found["client.transactions"], p=0.45, give=0.1
    )
    with shop.sql() as cursor:
        cursor.execute("UPDATE district SET ytd = ytd + 1 WHERE w_id = 1 AND d_id = 1")
    assert not shop.verified()["consistency 1"].held


def lock_timeouts(looking: Cursor) -> int:
    """Since the server's start."""
    looking.execute("SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_timeouts'")
    return int((looking.fetchone() or ("",))[0])


def test_what_waits_too_long_for_a_lock_is_tried_again_and_reported_by_its_code(bench: Benches) -> None:
    shop = bench("tpcc_like", warehouses=1, items=20, customers=10)
    with shop.sql() as holding, shop.sql() as looking:
        before = lock_timeouts(looking)

        def release() -> None:
            try:
                eventually(lambda: lock_timeouts(looking) > before, what="a transaction waited too long")
            finally:
                holding.connection.rollback()

        holding.execute("SET GLOBAL innodb_lock_wait_timeout = 1")
        holding.execute("BEGIN")
        holding.execute("SELECT * FROM district FOR UPDATE")
        with ThreadPoolExecutor() as pool:
            released = pool.submit(release)
            read, checks = shop.run(threads=2, duration=3)
            released.result()
        holding.execute("SET GLOBAL innodb_lock_wait_timeout = DEFAULT")
    assert broken(checks) == []
    assert read.failures == ()
    errors = [event for event in read.events if event.kind == "error"]
    assert {event.detail["code"] for event in errors} == {1205}
    assert values(read)["client.errors.total"] == sum(event.detail["count"] for event in errors) > 0


def test_the_time_to_serve_is_part_of_the_round_trip(bench: Benches) -> None:
    waiting = bench("execution_latency", rows=500)
    read, checks = waiting.run(threads=4, warmup=1, duration=2)
    assert broken(checks) == []
    assert has_promised(read, "execution_latency")
    found = values(read)
    assert 0 < found["client.execution_latency.avg"] < found["client.latency.avg"]
    # One machine, one clock: the offset that is found is within its uncertainty.
    assert abs(found["client.clock.offset"]) <= found["client.clock.uncertainty"]
    served = {kept.metric: kept.distribution for kept in read.distributions}
    # sysbench counts the warm-up's end a moment before the script does, which is long on a busy machine; each of the
    # threads may have one transaction under way then.
    assert 0 < served["client.execution_latency"].count <= found["client.transactions"] + 4
    assert served["client.execution_latency"].percentile(95).value == found["client.execution_latency.p95"]


def test_without_a_warm_up_every_transaction_is_in_the_histogram(bench: Benches) -> None:
    read, _ = bench("execution_latency", rows=500).run(threads=4, duration=1)
    assert read.distributions[0].distribution.count == values(read)["client.transactions"]


@pytest.mark.parametrize(
    ("counts", "percent"),
    [((1, 1, 1), 50), ((94, 1, 5), 95), ((946, 9, 45), 95), ((20_909, 5, 1_101), 95), ((1, 0, 2), 99)],
)
def test_scripts_take_a_percentile_as_the_warehouse_does(counts: tuple[int, ...], percent: int, tmp_path: Path) -> None:
    buckets = {bucket: count for bucket, count in enumerate(counts, start=600) if count}
    kept = HistogramCounts(SysbenchGrid(), tuple(buckets), tuple(buckets.values()))
    entries = ", ".join(f"{{{kept.grid.value(bucket)}, {count}}}" for bucket, count in buckets.items())
    script = tmp_path / "taken.lua"
    script.write_text(
        f"package.path = '{SCRIPTS}/?.lua;' .. package.path\n"
        f"function help() print(require('counters').percentile({{ {entries} }}, {percent})) end\n"
    )
    said = subprocess.run(["sysbench", script, "help"], check=True, capture_output=True, text=True).stdout
    value, count = said.split()[-2:]
    assert (float(value), int(count)) == (kept.percentile(percent).value, kept.count)
