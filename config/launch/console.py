"""Console output: steps with their elapsed time, and problems as one sentence with the remedy."""

import os
import sys
import time
from typing import TextIO

SHOWN_AFTER = 1.0  # s; shorter steps are not shown
PLAIN_EVERY = 15.0  # s between lines of a long step without a terminal
SPINNER = "|/-\\"


class LaunchProblem(Exception):
    """A problem for the user to solve; the text is one clear sentence with the remedy."""


class Screen:
    """Plain lines, plus a spinner during long steps if `out` is a terminal."""

    def __init__(self, out: TextIO | None = None) -> None:
        self.out = out or sys.stdout
        self.is_terminal = self.out.isatty() and os.environ.get("TERM") != "dumb"

    def line(self, text: str = "") -> None:
        self._write(text + "\n")

    def problem(self, text: str) -> None:
        self.out.flush()
        print(f"splashboard: {text}", file=sys.stderr, flush=True)

    def turning(self, text: str) -> None:
        if self.is_terminal:
            columns = os.get_terminal_size(self.out.fileno()).columns or 80
            self._write(f"\r\033[K{text[: columns - 1]}")

    def clear(self) -> None:
        if self.is_terminal:
            self._write("\r\033[K")

    def _write(self, text: str) -> None:
        try:
            self.out.write(text)
            self.out.flush()
        except BrokenPipeError:
            # Our output is closed; the programs continue.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.out.fileno())
            os.close(nowhere)


class LaunchStep:
    """One operation that takes a while. `tick` often; `done` once."""

    def __init__(self, screen: Screen, text: str) -> None:
        self.screen = screen
        self.text = text
        self.started = time.monotonic()
        self._next_line = self.started + SHOWN_AFTER
        self._ticks = 0

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    def tick(self, detail: str = "") -> None:
        now = time.monotonic()
        if now - self.started < SHOWN_AFTER:
            return
        text = f"{self.text} ... {self.elapsed:.0f} s{f', {detail}' if detail else ''}"
        if self.screen.is_terminal:
            self._ticks += 1
            self.screen.turning(f"{SPINNER[self._ticks % len(SPINNER)]} {text}")
        elif now >= self._next_line:
            self._next_line = now + PLAIN_EVERY
            self.screen.line(f"  {text}")

    def done(self, detail: str = "") -> None:
        self.screen.clear()
        if self.elapsed >= SHOWN_AFTER:
            self.screen.line(f"  {self.text}: done in {self.elapsed:.1f} s{f', {detail}' if detail else ''}")

    def failed(self) -> None:
        self.screen.clear()
