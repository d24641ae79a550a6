"""The whole product as processes of its own: web, Celery worker with beat, and an agent, on the test's database."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import httpx
from django.conf import settings
from django.db import connection
from playwright.sync_api import Page

from apps.catalog.models import System
from lab.mariadb import MariaDB
from lab.ports import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = Path(sys.executable).parent
PATIENCE = 90  # s for a program to start, on a machine that does other things as well
HARDWARE = """
    [[hardware]]
    slug = "test-machine"
    name = "test machine"
    vcpu = 2
    memory_mb = 4096
    """


def _database_url() -> str:
    wanted = connection.settings_dict
    password = f":{wanted['PASSWORD']}" if wanted["PASSWORD"] else ""
    return f"postgres://{wanted['USER']}{password}@{wanted['HOST']}:{wanted['PORT']}/{wanted['NAME']}"


@dataclass
class Stack:
    """Processes with logs and files of their own in `folder`, the product's in `var`; `close` ends each by its id."""

    folder: Path
    var: Path
    port: int = field(init=False)
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _logs: list[IO[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.port = free_port(self.folder)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "DATABASE_URL": _database_url(),
            "REDIS_URL": settings.REDIS_URL,
            "SPLASHBOARD_VAR": str(self.var),
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }

    def manage(self, *arguments: str) -> str:
        """Output of a management command."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, name: str, *command: str) -> None:
        log = (self.folder / f"{name}.log").open("ab")
        self._logs.append(log)
        self._running[name] = subprocess.Popen(
            command, cwd=ROOT, env=self.environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )

    def start_web(self) -> None:
        self.manage("collectstatic", "--noinput", "--verbosity", "0")
        granian = (str(BIN / "granian"), "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(self.port))
        self.start("web", *granian, "--blocking-threads", "4", "config.wsgi:application")
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.url}/api/v1/health/").status_code < 500:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError(f"the web server did not answer in {PATIENCE} s:\n{self.log('web')}")

    def start_worker(self) -> None:
        celery = (str(BIN / "celery"), "-A", "workers.celery", "worker", "--beat", "--concurrency", "2")
        self.start("worker", *celery, "--schedule", str(self.folder / "beat"), "--loglevel", "INFO")

    def start_agent(self, *, systems: str, name: str = "local") -> None:
        """`systems`: the TOML of the systems that the agent can reach."""
        secret = self.manage("register_agent", name).strip().splitlines()[-1]
        token = self.folder / f"{name}.token"
        token.write_text(secret)
        token.chmod(0o600)
        config = self.folder / f"{name}.toml"
        head = f"""
            [server]
            url = "{self.url}"
            token_file = "{token}"

            [agent]
            name = "{name}"
            spool = "{self.folder / f"{name}.spool"}"
            flush_interval = 1
            """
        config.write_text(f"{head}\n{systems}")
        self.start(name, sys.executable, "-m", "workers.agent", "run", "--config", str(config))

    def sign_in(self, page: Page, name: str = "") -> None:
        """`name`: empty for the administrator."""
        page.goto(re.findall(r"/sign-in/\S+", self.manage("sign_in_link", *filter(None, [name])))[-1])
        page.get_by_role("button", name="Sign in as").click()

    def wait_for_systems(self, *slugs: str) -> None:
        """Until the agent has made them known."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if System.objects.filter(slug__in=slugs).count() == len(slugs):
                return
            time.sleep(0.2)
        raise AssertionError(f"the agent did not make {slugs} known in {PATIENCE} s:\n{self.log('agent')}")

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")[-8000:]

    def stop(self, name: str) -> None:
        process = self._running.pop(name)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def kill(self, name: str) -> None:
        """As a power cut would."""
        process = self._running.pop(name)
        process.kill()
        process.wait()

    def close(self) -> None:
        """What each said last goes to standard output, which pytest shows when the test failed."""
        for name in list(self._running)[::-1]:
            self.stop(name)
            sys.stdout.write(f"\n--- {name}\n{self.log(name)}")
        for log in self._logs:
            log.close()


@contextmanager
def everything(folder: Path, var: Path, **systems: str) -> Iterator[Stack]:
    """All of it. `systems`: for each agent by its name, the TOML of the systems that it can reach."""
    running = Stack(folder, var)
    try:
        running.manage("seed_catalog")
        running.start_web()
        running.start_worker()
        for name, described in systems.items():
            running.start_agent(systems=described, name=name)
        yield running
    finally:
        running.close()


def described(servers: Mapping[str, MariaDB], settings: Mapping[str, Mapping[str, str]]) -> str:
    """Systems of one server each, as an agent is told of them; `settings`: of each what a person would note."""
    systems = (_described(slug, server, settings[slug]) for slug, server in servers.items())
    return "\n".join([HARDWARE, *systems])


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
