"""Log lines say what they are about; what is sent to Sentry holds no secret."""

import gzip
import io
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from logging.config import DictConfigurator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from apps.accounts.credentials import new_secret
from apps.core.server import log_context
from tests.paths import ROOT


def written(form: str, message: str) -> str:
    """A warning as the console's handler would write it."""
    known: dict[str, Any] = settings.LOGGING
    own = dict(known["formatters"][form])
    formatter = DictConfigurator(known).configure_formatter(own)
    try:
        raise ValueError("broken")
    except ValueError:
        record = logging.LogRecord("apps.runs", logging.WARNING, "seal.py", 1, message, (), sys.exc_info())
    log_context.AddAbout().filter(record)
    return formatter.format(record)


def test_a_line_ends_with_what_it_is_about() -> None:
    with log_context.about(task="seal_run/4f2a", run=7):
        assert "WARNING apps.runs: late [task=seal_run/4f2a run=7]" in written("line", "late")
    assert written("line", "late").splitlines()[0].endswith("apps.runs: late")


def test_json_lines_have_every_id_and_the_traceback_as_fields() -> None:
    log_context.add(run=6)
    with log_context.about(request="abc"):
        log_context.add(run=7)
        found = json.loads(written("json", 'a "quoted" word'))
    assert found["message"] == 'a "quoted" word'
    assert (found["level"], found["logger"], found["request_id"], found["run_id"]) == (
        "WARNING",
        "apps.runs",
        "abc",
        "7",
    )
    assert "ValueError: broken" in found["exc_info"]
    assert datetime.fromisoformat(found["time"]).utcoffset() == timedelta(0)
    assert "about" not in found
    assert "run_id" not in json.loads(written("json", "later"))


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the server's log gets."""
    (console,) = (each for each in logging.getLogger().handlers if each.get_name() == "console")
    assert isinstance(console, logging.StreamHandler)
    stream = io.StringIO()
    usual = console.setStream(stream)
    yield stream
    console.setStream(usual)


@pytest.mark.parametrize("form", ["line", "json"])
def test_the_log_shows_no_link_that_signs_in_or_shows_a_page(
    db: None, log: io.StringIO, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: dict[str, Any] = settings.LOGGING
    (console,) = (each for each in logging.getLogger().handlers if each.get_name() == "console")
    formatter = DictConfigurator(known).configure_formatter(dict(known["formatters"][form]))
    monkeypatch.setattr(console, "formatter", formatter)
    secret = new_secret()
    client = Client(enforce_csrf_checks=True)
    assert client.put(f"/sign-in/{secret}/").status_code == 403
    assert Client().put(f"/sign-in/{secret}/").status_code == 405
    assert Client().get(f"/sign-in/{secret}/").status_code == 410
    assert Client().get(f"/shared/{secret}/").status_code >= 400
    found = log.getvalue()
    assert len(found.splitlines()) >= 4
    assert "/sign-in/…" in found or "/sign-in/\\u2026" in found
    assert secret not in found


class _Project(BaseHTTPRequestHandler):
    """A Sentry project that keeps what it is sent."""

    kept: list[bytes] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.kept.append(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args: Any) -> None:
        """Not to the test's output."""


@pytest.fixture
def project() -> Iterator[tuple[int, list[bytes]]]:
    _Project.kept = []
    with ThreadingHTTPServer(("127.0.0.1", 0), _Project) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, _Project.kept
        server.shutdown()


FAILS = """
import django
django.setup()
import sentry_sdk
from django.test import Client
from apps.web.help import help

def fails(*args, **kwargs):
    password = "secret-in-a-variable"
    raise ValueError("the view fails")

help.documents.search = fails
headers = {"Authorization": "Token secret-in-a-header"}
client = Client(raise_request_exception=False, SERVER_NAME="localhost", headers=headers)
client.cookies["sessionid"] = "secret-in-a-cookie"
print(client.get("/help/search/?words=x").status_code)
sentry_sdk.flush(timeout=30)
"""


def test_an_unexpected_exception_reaches_sentry_without_secrets(project: tuple[int, list[bytes]]) -> None:
    port, kept = project
    environment = {**os.environ, "SPLASHBOARD_SENTRY_DSN": f"http://public@127.0.0.1:{port}/1", "no_proxy": "127.0.0.1"}
    # It needs no database: a session that is sought but not read.
    found = subprocess.run(
        [sys.executable, "-c", FAILS], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    assert "500" in found.stdout
    sent = b"".join(kept)
    assert b"the view fails" in sent
    assert b"secret-in" not in sent


def test_a_bad_address_of_sentry_is_refused_at_the_start() -> None:
    environment = {**os.environ, "SPLASHBOARD_SENTRY_DSN": "sentry.example.com"}
    found = subprocess.run(
        [sys.executable, "-c", "import config.settings"],
        cwd=ROOT, env=environment, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert found.returncode != 0
    assert "SPLASHBOARD_SENTRY_DSN" in found.stderr.splitlines()[-1]
