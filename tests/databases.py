"""Real database servers for tests, on free loopback ports, gone at the end of the session."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.mariadb import MariaDB

StartMariaDB = Callable[..., MariaDB]


@pytest.fixture(scope="session")
def start_mariadb() -> Iterator[StartMariaDB]:
    """`start_mariadb(**settings)`: a running server of the test's own."""
    # Not below pytest's own directory: that one is closed to the user that the server runs as.
    directory = Path(tempfile.mkdtemp(prefix="splashboard-mariadb-"))
    directory.chmod(0o755)
    servers: list[MariaDB] = []

    def start(**settings: str) -> MariaDB:
        server = MariaDB(directory / f"server{len(servers) + 1}", settings=settings)
        servers.append(server)
        server.start()
        return server

    try:
        yield start
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(directory)


@pytest.fixture(scope="session")
def mariadb(start_mariadb: StartMariaDB) -> MariaDB:
    """One server that all tests share: leave it as it was."""
    return start_mariadb(innodb_flush_log_at_trx_commit="2")
