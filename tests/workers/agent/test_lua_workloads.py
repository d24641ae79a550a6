"""Our workloads on sysbench, each for a few seconds on a real MariaDB, by the real tools and the server's reader."""

import itertools
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymysql
import pytest
from pymysql.cursors import Cursor

from apps.runs import outputs
from apps.runs.outputs import Output
from lab.mariadb import ACCOUNT, MariaDB
from tests.databases import StartMariaDB
from workers.agent import database
from workers.agent.config import Address, NodeConfig, SystemConfig
from workers.agent.tools import Check, Finished, Target, Tool
from workers.agent.tools.registry import tool_named
from workers.wire import LoadLevelMessage
from workers.workloads import WORKLOADS

pytestmark = pytest.mark.mariadb
schemas = (f"lua{number}" for number in itertools.count())


class Bench:
    """One workload on a schema of its own: prepared once, run as often as asked."""

    def __init__(self, server: MariaDB, tool: str, parameters: dict[str, Any], folder: Path) -> None:
        address = Address(port=server.port)
        node = NodeConfig(name="db1", role="writer", zone="", address=address, local=True)
        self.schema = next(schemas)
        self.system = SystemConfig(
            slug="single",
            name="single",
            platform="mariadb",
            hardware_class="box",
            address=address,
            user=ACCOUNT,
            password=server.password,
            database=self.schema,
            nodes=(node,),
            settings={},
        )
        self.tool: Tool = tool_named(tool)
        self.parameters = parameters
        self.folder = folder
        secrets = folder / "secrets"
        secrets.write_text(self.tool.secrets(self.system, self.schema))
        self.target = Target(address=address, user=ACCOUNT, schema=self.schema, secrets=secrets)
        self.workspace = database.plan_workspace(self.system, self.tool.data_set(parameters).tables)
        database.create_schema(self.system, self.workspace)

    def prepare(self) -> None:
        subprocess.run(self.tool.prepare(self.target, self.parameters).argv, check=True, capture_output=True)
        database.check_rows(self.system, self.workspace, self.tool.data_set(self.parameters).counted())

    def run(
        self, *, threads: int = 4, warmup: int = 0, duration: int = 2, rate: float | None = None
    ) -> tuple[Output, dict[str, Check]]:
        """What the server reads of the run, and the tool's checks by name."""
        level = LoadLevelMessage(threads=threads, rate=rate)
        invocation = self.tool.run(self.target, self.parameters, load_level=level, warmup=warmup, duration=duration)
        before = database.status(self.system)
        done = subprocess.run(invocation.argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert self.tool.failure(done.returncode, done.stdout) == ""
        output = self.folder / "output"
        output.write_bytes(done.stdout)
        finished = Finished(
            system=self.system,
            schema=self.schema,
            parameters=self.parameters,
            output=output,
            before=before,
            after=database.status(self.system),
        )
        checks = self.tool.verify(finished)
        read = outputs.read(self.tool.name, done.stdout)
        assert read.unparsed == ()
        return read, {check.name: check for check in checks}

    def clean_up(self) -> list[str]:
        """Tables that the tool's own clean-up left."""
        subprocess.run(self.tool.clean_up(self.target, self.parameters).argv, check=True, capture_output=True)
        with self.sql() as cursor:
            cursor.execute("SHOW TABLES")
            left = [str(row[0]) for row in cursor.fetchall()]
        database.remove_workspace(self.system, self.workspace)
        return left

    def sql(self) -> Cursor:
        connection = pymysql.connect(
            port=self.target.address.port,
            user=ACCOUNT,
            password=self.system.password,
            database=self.schema,
            autocommit=True,
        )
        return connection.cursor()


class Benches:
    def __init__(self, server: MariaDB, folder: Path) -> None:
        self.server, self.folder, self.made = server, folder, list[Bench]()

    def __call__(self, tool: str, **parameters: Any) -> Bench:
        bench = Bench(self.server, tool, parameters, self.folder)
        self.made.append(bench)
        bench.prepare()
        return bench


@pytest.fixture
def bench(mariadb: MariaDB, tmp_path: Path) -> Iterator[Benches]:
    benches = Benches(mariadb, tmp_path)
    yield benches
    for made in benches.made:
        assert made.clean_up() == []


def broken(checks: dict[str, Check]) -> list[str]:
    return [check.label for check in checks.values() if not check.held]


def values(read: Output) -> dict[str, float]:
    return {headline.metric: headline.value for headline in read.headlines}


def has_promised(read: Output, tool: str) -> bool:
    return read.complete and set(WORKLOADS[tool].metrics) <= values(read).keys()


def test_iibench_counts_rows_and_the_table_holds_them(bench: Benches) -> None:
    filling = bench("iibench", batch=50)
    read, checks = filling.run(warmup=1, duration=2)
    assert broken(checks) == []
    assert has_promised(read, "iibench")
    found = values(read)
    assert found["client.rows"] == pytest.approx(50 * found["client.throughput"], rel=0.02)
    assert found["client.elapsed"] == pytest.approx(2, abs=0.2)
    with filling.sql() as cursor:
        assert cursor.execute("SELECT id FROM purchases") == found["client.rows_inserted"]
    rows = [interval["client.rows_inserted"] or 0 for interval in read.intervals.values()]
    assert len(rows) == 3
    assert sorted(rows) == rows


def test_iibench_ends_at_its_row_limit_and_the_next_run_starts_anew(bench: Benches) -> None:
    filling = bench("iibench", batch=100, rows_limit=20_000, secondary_indexes=0)
    for _ in range(2):
        read, checks = filling.run(duration=20)
        assert broken(checks) == []
        assert values(read)["client.rows_inserted"] == 20_000
        assert values(read)["client.elapsed"] < 10


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
    assert values(read)["client.unmatched"] == pytest.approx(values(read)["client.throughput"] / 3, rel=0.1)
    assert "writes matched no row" in checks["matched"].label
    assert not checks["matched"].held
    assert checks["rows"].label == "sbtest1 holds 66 rows, not 200"


@pytest.mark.parametrize("test", ["oltp_insert", "select_random_points", "connect"])
def test_a_test_that_sets_itself_up_runs_twice(bench: Benches, test: str) -> None:
    family = bench("sysbench_oltp", test=test, tables=1, table_size=100)
    for _ in range(2):
        read, checks = family.run(duration=1)
        assert broken(checks) == []
        assert read.complete


def test_a_server_that_refuses_connections_still_gives_a_result(start_mariadb: StartMariaDB, tmp_path: Path) -> None:
    full = Bench(start_mariadb(max_connections="10"), "sysbench_oltp", {"table_size": 100}, tmp_path)
    full.prepare()
    read, checks = full.run(threads=40, duration=1)
    found = values(read)
    assert found["client.connections.opened"] + found["client.connections.refused"] == 40
    assert found["client.connections.refused"] >= 29
    assert found["client.throughput"] > 0
    assert broken(checks) == []
    assert "connections were refused" in checks["load"].label
    assert any("Too many connections" in event.label for event in read.events)
