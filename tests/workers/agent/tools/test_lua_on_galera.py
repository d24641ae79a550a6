"""Our workloads through a proxy to a cluster whose servers step their ids: what they write they really write."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.galera import Galera
from tests.workers.agent.benches import Benches, Server, broken, values

pytestmark = pytest.mark.galera


@pytest.fixture
def bench(galera: Galera, tmp_path: Path) -> Iterator[Benches]:
    benches = Benches(Server(galera.ports["writer"], galera.servers["node1"].password), tmp_path)
    yield benches
    benches.close()


@pytest.mark.parametrize(
    ("tool", "parameters"),
    [
        ("sysbench_oltp", {"test": "oltp_read_write", "tables": 2, "table_size": 500}),
        ("iibench", {}),
        ("app_ingest", {"tables": 2}),
        ("app_oltp", {"tables": 2, "rows": 100, "creates": 30, "deletes": 30}),
        ("tpcc_like", {"items": 50, "customers": 20}),
        ("execution_latency", {"rows": 100}),
    ],
)
def test_every_write_matches_and_is_counted_alike_by_the_server(
    bench: Benches, tool: str, parameters: dict[str, Any]
) -> None:
    load = bench(tool, **parameters)
    read, checks = load.run(threads=4, duration=1)
    assert broken(checks) == []
    assert read.failures == ()
    assert values(read)["client.unmatched"] <= 0.01 * values(read)["client.writes"]
    assert {"load", "writes", "reads"} <= checks.keys()


def test_a_program_s_writes_match_too_and_are_counted_alike(bench: Benches) -> None:
    read, checks = bench("index_cost", test="oltp_read_write", tables=2, table_size=500).run(threads=4, duration=2)
    assert (read.failures, broken(checks)) == ((), [])
    assert checks.keys() == {"writes", "reads", "matched"}


@pytest.mark.parametrize("tool", ["sysbench_oltp", "sysbench"])
def test_ids_with_gaps_fail_the_run(bench: Benches, tool: str) -> None:
    load = bench(tool, test="oltp_update_index", tables=1, table_size=300, auto_inc=True)
    read, checks = load.run(threads=2, duration=1)
    assert read.complete
    assert checks["ids"].label == "the server steps its ids by 3; give auto_inc=off"
    if tool == "sysbench_oltp":
        assert values(read)["client.unmatched"] > 0.3 * values(read)["client.throughput"]
        assert not checks["matched"].held


def test_an_alter_kills_the_transaction_in_its_way_and_stops_writers_of_other_tables(bench: Benches) -> None:
    """Total-order isolation: the statement waits for nobody, and everybody who writes waits for it. The holder is
    killed when the copy is done: a slow machine must get there within `hold`."""
    way = {"table_size": 100_000, "at": 4, "algorithm": "copy", "hold": 12}
    read, _ = bench("ddl_under_load", **way).run(threads=4, rate=40, duration=20)
    (statement,) = (event for event in read.events if event.kind == "ddl")
    (held,) = (event for event in read.events if event.kind == "phase")
    took = statement.detail["seconds"]
    assert statement.detail["holders_lost"] == 1
    assert "until it was rolled back: error 1213: Deadlock found" in held.label
    assert statement.detail["other_tables_gap"] > 0.8 * took
    assert values(read)["ddl.other_tables.gap_before"] < 0.8 * took
