"""Programs of ours as a test starts them, without an agent: on a schema of their own, read as the server reads them."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.runs.tool_output import report_values
from apps.runs.tool_output.values import Output
from lab.mariadb import MariaDB
from tests.paths import ROOT
from workers.agent.programs.order import Order, arguments
from workers.agent.programs.report import Secrets, read_secrets, secrets_of
from workers.agent.runtime.config import NodeConfig, ServerAddress, SystemConfig
from workers.protocol.workloads import WORKLOADS
from workers.protocol.workloads.declaration import check


@dataclass(frozen=True)
class Ran:
    """`said` is its whole output, `output` what the server reads in it, `headlines` its values by metric."""

    code: int
    said: str
    output: Output

    @property
    def headlines(self) -> dict[str, float]:
        return {headline.metric: headline.value for headline in self.output.headlines}

    def events(self, kind: str) -> list[str]:
        """Labels."""
        return [event.label for event in self.output.events if event.kind == kind]


def system_of(server: MariaDB, schema: str) -> SystemConfig:
    address = ServerAddress(port=server.port)
    return SystemConfig(
        slug="single",
        name="single",
        platform="mariadb",
        hardware_class="box",
        address=address,
        user="splashboard",
        password=server.password,
        database=schema,
        nodes=(NodeConfig(name="db1", role="writer", zone="", address=address, local=True),),
        settings={},
    )


def run_program(
    module: str,
    tool: str,
    server: MariaDB,
    folder: Path,
    *,
    parameters: dict[str, Any],
    more: dict[str, Any],
    **level: Any,
) -> Ran:
    """Prepares, runs and cleans up; `more`: what else its secrets hold. The schema is named after the folder."""
    folder.mkdir()
    schema = f"sb_{folder.name}"
    server.sql(f"DROP DATABASE IF EXISTS {schema}; CREATE DATABASE {schema}")
    secrets = folder / "secrets"
    secrets.write_text(secrets_of(system_of(server, schema), schema, **more))
    fields: dict[str, Any] = {"threads": 2, "rate": None, "warmup": 0, "duration": 2, **level}
    order = Order(secrets, check(WORKLOADS[tool], parameters), **fields)
    try:
        run_step(module, "prepare", order)
        done = run_step(module, "run", order)
        run_step(module, "clean_up", order)
        assert server.sql(f"SHOW TABLES IN {schema}") == ""
    finally:
        server.sql(f"DROP DATABASE {schema}")
    return Ran(done.returncode, done.stdout, report_values.read(done.stdout.encode()))


def secrets_for(server: MariaDB, folder: Path, schema: str = "sb") -> Secrets:
    """Of a file `secrets` in the folder, as the agent writes it."""
    (folder / "secrets").write_text(secrets_of(system_of(server, schema), schema))
    return read_secrets(folder / "secrets")


def run_step(module: str, step: str, order: Order) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [sys.executable, "-m", f"workers.agent.programs.{module}", *arguments(step, order)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        check=False,
    )
    assert step == "run" or done.returncode == 0, done.stdout
    return done
