"""Signs of life: who answers or renews a file lives, who does neither hangs, and nothing waits for either."""

import itertools
import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from config.launch import pulses
from config.launch.pulses import AnswerPulse, HeartPulse, HeartPulses, Pulses
from tests.support.waiting import eventually


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulses, "FIRST_ASKED_AFTER", 0.0)
    monkeypatch.setattr(pulses, "ASK_EVERY", 0.0)


class Unwell(BaseHTTPRequestHandler):
    """Answers 503, as the server does while its database is away."""

    def do_GET(self) -> None:
        self.send_error(503)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def unwell() -> Iterator[HTTPServer]:
    with HTTPServer(("127.0.0.1", 0), Unwell) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_an_answer_that_names_trouble_is_a_sign_of_life(unwell: HTTPServer) -> None:
    pulse = AnswerPulse("127.0.0.1", unwell.server_port)
    pulse.begin()
    asked: set[float] = set()

    def has_asked_often() -> bool:
        assert pulse.trouble(time.monotonic()) == ""
        asked.add(pulse._asked)
        return len(asked) > 5

    eventually(has_asked_often, what="it has asked again and again")
    pulse.begin()  # closes its connection


@pytest.mark.parametrize("listens", [True, False])
def test_a_server_that_never_answers_hangs_after_the_third_time(listens: bool) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        if listens:
            silent.listen()
        pulse = AnswerPulse("127.0.0.1", silent.getsockname()[1])
        pulse.begin()
        now = time.monotonic()
        for number in range(1, pulses.UNANSWERED + 1):
            assert pulse.trouble(now) == ""  # asks
            assert pulse.trouble(now + pulses.ANSWER_WITHIN) == ""
            now += pulses.ANSWER_WITHIN + 1
            trouble = pulse.trouble(now)
            assert bool(trouble) == (number == pulses.UNANSWERED)
        assert "/api/v1/health/" in trouble
        pulse.begin()
        assert pulse.trouble(time.monotonic()) == ""
        pulse.begin()


def _hung_after(pulse: AnswerPulse, start: float) -> int:
    """Seconds until it counts as hung."""
    return next(seconds for seconds in itertools.count() if pulse.trouble(start + seconds))


def test_a_server_that_is_only_slow_is_waited_for_longer_each_time(unwell: HTTPServer) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        pulse = AnswerPulse("127.0.0.1", silent.getsockname()[1])
        waited = []
        for _ in range(5):
            pulse.begin()
            waited.append(_hung_after(pulse, time.monotonic()))
        assert waited[1] > 1.9 * waited[0]
        assert waited[4] == waited[3] <= pulses.MOST_PATIENCE * waited[0]

        silent_port, pulse.port = pulse.port, unwell.server_port
        pulse.begin()
        eventually(
            lambda: pulse.trouble(time.monotonic()) or pulse._answered >= pulses.TRUSTED_AFTER,
            what="it has answered often",
        )
        pulse.port = silent_port
        pulse.begin()
        assert _hung_after(pulse, time.monotonic()) <= waited[0]


def test_a_heart_that_is_not_renewed_hangs(tmp_path: Path) -> None:
    file = tmp_path / "worker"
    pulse = HeartPulse(file)
    pulse.begin()
    now = time.monotonic()
    assert pulse.trouble(now) == ""
    file.touch()
    now += pulses.SILENT_FOR
    assert pulse.trouble(now) == ""
    os.utime(file, (1, 1))  # the clock was set back
    now += pulses.SILENT_FOR
    assert pulse.trouble(now) == ""
    assert pulse.trouble(now + pulses.SILENT_FOR) == ""
    assert "no sign of life" in pulse.trouble(now + pulses.SILENT_FOR + 1)


def test_of_several_hearts_the_one_that_is_not_renewed_is_named(tmp_path: Path) -> None:
    pulse = HeartPulses(tmp_path / "web")
    pulse.begin()
    now = time.monotonic()
    assert pulse.trouble(now + 2 * pulses.SILENT_FOR) == ""  # none has begun
    (tmp_path / "web").mkdir()
    for name in ("11", "12"):
        (tmp_path / "web" / name).touch()
    now += 2 * pulses.SILENT_FOR
    assert pulse.trouble(now) == ""
    os.utime(tmp_path / "web" / "12", (1, 1))
    assert pulse.trouble(now + pulses.SILENT_FOR) == ""
    assert "process 11: it gave no sign of life" in pulse.trouble(now + pulses.SILENT_FOR + 1)
    (tmp_path / "web" / "11").unlink()
    assert pulse.trouble(now + pulses.SILENT_FOR + 1) == ""


def test_a_start_that_takes_long_is_not_ended_for_the_processes_before_it(tmp_path: Path) -> None:
    pulse = HeartPulses(tmp_path / "web")
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "11").touch()
    now = time.monotonic()
    assert pulse.trouble(now) == ""
    shutil.rmtree(tmp_path / "web")  # as before a start
    pulse.begin()
    assert pulse.trouble(now + 2 * pulses.SILENT_FOR) == ""


def test_a_program_with_two_signs_of_life_hangs_when_one_is_missing(tmp_path: Path) -> None:
    (file := tmp_path / "heart").touch()
    heart, never = HeartPulse(file), HeartPulses(tmp_path / "none")
    both = Pulses((never, heart))
    both.begin()
    now = time.monotonic()
    assert both.trouble(now) == ""
    assert "no sign of life" in both.trouble(now + pulses.SILENT_FOR + 1)
    heart._changed = now
    both.begin()
    assert both.trouble(time.monotonic()) == ""
