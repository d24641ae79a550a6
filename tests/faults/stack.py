"""The running product, seen from outside: its processes, its API, and the tables that say what became of the work."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psycopg

from config.launch.places import ROOT, Places
from tests.launch.conftest import leader, variables
from tests.support.fault_proxy import FaultProxy
from tests.support.waiting import LIMIT, eventually

FINAL = ("succeeded", "failed", "cancelled")
PROGRAMS = {
    "web": "granian",
    "worker": "celery .*worker",
    "beat": "celery .*beat",
    "agent": "tests.faults.agent",
    "postgres": "postgres",
    "valkey": "valkey-server|redis-server|valkey.conf",
}


class Product:
    """`way`: through which the agent reaches the server; `store_way`: the server the object store at `store`."""

    def __init__(self, places: Places, *, store: str) -> None:
        self.places = places
        self.var: Path = places.var
        self.way = FaultProxy(lambda: int((self.var / "port").read_text()))
        self.store_way = FaultProxy(lambda: urlsplit(store).port or 0)
        (self.var / "agent-url").write_text(f"http://127.0.0.1:{self.way.port}")
        self._log = (self.var / "product.log").open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.product"],
            env=variables(
                places,
                SPLASHBOARD_WEB_WORKERS="2",
                SPLASHBOARD_EXAMPLES="false",
                SPLASHBOARD_LEAST_FREE_MB="1",
                S3_ENDPOINT_URL=f"http://127.0.0.1:{self.store_way.port}",
            ),
            cwd=ROOT,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._campaigns = 0
        self._database: psycopg.Connection[tuple[Any, ...]] | None = None  # kept: it is asked many times a second
        eventually(self._is_ready, what="the product runs", seen=self.log)
        token = (self.var / "token").read_text().strip()
        port = (self.var / "port").read_text().strip()
        headers = {"Authorization": f"Token {token}"}
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=LIMIT)
        eventually(lambda: self.rows("SELECT 1 FROM catalog_system"), what="the agent's system is known", seen=self.log)

    def close(self) -> None:
        self.http.close()
        if self._database is not None:
            self._database.close()
        self._process.terminate()
        self._process.wait(timeout=LIMIT)
        self._log.close()
        self.way.close()
        self.store_way.close()

    def log(self) -> str:
        return (self.var / "product.log").read_text(errors="replace")[-4000:]

    def _is_ready(self) -> bool:
        assert self._process.poll() is None, self.log()
        return "Ctrl-C" in self.log()

    # ------------------------------------------------------------ processes

    def pid(self, name: str) -> int:
        """0: it does not run now."""
        return leader(self.places, PROGRAMS[name])

    def running(self, name: str) -> int:
        """Its process id, as soon as it runs: 0 would mean the group of the tests."""
        pid: int = eventually(lambda: self.pid(name), what=f"{name} runs", seen=self.log)
        return pid

    def kill(self, name: str) -> int:
        """As a power cut would; returns the process id."""
        pid = self.running(name)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return pid

    def stop(self, name: str) -> int:
        """As an upgrade does; returns the process id."""
        pid = self.running(name)
        os.kill(pid, signal.SIGTERM)
        return pid

    def await_another(self, name: str, pid: int) -> None:
        eventually(lambda: self.pid(name) not in (0, pid), what=f"{name} was started again", seen=self.log)

    @contextmanager
    def frozen(self, name: str) -> Iterator[int]:
        pid = self.running(name)
        os.killpg(pid, signal.SIGSTOP)
        try:
            yield pid
        finally:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGCONT)

    def pids_of_web(self) -> list[int]:
        """Of the processes that answer."""
        folder = self.var / "heartbeats" / "web"
        eventually(lambda: len(list(folder.glob("*"))) > 1, what="each of them has begun", seen=self.log)
        return sorted(int(file.name) for file in folder.iterdir())

    def environment(self) -> dict[str, str]:
        """Of the worker, for another program like it."""
        content = Path(f"/proc/{self.pid('worker')}/environ").read_bytes()
        return dict(line.decode().split("=", 1) for line in content.split(b"\0") if line)

    @contextmanager
    def logged_by(self, name: str, words: str) -> Iterator[None]:
        """Returns from the block once that program has logged this since its beginning."""
        log = self.places.log_of(name)
        before = log.stat().st_size
        yield
        eventually(lambda: words.encode() in log.read_bytes()[before:], what=words, seen=self.progress)

    # ------------------------------------------------------------ work

    def rows(self, query: Any, *parameters: object) -> list[tuple[Any, ...]]:
        """None of them while the database is away."""
        try:
            if self._database is None:
                url = (self.var / "database_url").read_text().strip()
                self._database = psycopg.connect(url, connect_timeout=10, autocommit=True)
            return self._database.execute(query, parameters).fetchall()
        except psycopg.OperationalError:
            if self._database is not None:
                self._database.close()
            self._database = None
            return []

    def plan(self, *, repetitions: int = 1) -> list[int]:
        """Numbers of the jobs of a new campaign."""
        self._campaigns += 1
        plan = {
            "name": f"campaign {self._campaigns}",
            "systems": ["seeded"],
            "workloads": [self._workload()],
            "load_levels": [{"threads": 4}],
            "repetitions": repetitions,
            "warmup": 0,
            "duration": 5,
        }
        answer = self.http.post("/api/v1/campaigns/", json=plan)
        assert answer.status_code == 201, answer.text
        found = self.rows("SELECT id FROM dispatch_job WHERE campaign_id = %s ORDER BY id", answer.json()["id"])
        assert len(found) == repetitions
        return [job for (job,) in found]

    @contextmanager
    def held(self) -> Iterator[None]:
        """No run gets further than half in the block, or until `let_go`: what it meets comes while it goes on."""
        (self.var / "hold").touch()
        try:
            yield
        finally:
            self.let_go()

    def let_go(self) -> None:
        (self.var / "hold").unlink(missing_ok=True)

    def _workload(self) -> int:
        return int(self.rows("SELECT min(id) FROM catalog_workload WHERE tool = 'sysbench'")[0][0])

    def state(self, job: int) -> str:
        """Empty while the database is away."""
        found = self.rows("SELECT state FROM dispatch_job WHERE id = %s", job)
        return str(found[0][0]) if found else ""

    def await_state(self, job: int, *states: str) -> None:
        eventually(lambda: self.state(job) in states, what=f"job {job} is {' or '.join(states)}", seen=self.progress)

    def attempt(self, job: int) -> int:
        ((attempt,),) = self.rows("SELECT attempt FROM dispatch_job WHERE id = %s", job)
        return int(attempt)

    def lease(self, job: int) -> datetime | None:
        """When it ends; None: no agent has the job, or the database is away."""
        found = self.rows("SELECT lease_expires_at FROM dispatch_job WHERE id = %s", job)
        return found[0][0] if found else None

    def duration(self, run: int) -> float:
        """s from the run's start to its end, by the times that it is stored with."""
        ((lasted,),) = self.rows("SELECT extract(epoch FROM ended_at - started_at) FROM runs_run WHERE id = %s", run)
        return float(lasted)

    def end_lease(self, job: int) -> None:
        """As if its agent had been silent for longer: nobody has to wait for that."""
        query = "UPDATE dispatch_job SET lease_expires_at = now() - interval '1 minute' WHERE id = %s RETURNING id"
        assert self.rows(query, job)

    def await_batches(self, job: int, count: int) -> None:
        query = "SELECT count(*) FROM runs_batch JOIN dispatch_jobrun USING (run_id) WHERE job_id = %s"
        eventually(lambda: self.rows(query, job)[:1] >= [(count,)], what=f"{count} batches came", seen=self.progress)

    def progress(self) -> str:
        jobs = self.rows("SELECT id, state, attempt, reason FROM dispatch_job ORDER BY id")
        runs = self.rows("SELECT id, state, outcome, reason FROM runs_run ORDER BY id")
        return f"{jobs}\n{runs}\n{self.log()}\n{(self.var / 'log/agent.log').read_text(errors='replace')[-2000:]}"

    def runs(self, job: int) -> Sequence[tuple[int, str, str]]:
        """Number, uid and outcome of each run of the job, once all are sealed."""

        def sealed() -> list[tuple[Any, ...]] | None:
            query = (
                "SELECT r.id, r.uid::text, r.outcome, r.state FROM runs_run r JOIN dispatch_jobrun j ON j.run_id = r.id"
            )
            found = self.rows(f"{query} WHERE j.job_id = %s ORDER BY r.id", job)
            return found if all(state == "sealed" for *_, state in found) else None

        if not self.rows("SELECT 1 FROM dispatch_jobrun WHERE job_id = %s", job):
            return []
        found = eventually(sealed, what="all runs are sealed", seen=self.progress)
        return [(number, uid, outcome) for number, uid, outcome, _ in found]

    def samples(self, run: int, metric: str) -> list[tuple[float, float]]:
        answer = self.http.get(f"/api/v1/runs/{run}/series/", params={"metric": metric, "raw": "true"})
        assert answer.status_code == 200, answer.text
        (series,) = answer.json()["series"]
        return list(zip(series["at"], series["values"], strict=True))
