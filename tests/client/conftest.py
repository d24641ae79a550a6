"""The client as people call it, against a real server; and a server that answers as it is told."""

import itertools
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pytest_django.live_server_helper import LiveServer

from apps.catalog.models import Workload
from splashboard import cli
from tests.comparison.sampled import a_sampled_run, seconds_of
from tests.support.builders import START, a_load_level, a_system, a_token, a_user, a_workload


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


Command = Callable[..., Said]
Answered = tuple[int, dict[str, str], bytes]  # status, headers, body


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`command("wait", "3")` as a shell would call it, without any setting of the machine's."""
    for name in ("URL", "TOKEN", "TOKEN_FILE"):
        monkeypatch.delenv(f"SPLASHBOARD_{name}", raising=False)

    def call(*arguments: object) -> Said:
        capsys.readouterr()
        code = cli.main([str(each) for each in arguments])
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return call


@pytest.fixture
def engineer(command: Command, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command of an engineer of the live server, by their token."""
    monkeypatch.setenv("SPLASHBOARD_URL", live_server.url)
    monkeypatch.setenv("SPLASHBOARD_TOKEN", a_token(a_user(), "laptop")[1])
    return command


@dataclass
class FakeServer:
    """Gives its `answers` (None: hangs up) one after another, the last one forever."""

    url: str = ""
    answers: list[Answered | None] = field(default_factory=list)
    received: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def fake() -> Iterator[FakeServer]:
    state = FakeServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            state.received.append((self.command, self.path, dict(self.headers.items()), body))
            answer = state.answers.pop(0) if len(state.answers) > 1 else state.answers[0]
            if answer is None:
                self.close_connection = True
                return
            status, headers, content = answer
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815  the name that http.server calls

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def study(live_server: LiveServer, monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> int:
    """The id of a workload under which three systems ran five times at two load levels, all named as in the examples.

    The environment names the server and an engineer's token.
    """
    monkeypatch.setenv("SPLASHBOARD_URL", live_server.url)
    monkeypatch.setenv("SPLASHBOARD_TOKEN", a_token(a_user(), "laptop")[1])
    workload = a_workload("oltp_read_write")
    Workload.objects.filter(pk=workload.pk).update(tool="sysbench_oltp", name="sysbench OLTP, oltp_read_write")
    speeds = {"example-single": 400.0, "example-galera": 240.0, "example-mha": 230.0}
    systems = {slug: a_system(slug) for slug in speeds}
    for slug, threads, repetition in itertools.product(speeds, (1, 4), range(1, 6)):
        speed = speeds[slug] * threads**0.5 * (1 + repetition / 100)
        a_sampled_run(
            [seconds_of([speed - 1, speed, speed + 1])],
            {"client.throughput": speed, "client.latency.p95": 1000 * threads / speed},
            system=systems[slug],
            workload=workload,
            load_level=a_load_level(threads),
            repetition=repetition,
            started_at=START + timedelta(hours=repetition),
        )
    return workload.pk
