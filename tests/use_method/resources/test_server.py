"""What limits a server: on recordings of real ones where it is known, else on the counters that tell it."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from apps.runs.samples.columns import SampledNode
from apps.runs.storage.codec import Column
from apps.use_method import engine
from apps.use_method.resources import (
    buffer_pool,
    connections,
    counters,
    purge,
    redo_log,
    row_locks,
    table_cache,
    table_locks,
    temporary_tables,
    threads,
)
from apps.use_method.values import Moment, NodeFacts, Panel, Reading, RunFacts, UseLevel
from tests.paths import RECORDINGS
from tests.use_method import recorded
from tests.use_method.builders import a_node, facts, lit, of_sampled, reading, samples, steady

SERVER = (
    *(connections.RESOURCE, threads.RESOURCE, row_locks.RESOURCE, table_locks.RESOURCE, buffer_pool.RESOURCE),
    *(redo_log.RESOURCE, table_cache.RESOURCE, temporary_tables.RESOURCE, purge.RESOURCE),
)
STATUS = "mysql.status."
BLOCKED = json.loads((RECORDINGS / "blocked.json").read_text())
SECONDS = 60


def panel(found: RunFacts) -> Panel:
    return engine.panel(found, SERVER)


def judged(indicator: str, node: NodeFacts, **more: object) -> Reading:
    return reading(panel(facts(node, **more)), indicator, node.name)


def of(status: Mapping[str, float | list[float]], variables: dict[str, str] | None = None, **more: Any) -> NodeFacts:
    """A node with these of SHOW GLOBAL STATUS (counters: their rates), keys with a dot as they are."""
    series = {
        key if "." in key else STATUS + key: steady(value) if isinstance(value, float) else samples(value)
        for key, value in status.items()
    }
    return a_node(series=series, variables=variables or {}, **more)


def words(found: Reading) -> str:
    return found.words.replace("\u00a0", " ")


# ---------------------------------------------------------------- recordings


@pytest.mark.parametrize("name", ["phase1_ro_t1", "phase2_rw_t4", "phase3_rw_t16", "phase4_wo_t32"])
def test_a_quiet_load_of_a_single_server_lights_nothing(name: str) -> None:
    found = panel(recorded.phase(recorded.run("single_120s"), name))
    assert lit(found, levels=("watch", "saturated", "error")) == set()


@pytest.mark.parametrize("word", ["rate=100", "oltp_write_only t16", "oltp_read_only"])
def test_a_quiet_load_of_galera_lights_nothing(word: str) -> None:
    assert lit(panel(recorded.phase(recorded.run("galera_120s"), word))) == set()


def test_rows_written_on_three_nodes_are_waited_for_and_lost_on_each() -> None:
    found = panel(recorded.phase(recorded.run("galera_120s"), "hot"))
    assert lit(found) == {("row_locks.deadlocks", node) for node in ("g1", "g2", "g3")}
    assert {("row_locks.waiting", "g1"), ("row_locks.now", "g1")} <= lit(found, levels=("watch",))
    assert "% of the transactions" in words(reading(found, "row_locks.deadlocks", "g1"))


def test_a_schema_change_that_copies_lets_nothing_through_until_it_ends() -> None:
    found = panel(recorded.run("ddl.copy"))
    assert lit(found) == {("table_locks.standstill", "single")}
    shown = reading(found, "table_locks.standstill", "single")
    [(start, end)] = shown.spans
    change = recorded.event(recorded.run("ddl.copy"), "ALTER TABLE")
    assert change.starts_at - 1 <= start <= end <= (change.ends_at or 0) + 1
    assert "ALGORITHM=COPY” was under way" in shown.words
    # It fills the log buffer, too, which is seen and stops nobody for long.
    assert reading(found, "redo_log.waits", "single").level is UseLevel.WATCH


@pytest.mark.parametrize("name", ["ddl.inplace_rebuild", "ddl.instant"])
def test_a_schema_change_that_lets_others_write_is_no_standstill(name: str) -> None:
    found = panel(recorded.run(name))
    assert reading(found, "table_locks.standstill", "single").level is UseLevel.OK


def test_a_schema_change_of_a_cluster_stops_its_writer() -> None:
    found = panel(recorded.run("ddl_toi_galera"))
    assert [shown.node for shown in found.of("table_locks.standstill") if shown.level is UseLevel.SATURATED] == ["g2"]


def test_a_writer_that_waits_for_its_cluster_waits_for_no_table() -> None:
    shown = reading(panel(recorded.run("kill9_nonwriter_node2_default")), "table_locks.standstill", "g1")
    assert shown.level is UseLevel.OK


# ---------------------------------------------------------------- standstill


def blocked() -> NodeFacts:
    """MariaDB with 8 clients, on which four things held everybody for some seconds: three locks of the table, one of
    its rows."""
    clock = np.array(BLOCKED["clock"])
    columns = {
        key: Column(np.array(values), np.ones(len(values), np.bool_)) for key, values in BLOCKED["series"].items()
    }
    sampled = SampledNode(name="db1", role="writer", clock=clock, changing=columns, constants={})
    return of_sampled(sampled, (0.0, float(clock[-1])))


def test_a_table_that_is_locked_is_lit_whoever_locks_it_and_rows_that_are_locked_are_not_taken_for_it() -> None:
    found = panel(facts(blocked(), threads=8))
    shown = reading(found, "table_locks.standstill", "db1")
    behind, rows = BLOCKED["events"][:3], BLOCKED["events"][3]
    assert "transaction" in behind[0]["what"]
    assert shown.level is UseLevel.SATURATED
    assert len(shown.spans) == len(behind)
    for (start, end), event in zip(shown.spans, behind, strict=True):
        assert event["from"] <= start <= end <= event["to"]
    [(start, end)] = reading(found, "row_locks.now", "db1").spans
    assert rows["from"] - 1 <= start <= end <= rows["to"]


STOP = [2.0] * 20 + [9.0] * 8 + [2.0] * 32  # threads running
SERVED = [900.0] * 20 + [1.0] * 8 + [900.0] * 32  # statements/s, one of them the sampler's


def test_statements_that_wait_for_a_table_are_distinguished_from_idle_clients() -> None:
    blocked = of({"Threads_running": STOP, "Questions": SERVED})
    shown = judged("table_locks.standstill", blocked)
    assert (shown.level, shown.value, shown.spans) == (UseLevel.SATURATED, 8.0, ((20.0, 28.0),))
    assert words(shown).startswith("for 8 s, first from 20 s on, hardly a statement came through while up to 8")
    idle = of({"Threads_running": [2.0] * 20 + [1.0] * 8 + [2.0] * 32, "Questions": SERVED})
    assert judged("table_locks.standstill", idle).level is UseLevel.OK


@pytest.mark.parametrize(
    ("what", "value", "why"),
    [
        ("Innodb_row_lock_current_waits", 7.0, "rows"),
        ("Rpl_semi_sync_master_wait_sessions", 8.0, "a semi-synchronous replica"),
        ("Rpl_semi_sync_source_wait_sessions", 8.0, "a semi-synchronous replica"),
        ("Innodb_data_pending_fsyncs", 1.0, "a disk"),
        ("derived.redo.checkpoint_age", 99.0, "room in the redo log"),
        ("derived.redo.in_use", 83.0, "room in the redo log"),
        ("wsrep_cluster_size", 3.0, "the cluster"),
    ],
)
def test_a_standstill_that_something_else_explains_is_said_and_not_lit(what: str, value: float, why: str) -> None:
    shown = judged("table_locks.standstill", of({"Threads_running": STOP, "Questions": SERVED, what: value}))
    assert shown.level is UseLevel.OK
    assert shown.words.endswith(f"they waited for {why}")


def test_threads_of_replication_are_no_waiting_clients() -> None:
    replica = of(
        {
            "Threads_running": 3.0,
            "Questions": [900.0] * 20 + [1.0] * 8 + [900.0] * 32,
            "mysql.replication.io_running": 1.0,
            "mysql.replication.sql_running": 1.0,
        }
    )
    assert judged("table_locks.standstill", replica).level is UseLevel.OK


def test_mysql_counts_no_threads_of_a_replica_and_its_own_replicas_where_they_acknowledge() -> None:
    served = [900.0] * 20 + [1.0] * 8 + [900.0] * 32
    version = {"version": "8.4.3"}
    # Of a replica: the sampler and two clients that wait.
    waits: dict[str, float | list[float]] = {"Threads_running": 3.0, "Questions": served}
    waits |= dict.fromkeys(counters.REPLICA, 1.0)
    assert judged("table_locks.standstill", of(waits, variables=version)).level is UseLevel.SATURATED
    # Of a source: the sampler and a thread for each replica.
    sends: dict[str, float | list[float]] = {
        "Threads_running": 3.0,
        "Questions": served,
        "Rpl_semi_sync_source_clients": 2.0,
    }
    assert judged("table_locks.standstill", of(sends, variables=version)).level is UseLevel.OK


def test_what_the_tool_saw_of_its_statements_lock_is_reported() -> None:
    seen = {"metadata_lock_wait": 4.2, "metadata_lock_queue": 7, "seconds": 4.3, "statement": "ALTER TABLE t ADD c INT"}
    change = Moment("ddl", "ALTER TABLE t ADD COLUMN c INT took 4.300 s", 20.0, 24.3, "client", seen)
    shown = judged("table_locks.schema_change", of({"Threads_running": 2.0}), events=(change,))
    assert (shown.level, shown.value, shown.spans) == (UseLevel.SATURATED, 7.0, ((20.0, 24.3),))
    assert "“ALTER TABLE t ADD c INT” took 4.30 s, 4.20 s of it until it had its lock; 7 connections" in words(shown)


def test_a_schema_change_is_reported_for_the_node_that_it_ran_on() -> None:
    seen = {"metadata_lock_wait": 0.0, "metadata_lock_queue": 7, "seconds": 4.3}
    change = Moment("ddl", "ALTER TABLE t", 20.0, 24.3, "client", seen)
    nodes = (a_node("n1", series={STATUS + "Threads_running": steady(2.0)}), of({"Threads_running": STOP}))
    found = panel(facts(*nodes, events=(change,)))
    assert lit(found) == {("table_locks.schema_change", "db1")}


# ---------------------------------------------------------------- connections and threads


def test_connections_are_judged_by_the_servers_own_limit() -> None:
    shown = judged("connections.used", of({"Threads_connected": 147.0}, {"max_connections": "151"}))
    assert (shown.level, round(shown.value or 0)) == (UseLevel.SATURATED, 97)
    assert shown.words.endswith("of max_connections = 151")
    unknown = judged("connections.used", of({"Threads_connected": 147.0}))
    assert (unknown.level, unknown.words) == (UseLevel.NOT_OBSERVABLE, "the server's max_connections is not known")


def test_refused_connections_are_saturation_and_lost_ones_errors() -> None:
    storm = of({"Connection_errors_max_connections": [0.0] * 30 + [40.0] * 30, "Aborted_clients": [0.0] * 59 + [2.0]})
    refused, lost = judged("connections.refused", storm), judged("connections.lost", storm)
    assert (refused.level, refused.value) == (UseLevel.SATURATED, 1200.0)
    assert (lost.level, lost.value) == (UseLevel.ERROR, 2.0)


def test_connections_refused_because_all_are_in_use_are_not_reported_twice() -> None:
    storm = {"Connection_errors_max_connections": 40.0, "Aborted_connects": 40.0}
    assert judged("connections.failed", of(storm)).level is UseLevel.OK
    assert judged("connections.failed", of(storm | {"Aborted_connects": 41.0})).value == 60.0


@pytest.mark.parametrize(
    ("running", "threads", "level"),
    [
        (33.0, 800, UseLevel.SATURATED),  # as Aurora was seen to do on 32 vCPU
        (33.0, 32, UseLevel.OK),  # no more clients than that
        (20.0, 800, UseLevel.OK),
    ],
)
def test_threads_held_at_the_number_of_vcpu_show_thread_pooling(running: float, threads: int, level: UseLevel) -> None:
    shown = judged("threads.held", of({"Threads_running": running}, hardware_vcpu=32), threads=threads)
    assert shown.level is level


def test_threads_that_vary_around_the_number_of_vcpu_are_not_held() -> None:
    rng = np.random.default_rng(1)
    varying = [float(value) for value in rng.integers(16, 60, SECONDS)]
    assert judged("threads.held", of({"Threads_running": varying}, hardware_vcpu=32), threads=800).level is UseLevel.OK


# ---------------------------------------------------------------- InnoDB


def test_waiting_for_rows_is_judged_by_the_clients_that_could_wait() -> None:
    def shown(threads: int) -> Reading:
        return judged("row_locks.waiting", of({"derived.row_locks.waiting": 8.0}), threads=threads)

    assert (shown(16).level, shown(16).value) == (UseLevel.SATURATED, 50.0)
    assert shown(64).level is UseLevel.WATCH
    assert shown(256).level is UseLevel.OK


def test_few_deadlocks_are_watched_and_one_in_a_hundred_transactions_is_an_error() -> None:
    def shown(commits: float) -> Reading:
        return judged("row_locks.deadlocks", of({"Innodb_deadlocks": 1.0, "Com_commit": commits}))

    assert (shown(500.0).level, shown(500.0).value) == (UseLevel.WATCH, 60.0)
    assert shown(50.0).level is UseLevel.ERROR


def test_mysql_tells_deadlocks_and_the_history_list_in_innodb_metrics() -> None:
    mysql = of({"mysql.innodb.lock_deadlocks": 1.0, "mysql.innodb.trx_rseg_history_len": 2e6})
    assert judged("row_locks.deadlocks", mysql).level is UseLevel.ERROR
    assert judged("purge.length", mysql).level is UseLevel.SATURATED


def test_a_history_list_that_grows_all_the_time_is_watched() -> None:
    growing = judged("purge.growth", of({"Innodb_history_list_length": [300.0 * second for second in range(SECONDS)]}))
    assert (growing.level, round(growing.value or 0)) == (UseLevel.WATCH, 300)
    swinging = of({"Innodb_history_list_length": [1000.0 * (second % 10) for second in range(SECONDS)]})
    assert judged("purge.growth", swinging).level is UseLevel.OK


def test_delayed_writes_are_judged_by_the_lag_that_was_set() -> None:
    lagging = of({"Innodb_history_list_length": 60_000.0}, {"innodb_max_purge_lag": "50000"})
    assert judged("purge.length", lagging).level is UseLevel.SATURATED


def test_a_full_redo_log_stops_writers_and_one_that_is_nearly_full_is_watched() -> None:
    assert judged("redo_log.age", of({"derived.redo.checkpoint_age": 99.0})).level is UseLevel.SATURATED
    assert judged("redo_log.age", of({"derived.redo.checkpoint_age": 92.0})).level is UseLevel.WATCH
    assert judged("redo_log.age", of({"derived.redo.checkpoint_age": 88.0})).level is UseLevel.OK
    # MySQL's writers wait at 84 % of the capacity, and never fill the rest.
    assert judged("redo_log.age", of({"derived.redo.in_use": 83.0})).level is UseLevel.SATURATED
    assert judged("redo_log.age", of({"derived.redo.in_use": 77.0})).level is UseLevel.WATCH
    assert judged("redo_log.age", of({"derived.redo.in_use": 70.0})).level is UseLevel.OK


def test_a_full_buffer_pool_is_no_trouble_and_reads_that_statements_wait_for_are() -> None:
    full = of(
        {"derived.buffer_pool.used": 100.0, "Innodb_buffer_pool_reads": 2250.0, "Questions": 901.0},
    )
    assert judged("buffer_pool.used", full).level is UseLevel.OK
    assert judged("buffer_pool.misses", full).level is UseLevel.SATURATED
    unasked = of({"Innodb_buffer_pool_reads": 36.0, "Questions": 52.0, "agent.statements": 4.0})
    assert judged("buffer_pool.misses", unasked).words == "fewer than 50 statements/s"


def test_dirty_pages_are_judged_by_the_share_from_which_the_server_flushes_at_all_cost() -> None:
    dirty = {"derived.buffer_pool.dirty": 70.0}
    assert judged("buffer_pool.dirty", of(dirty, {"innodb_max_dirty_pages_pct": "75"})).level is UseLevel.WATCH
    assert judged("buffer_pool.dirty", of(dirty, {"innodb_max_dirty_pages_pct": "90"})).level is UseLevel.OK


def test_one_wait_for_a_page_is_watched_and_one_each_second_is_saturation() -> None:
    once = judged("buffer_pool.wait_free", of({"Innodb_buffer_pool_wait_free": [0.0] * 59 + [1.0]}))
    assert (once.level, words(once)) == (UseLevel.WATCH, "1 waits, first at 59 s")
    assert judged("buffer_pool.wait_free", of({"Innodb_buffer_pool_wait_free": 3.0})).level is UseLevel.SATURATED


def test_a_table_cache_that_is_full_is_judged_by_the_tables_that_it_drops() -> None:
    full = of({"Open_tables": 400.0, "Table_open_cache_overflows": 0.0}, {"table_open_cache": "400"})
    assert judged("table_cache.used", full).level is UseLevel.OK
    assert judged("table_cache.overflows", full).level is UseLevel.OK
    assert judged("table_cache.overflows", of({"Table_open_cache_overflows": 50.0})).level is UseLevel.SATURATED


def test_temporary_tables_on_disk_are_judged_by_the_statements_that_need_them() -> None:
    on_disk = of({"Created_tmp_disk_tables": 108.0, "Questions": 900.0, "Created_tmp_tables": 500.0})
    assert judged("temporary_tables.on_disk", on_disk).level is UseLevel.SATURATED
    assert judged("temporary_tables.made", on_disk).level is UseLevel.OK


# ---------------------------------------------------------------- not seen


def test_aurora_is_said_to_have_no_redo_log() -> None:
    shown = judged("redo_log.age", of({"Threads_running": 2.0}), aws="instance")
    assert shown.level is UseLevel.NOT_OBSERVABLE
    assert shown.words.startswith("Aurora has no redo log of its own")
