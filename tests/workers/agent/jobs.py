"""Jobs of a real agent process, seen from outside."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lab.mariadb import MariaDB
from tests.workers.agents import AgentProcess
from tests.workers.server import FakeServer, SeenRun
from workers.protocol import wire

StartAgent = Callable[[], AgentProcess]

# What must be the same after a job as before it. Positions and moments change by themselves.
STATE = (
    "SHOW DATABASES; SELECT table_schema, table_name FROM information_schema.tables "
    "WHERE table_schema NOT IN ('information_schema', 'performance_schema', 'sys', 'mysql') ORDER BY 1, 2; "
    "SELECT user, host FROM mysql.global_priv ORDER BY 1, 2; "
    "SELECT variable_name, variable_value FROM information_schema.global_variables "
    "WHERE variable_name NOT LIKE '%GTID%' AND variable_name NOT LIKE '%TIMESTAMP%' ORDER BY 1"
)


@contextmanager
def left_as_found(mariadb: MariaDB) -> Iterator[None]:
    before = mariadb.sql(STATE)
    yield
    assert mariadb.sql(STATE) == before


def ended(server: FakeServer, count: int = 1) -> Callable[[], bool]:
    return lambda: len(server.job_ends()) >= count


def under_load(server: FakeServer) -> Callable[[], bool]:
    """Whether the load tool of a run has begun to report."""

    def check() -> bool:
        for run in list(server.runs.values()):
            if run.batches and run.end is None:
                lines = b"\n".join(line for batch in list(run.batches.values()) for line in wire.read_lines(batch))
                if b"[ 1s ]" in lines:
                    return True
        return False

    return check


def only_run(server: FakeServer) -> SeenRun:
    (run,) = server.runs.values()
    return run


def command_lines() -> list[bytes]:
    """Of all processes of this machine."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # ended meanwhile
            found.append(file.read_bytes())
    return found
