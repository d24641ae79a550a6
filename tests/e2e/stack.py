"""The whole product as processes of its own: web, Celery worker with beat, and agents, on the test's database."""

import io
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import httpx
import pymysql
from django.conf import settings
from django.core.management import call_command
from playwright.sync_api import Page

from apps.catalog.models import System
from apps.dispatch.jobs import agents
from apps.dispatch.models import Campaign
from apps.runs.models import Run
from lab.mariadb import ACCOUNT, MariaDB
from tests.paths import ROOT
from tests.support.browser import follow
from tests.support.ports import ReservedPort
from tests.support.stores import database_url
from tests.support.waiting import LIMIT, eventually

BIN = Path(sys.executable).parent
SCHEMA = "splashboard_bench"  # where an agent makes the tables of its load
HARDWARE = """
    [[hardware]]
    slug = "test-machine"
    name = "test machine"
    vcpu = 2
    memory_mb = 4096
    """


@dataclass
class Stack:
    """Web and worker for all tests of a session, agents for each; `folder`: logs and files, `var`: the product's own.

    Every process leads a session of its own and is ended by its id.
    """

    folder: Path
    var: Path
    _port: ReservedPort = field(default_factory=ReservedPort)
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _logs: dict[str, IO[bytes]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port.number}"

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "DATABASE_URL": database_url(),
            "REDIS_URL": settings.REDIS_URL,
            "SPLASHBOARD_VAR": str(self.var),
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }

    @staticmethod
    def manage(*arguments: str) -> str:
        """Output of a management command."""
        output = io.StringIO()
        call_command(*arguments, stdout=output)
        return output.getvalue()

    # ------------------------------------------------------------ web and worker

    def start(self) -> None:
        """Web and worker side by side; returns once the web answers."""
        self._start_worker()
        self.start_web()

    def _start_worker(self) -> None:
        celery = (str(BIN / "celery"), "-A", "tests.e2e.hurried", "worker", "--beat", "--concurrency", "2")
        self._spawn("worker", *celery, "--schedule", str(self.folder / "beat"), "--loglevel", "INFO")

    def start_web(self) -> None:
        """Returns once it answers."""
        self.manage("collectstatic", "--noinput", "--verbosity", "0")
        self._spawn("web", sys.executable, "-m", "config.serving", "--port", self.url.split(":")[-1])
        eventually(self._answers, what="the web server answers", seen=lambda: self.log("web"))

    def _answers(self) -> bool:
        assert self._running["web"].poll() is None, self.log("web")
        try:
            return httpx.get(f"{self.url}/api/v1/health/", timeout=LIMIT).status_code < 500
        except httpx.TransportError:
            return False

    def close(self) -> None:
        """Web and worker keep nothing that a test asks for: they are killed."""
        for name in list(self._running):
            self.kill(name)
        for log in self._logs.values():
            log.close()
        self._port.release()

    def _spawn(self, name: str, *command: str) -> None:
        if name not in self._logs:
            self._logs[name] = (self.folder / f"{name}.log").open("ab")
        self._running[name] = subprocess.Popen(
            command,
            cwd=ROOT,
            env=self.environment,
            stdout=self._logs[name],
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def log(self, name: str, *, since: int = 0) -> str:
        with (self.folder / f"{name}.log").open("rb") as stream:
            stream.seek(since)
            return stream.read().decode(errors="replace")[-8000:]

    def kill(self, name: str) -> None:
        """As a power cut would."""
        process = self._running.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    # ------------------------------------------------------------ agents

    @contextmanager
    def agents(self, **systems: str) -> Iterator["Stack"]:
        """For each agent by its name, the TOML of the systems that it can reach. What all processes logged meanwhile
        goes to standard output, which pytest shows when the test failed."""
        sizes = {name: (self.folder / f"{name}.log").stat().st_size for name in self._logs}
        try:
            for name, described in systems.items():
                self._start_agent(name, described)
            yield self
        finally:
            self._stop([name for name in systems if name in self._running])
            for name in self._logs:
                if words := self.log(name, since=sizes.get(name, 0)):
                    sys.stdout.write(f"\n--- {name}\n{words}")

    def _start_agent(self, name: str, described: str) -> None:
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))
        token = folder / "token"
        token.touch(mode=0o600)
        token.write_text(agents.register_agent(name=name, is_trusted=True)[1])
        config = self.config_of(name)
        head = f"""
            [server]
            url = "{self.url}"
            token_file = "{token}"

            [agent]
            name = "{name}"
            spool = "{folder / "spool"}"
            flush_interval = 0.3
            poll_interval = 0.1
            """
        config.write_text(f"{head}\n{described}")
        self._spawn(name, sys.executable, "-m", "workers.agent", "run", "--config", str(config))

    def config_of(self, name: str) -> Path:
        return self.folder / f"{name}.toml"

    def _stop(self, names: list[str]) -> None:
        """Politely, so that an agent ends the load that it drives."""
        stopping = [self._running.pop(name) for name in names]
        for process in stopping:
            process.terminate()
        for process in stopping:
            try:
                process.wait(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise

    def wait_for_systems(self, *slugs: str) -> list[System]:
        """Once the agents have made them known."""
        known = System.objects.filter(slug__in=slugs).order_by("slug")
        eventually(
            lambda: known.count() == len(slugs),
            what=f"the agents have made {slugs} known",
            seen=lambda: "\n".join(map(self.log, self._running)),
        )
        return list(known)

    # ------------------------------------------------------------ a person

    def sign_in(self, page: Page, name: str = "") -> None:
        """`name`: empty for the administrator."""
        page.goto(re.findall(r"/sign-in/\S+", self.manage("sign_in_link", *filter(None, [name])))[-1])
        follow(page.get_by_role("button", name="Sign in as"))


@contextmanager
def held_load(server: MariaDB) -> Iterator[None]:
    """The tables under load are locked meanwhile: the run does not end before the test has done what it is to see."""
    connection = pymysql.connect(
        host="127.0.0.1", port=server.port, user=ACCOUNT, password=server.password, database=SCHEMA
    )
    with connection, connection.cursor() as cursor:
        cursor.execute("SHOW TABLES")
        cursor.execute("LOCK TABLES " + ", ".join(f"`{name}` WRITE" for (name,) in cursor.fetchall()))
        yield


def progress() -> str:
    """What became of the jobs and the runs so far, for a failure's message."""
    jobs = Campaign.objects.values_list("name", "jobs__system__slug", "jobs__state", "jobs__progress", "jobs__reason")
    runs = Run.objects.values_list("pk", "system__slug", "state", "outcome", "reason")
    return f"jobs {list(jobs)}, runs {list(runs)}"


def described(servers: Mapping[str, MariaDB], settings: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Configurations of agents, each of one server and named like its system: they are measured side by side.

    `settings`: of each what a person would note.
    """
    return {slug: f"{HARDWARE}\n{_described(slug, server, settings[slug])}" for slug, server in servers.items()}


def _described(slug: str, server: MariaDB, settings: Mapping[str, str]) -> str:
    lines = "\n".join(f'{name} = "{value}"' for name, value in settings.items())
    return f"""
        [[systems]]
        slug = "{slug}"
        name = "MariaDB {slug}"
        platform = "mariadb"
        hardware_class = "test-machine"
        host = "127.0.0.1"
        port = {server.port}
        user = "splashboard"
        password_file = "{server.password_file}"
        [systems.settings]
        {lines}
        """
