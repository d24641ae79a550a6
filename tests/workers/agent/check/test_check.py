"""`splashboard-agent check` reports what is missing, and fails only for what the agent needs."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from workers.agent.cli import main

SYSBENCH = "#!/bin/sh\necho 'sysbench 1.0.20'\n"


class _Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"status": "ok"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def configuration(tmp_path: Path) -> Iterator[Path]:
    """Of an agent whose server answers and that samples a host without databases."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Healthy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    file = tmp_path / "agent.toml"
    (tmp_path / "agent.token").write_text("secret")
    file.write_text(
        f"""
[server]
url = "http://127.0.0.1:{server.server_port}"
token_file = "agent.token"
[agent]
name = "db-host-1"
[[systems]]
slug = "a"
role = "sampler"
[[systems.nodes]]
name = "db1"
"""
    )
    yield file
    server.shutdown()
    server.server_close()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs are found."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_a_host_without_mysqlslap_has_no_problem(
    configuration: Path, installed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = installed / "sysbench"
    program.write_text(SYSBENCH)
    program.chmod(0o755)
    code = main(["check", "--config", str(configuration)])
    printed = capsys.readouterr().out
    assert code == 0, printed
    assert "PROBLEM" not in printed
    assert "ok      tool slap: not installed, its workloads cannot run here (mysqlslap cannot be started" in printed


def test_a_host_without_sysbench_has_one(
    configuration: Path, installed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not list(installed.iterdir())
    assert main(["check", "--config", str(configuration)]) == 1
    assert "PROBLEM tool sysbench: sysbench cannot be started" in capsys.readouterr().out
