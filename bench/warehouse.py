"""Our side: the web server and the worker as started by `make run`, and an agent's requests to them."""

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from django.db import connection
from django.utils import timezone
from redis import Redis

from apps.catalog.api import load_level_for, workload_for
from apps.catalog.models import System
from apps.dispatch import api as dispatch
from apps.runs.models import Run
from bench import servers
from bench.peers import Span
from bench.servers import Connection, Failed
from config.launch import places, processes, programs
from workers.protocol import wire

SYSTEM = "bench"
AGENT = "bench"
JSON = {"Content-Type": "application/json"}
SEALED_WITHIN = 120.0  # s


@dataclass
class Warehouse:
    """The product on the databases of the environment, with an agent and a job whose runs are opened in turn."""

    http: Connection
    pids: dict[str, int]
    job: wire.JobMessage
    _planned: Iterator[wire.PlannedRun] = field(init=False)

    def __post_init__(self) -> None:
        self._planned = iter(self.job.runs)

    def cpu(self) -> float:
        """CPU seconds of web, worker, PostgreSQL and Valkey since their start."""
        return servers.cpu_seconds(*self.pids.values())

    def cpu_by_program(self) -> dict[str, float]:
        return {name: servers.cpu_seconds(pid) for name, pid in self.pids.items()}

    def open_run(self, *, started: int, nodes: Sequence[str]) -> str:
        """The run's uid; `started` in s since 1970. Raises Failed if all planned runs are used."""
        planned = next(self._planned, None)
        if planned is None:
            raise Failed("all planned runs are used")
        self.renew(self.http)
        message = wire.RunMessage(
            job=self.job.id,
            attempt=self.job.attempt,
            load_level=planned.load_level,
            started_at=datetime.fromtimestamp(started, UTC).isoformat(),
            warmup=0.0,
            duration=float(self.job.duration),
            nodes=[wire.RunNodeMessage(name=name, role="writer") for name in nodes],
        )
        self.http.send("PUT", f"/api/v1/agent/runs/{planned.uid}", wire.to_json(message), JSON)
        return planned.uid

    def renew(self, http: Connection) -> None:
        """The lease of the job, which all its runs belong to. Raises Failed."""
        renewal = wire.to_json(wire.RenewMessage(attempt=self.job.attempt))
        http.send("POST", f"/api/v1/agent/jobs/{self.job.id}/renew", renewal, JSON)

    def send_batch(self, uid: str, sequence: int, payload: bytes) -> float:
        """Time until it was accepted, s."""
        headers = {"Content-Type": "application/gzip", "X-Checksum": wire.checksum(payload)}
        return self.http.send("PUT", f"/api/v1/agent/runs/{uid}/batches/{sequence}", payload, headers)[1]

    def end_run(self, uid: str, *, batches: int, span: Span) -> None:
        """The measured phase is the middle of the run, so that both kinds of statistics are computed."""
        length = span.end - span.start
        message = wire.RunEndMessage(
            outcome="cancelled",  # a success would need the output of a load tool
            reason="a run of the bench",
            ended_at=datetime.fromtimestamp(span.end, UTC).isoformat(),
            measured_from=length * 0.1,
            measured_to=length * 0.9,
            batches=batches,
        )
        self.http.send("POST", f"/api/v1/agent/runs/{uid}/end", wire.to_json(message), JSON)

    def await_sealed(self, uids: Sequence[str]) -> list[int]:
        """Ids of the runs, once all are sealed. Raises Failed."""
        deadline = time.monotonic() + SEALED_WITHIN
        while True:
            rows = list(Run.objects.filter(uid__in=uids, state=Run.State.SEALED).values_list("uid", "pk"))
            if len(rows) == len(uids):
                ids = {str(uid): pk for uid, pk in rows}
                return [ids[uid] for uid in uids]
            processes.Signals.check()
            if time.monotonic() > deadline:
                raise Failed(f"{len(uids) - len(rows)} runs are not sealed after {SEALED_WITHIN:.0f} s")
            time.sleep(0.02)


