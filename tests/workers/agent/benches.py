"""A workload by hand: its real tool on a real server, without an agent around it."""

import itertools
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pymysql
from pymysql.cursors import Cursor

from apps.runs import tool_output
from apps.runs.tool_output import Output
from lab.mariadb import ACCOUNT
from workers.agent.measure import database
from workers.agent.runtime.config import NodeConfig, ServerAddress, SystemConfig
from workers.agent.tools import Finished, Invocation, RunCheckResult, Target, Tool
from workers.agent.tools.registry import tool_named
from workers.protocol.wire import LoadLevelMessage
from workers.protocol.workloads import WORKLOADS

schemas = (f"bench{number}" for number in itertools.count())


class Server(NamedTuple):
    """Where the lab's account gets in on loopback."""

    port: int
    password: str


class Bench:
    """One workload on a schema of its own: prepared once, run as often as asked."""

    def __init__(self, server: Server, tool: str, parameters: dict[str, Any], folder: Path) -> None:
        address = ServerAddress(port=server.port)
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
    ) -> tuple[Output, dict[str, RunCheckResult]]:
        """What the server reads of the run, and the tool's checks by name."""
        data = self.tool.data_set(self.parameters)
        if data.is_emptied:
            database.empty_tables(self.system, self.schema, data.tables)
        before = database.status(self.system)
        done = self._run(threads, warmup, duration, rate)
        assert self.tool.failure(done.returncode, done.stdout) == ""
        (self.folder / "output").write_bytes(done.stdout)
        read = tool_output.read(self.tool.name, done.stdout)
        assert read.unparsed == ()
        return read, self.verified(before, database.status(self.system))

    def failure(self, *, threads: int) -> str:
        """Why a run of a second fails, in the tool's words."""
        done = self._run(threads, 0, 1, None)
        return self.tool.failure(done.returncode, done.stdout)

    def _run(
        self, threads: int, warmup: int, duration: int, rate: float | None
    ) -> "subprocess.CompletedProcess[bytes]":
        level = LoadLevelMessage(threads=threads, rate=rate)
        invocation = self.tool.run(self.target, self.parameters, load_level=level, warmup=warmup, duration=duration)
        return performed(invocation)

    def verified(
        self, before: dict[str, int] | None = None, after: dict[str, int] | None = None
    ) -> dict[str, RunCheckResult]:
        """The checks of the last run, by name, as the tables are now."""
        finished = Finished(
            system=self.system,
            schema=self.schema,
            parameters=self.parameters,
            output=self.folder / "output",
            before=before or {},
            after=after or {},
        )
        return {check.name: check for check in self.tool.verify(finished)}

    def clean_up(self) -> list[str]:
        """Tables that the tool's own clean-up left."""
        subprocess.run(self.tool.clean_up(self.target, self.parameters).argv, check=True, capture_output=True)
        with self.sql() as cursor:
            cursor.execute("SHOW TABLES")
            left = [str(row[0]) for row in cursor.fetchall() if row[0] != database.MARKER]
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


def performed(invocation: Invocation) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        invocation.argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=invocation.timeout,  # as the agent gives it
    )


class Benches:
    """`benches(tool, **parameters)`: prepared. `close` checks that the tools' own clean-up left nothing."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder, self.made = server, folder, list[Bench]()

    def __call__(self, tool: str, **parameters: Any) -> Bench:
        bench = Bench(self.server, tool, parameters, self.folder)
        self.made.append(bench)
        bench.prepare()
        return bench

    def close(self) -> None:
        assert [made.clean_up() for made in self.made] == [[] for _ in self.made]


def broken(checks: dict[str, RunCheckResult]) -> list[str]:
    return [check.label for check in checks.values() if not check.held]


def values(read: Output) -> dict[str, float]:
    return {headline.metric: headline.value for headline in read.headlines}


def has_promised(read: Output, tool: str) -> bool:
    return read.complete and set(WORKLOADS[tool].metrics) <= values(read).keys()
