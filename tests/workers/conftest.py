from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.mariadb import MariaDB
from tests.workers.agents import AgentProcess, ConfigFile
from tests.workers.server import FakeServer


@pytest.fixture
def server() -> Iterator[FakeServer]:
    fake = FakeServer()
    fake.start()
    try:
        yield fake
    finally:
        fake.close()


@pytest.fixture
def config(tmp_path: Path, server: FakeServer) -> ConfigFile:
    return ConfigFile(tmp_path / "agent.toml", url=server.url)


@pytest.fixture
def start_agent(config: ConfigFile) -> Iterator[Callable[[], AgentProcess]]:
    """Starts a real agent process on `config`; stopped at the end of the test."""
    started: list[AgentProcess] = []

    def start() -> AgentProcess:
        started.append(AgentProcess(config.file))
        return started[-1]

    try:
        yield start
    finally:
        for agent in started:
            agent.kill()


@pytest.fixture
def single(config: ConfigFile, mariadb: MariaDB) -> ConfigFile:
    """The configuration with the shared MariaDB as system `single`."""
    # What a test before this one may have left when it failed half-way.
    mariadb.sql("DROP DATABASE IF EXISTS splashboard_bench")
    config.add_system("single", port=mariadb.port, password=mariadb.password)
    return config