def size() -> int:
    """Bytes of the runs' tables with their indexes and large values, after a VACUUM."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("CHECKPOINT")
        cursor.execute(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relname LIKE 'runs\\_%%'"
        )
        return int(cursor.fetchone()[0])


@contextmanager
def started(folder: Path, *, runs: int) -> Iterator[Warehouse]:
    """`runs`: number of runs that can be opened. Raises Failed."""
    setup = places.from_environment()
    manage("migrate", "--verbosity", "0")
    manage("collectstatic", "--noinput", "--verbosity", "0")
    _, secret = dispatch.register_agent(name=AGENT, is_trusted=True)
    with ExitStack() as stack:
        pids = {
            program.name: stack.enter_context(
                servers.running(program.argv, folder=folder, name=program.name, env=os.environ)
            )
            for program in (programs.web(setup), programs.worker(), programs.beat(setup))
        }
        pids |= {"PostgreSQL": postgres_pid(), "Valkey": valkey_pid(os.environ["REDIS_URL"])}
        servers.await_answer(setup.port, "/api/v1/health/", log=folder / "web.log")
        http = Connection(setup.port, {"Authorization": f"Agent {secret}"})
        yield Warehouse(http, pids, claim(http, runs))


def manage(*arguments: str, env: Mapping[str, str] | None = None) -> None:
    """Run a management command. Raises Failed, or Interrupted after ending its processes."""
    argv = [sys.executable, str(places.ROOT / "manage.py"), *arguments]
    with tempfile.TemporaryFile() as output:
        process = processes.spawn(argv, output=output.fileno(), env=env or os.environ, cwd=places.ROOT)
        try:
            while process.poll() is None:
                processes.Signals.check()
                time.sleep(processes.POLL)
        except BaseException:
            processes.kill_group(process.pid)
            process.wait()
            raise
        if process.returncode:
            output.seek(0)
            raise Failed(f"manage.py {arguments[0]} failed: {output.read().decode(errors='replace').strip()[-500:]}")


def postgres_pid() -> int:
    """Process id of the postmaster, parent of the connections' processes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (backend,) = cursor.fetchone()
    status = Path(f"/proc/{backend}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("PPid:")))


def valkey_pid(url: str) -> int:
    with Redis.from_url(url) as client:
        found = client.info("server")
    return int(found["process_id"])


def claim(http: Connection, runs: int, *, system: str = SYSTEM) -> wire.JobMessage:
    """A job on `system` with `runs` runs, as claimed by the agent whose connection this is."""
    hello = wire.HelloMessage(
        version="bench",
        systems=[
            wire.SystemMessage(
                slug=system,
                name=system.capitalize(),
                platform="mariadb",
                version="10.11.6-MariaDB",
                hardware_class="bench",
                nodes=[wire.NodeMessage(name="db1"), wire.NodeMessage(name="db2")],
            )
        ],
        hardware=[wire.HardwareMessage(slug="bench", name="bench", vcpu=2, memory_bytes=8 * 2**30)],
    )
    http.send("POST", "/api/v1/agent/hello", wire.to_json(hello), JSON)
    dispatch.create_campaign(
        name=system,
        systems=[System.objects.get(slug=system)],
        entries=[
            dispatch.PlannedWorkload(
                workload=workload_for(
                    tool="sysbench", parameters={"test": "oltp_read_write", "tables": 4, "table_size": 20_000}
                ),
                load_levels=[load_level_for(threads=number) for number in range(1, runs + 1)],
                warmup=0.0,
                duration=1800.0,
            )
        ],
        repetitions=1,
        created_by=None,
    )
    dispatch.match_jobs(now=timezone.now())
    answer, _ = http.send("POST", "/api/v1/agent/claim")
    if not answer:
        raise Failed("the bench's agent got no job")
    return wire.from_json(wire.JobMessage, answer)
