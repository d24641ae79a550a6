"""What programs of ours say they executed is what a real MariaDB counted."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.mariadb import MariaDB
from tests.workers.agent.benches import Benches, Server, broken
from workers.agent.tools import report_output

pytestmark = pytest.mark.mariadb
SMALL = {"tables": 2, "table_size": 500}


@pytest.fixture
def bench(mariadb: MariaDB, tmp_path: Path) -> Iterator[Benches]:
    benches = Benches(Server(mariadb.port, mariadb.password), tmp_path)
    yield benches
    benches.close()


@pytest.mark.parametrize(
    ("tool", "parameters", "checks"),
    [
        ("asyncload", {"mix": "insert", **SMALL}, {"writes"}),
        ("asyncload", {"mix": "read_only", **SMALL}, {"writes", "reads"}),
        ("slap", {"mix": "insert", "round": 0.3, **SMALL}, {"writes"}),
        ("slap", {"mix": "point_select", "round": 0.3, **SMALL}, {"writes", "reads"}),
        ("index_cost", {"test": "oltp_read_write", **SMALL}, {"writes", "reads", "matched"}),
        ("data_load", {"rows": 500, "profile": False}, {"writes"}),
    ],
)
def test_the_server_counted_what_the_program_did(
    bench: Benches, tool: str, parameters: dict[str, Any], checks: set[str]
) -> None:
    read, found = bench(tool, **parameters).run(threads=2, warmup=1 if tool == "asyncload" else 0, duration=1)
    assert read.failures == ()
    assert broken(found) == []
    assert found.keys() == checks
    client, server = (int(word.rstrip(",")) for word in found["writes"].label.split() if word.rstrip(",").isdigit())
    executed = report_output.executed(bench.folder / "output")
    assert executed is not None
    # A statement that ends in a deadlock the server has counted, and the program has not.
    assert client <= server <= client + executed.counts["errors"] + 2


def test_updates_that_match_nothing_fail_the_run(bench: Benches) -> None:
    load = bench("ddl_under_load", algorithm="instant", at=4, tables=1, table_size=500)
    with load.sql() as cursor:
        cursor.execute("DELETE FROM sbtest1 WHERE id % 3 > 0")
    _, found = load.run(threads=2, duration=5, rate=40)
    assert found["writes"].held
    assert not found["matched"].held
    assert "writes matched no row" in found["matched"].label


def test_reads_by_mysqlslap_that_find_no_row_fail_the_run(bench: Benches) -> None:
    load = bench("slap", mix="point_select", round=0.3, **SMALL)
    with load.sql() as cursor:
        cursor.execute("DELETE FROM sbtest2 WHERE id % 2 = 0")
    read, _ = load.run(threads=2, duration=1)
    (failure,) = read.failures
    assert "rows that were read by key" in failure
