"""Signs of life of a program that runs: it answers a request, or it renews a file.

The supervisor has one thread, to which the kernel binds its children's lives: a sign is looked for, never waited for.
"""

import contextlib
import os
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

ASK_EVERY = 10.0  # s
ANSWER_WITHIN = 20.0  # s; on a busy machine four slow pages may be before it
UNANSWERED = 3  # in a row
FIRST_ASKED_AFTER = 60.0  # s from its start
MOST_PATIENCE = 8.0
TRUSTED_AFTER = 10  # answers in a row
SILENT_FOR = 120.0  # s; hearts beat every 5 s


class Pulse(Protocol):
    """Of one program."""

    def begin(self) -> None:
        """The program was just started, or could not work until now."""

    def trouble(self, now: float) -> str:
        """Why it counts as hung; empty: it does not. `now`: monotonic, s."""


@dataclass
class AnswerPulse:
    """Asks the health address of the web server; each answer counts, also one that names a service as down.

    What is only slow starts no sooner for being started again: each time that it counts as hung doubles how long it is
    waited for, until it has answered TRUSTED_AFTER times in a row.
    """

    host: str
    port: int
    path: str = "/api/v1/health/"
    _connection: socket.socket | None = None
    _is_sent: bool = False
    _asked: float = 0.0
    _next: float = 0.0
    _unanswered: int = 0
    _answered: int = 0
    _patience: float = 1.0

    def begin(self) -> None:
        self._close()
        self._unanswered, self._answered, self._asked = 0, 0, 0.0
        self._next = time.monotonic() + FIRST_ASKED_AFTER * self._patience

    def trouble(self, now: float) -> str:
        if now < self._next:
            return ""
        within = ANSWER_WITHIN * self._patience
        if self._asked < self._next:
            self._ask(now)
        elif self._has_answered():
            self._close()
            self._unanswered, self._answered, self._next = 0, self._answered + 1, now + ASK_EVERY
            if self._answered >= TRUSTED_AFTER:
                self._patience = 1.0
        elif now > self._asked + within:
            self._close()
            self._unanswered, self._answered, self._next = self._unanswered + 1, 0, now
        if self._unanswered < UNANSWERED:
            return ""
        self._patience = min(2 * self._patience, MOST_PATIENCE)
        return f"{self.path} had no answer within {within:.0f} s, {UNANSWERED} times in a row"

    def _ask(self, now: float) -> None:
        self._asked, self._is_sent = now, False
        self._connection = socket.socket(socket.AF_INET6 if ":" in self.host else socket.AF_INET)
        self._connection.setblocking(False)
        self._connection.connect_ex((self.host, self.port))

    def _has_answered(self) -> bool:
        """A connection that fails is no answer: what is left of the time passes."""
        if self._connection is None:
            return False
        try:
            if not self._is_sent:
                request = f"GET {self.path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                self._is_sent = self._connection.send(request.encode()) > 0
            return self._connection.recv(5) == b"HTTP/"
        except BlockingIOError:  # nothing came yet
            return False
        except OSError:
            self._close()
            return False

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@dataclass
class HeartPulse:
    """A file that the program touches while it works. Its time is compared with the time seen before, not with ours."""

    file: Path
    _seen: int = -1  # ns
    _changed: float = field(default_factory=time.monotonic)

    def begin(self) -> None:
        self._changed = time.monotonic()

    def trouble(self, now: float) -> str:
        touched = 0
        with contextlib.suppress(OSError):
            touched = self.file.stat().st_mtime_ns
        if touched != self._seen:
            self._seen, self._changed = touched, now
        return f"it gave no sign of life for {SILENT_FOR:.0f} s" if now - self._changed > SILENT_FOR else ""


@dataclass
class HeartPulses:
    """A HeartPulse for each file in a folder, named after the process that touches it.

    What starts the processes empties the folder before: a file that none of them touches is one that hangs.
    """

    folder: Path
    _hearts: dict[str, HeartPulse] = field(default_factory=dict)

    def begin(self) -> None:
        for heart in self._hearts.values():
            heart.begin()

    def trouble(self, now: float) -> str:
        names: list[str] = []
        with contextlib.suppress(FileNotFoundError):  # none has begun to beat yet
            names = os.listdir(self.folder)
        self._hearts = {name: self._hearts.get(name) or HeartPulse(self.folder / name) for name in names}
        troubles = ((name, heart.trouble(now)) for name, heart in self._hearts.items())
        return next((f"of its process {name}: {trouble}" for name, trouble in troubles if trouble), "")


@dataclass(frozen=True)
class Pulses:
    """Of one program; each of them must be well."""

    all: tuple[Pulse, ...]

    def begin(self) -> None:
        for pulse in self.all:
            pulse.begin()

    def trouble(self, now: float) -> str:
        troubles = [pulse.trouble(now) for pulse in self.all]
        return next(filter(None, troubles), "")
