"""The command as a child process: run as it is, its output shown live and read line by line."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from splashboard.failures import Misuse
from splashboard.wrap.interrupts import Interrupts

HAS_TERMINALS = sys.platform != "win32"
if HAS_TERMINALS:  # the other commands work without
    import fcntl
    import pty
    import termios

AFTER_INTERRUPT, AFTER_TERM = 10.0, 3.0  # s until the next, harder signal
DRAIN = 2.0  # s for the rest of the output of what the command left running
CHUNK = 64 * 1024

OnLine = Callable[[bytes, float], None]  # a line, and when it was read: s of the monotonic clock


class WrappedCommand:
    """A command in a session of its own. On a terminal it gets a terminal, so that it prints at once, as it would."""

    def __init__(self, argv: Sequence[str], *, environment: Mapping[str, str], on_line: OnLine) -> None:
        """Raises Misuse when it cannot be started."""
        if not HAS_TERMINALS:
            raise Misuse("splashboard run needs Linux or macOS: submit the output by `splashboard submit`")
        self._on_line = on_line
        self._lock = threading.Lock()
        self._readers: list[threading.Thread] = []
        opened = [_Stream(each) for each in (sys.stdout, sys.stderr)]
        try:
            self._process = subprocess.Popen(
                list(argv),
                stdout=opened[0].child,
                stderr=opened[1].child,
                start_new_session=True,
                env={**os.environ, **environment},
            )
        except (OSError, ValueError) as error:
            for stream in opened:
                os.close(stream.own)
            why = getattr(error, "strerror", None) or error
            raise Misuse(f"{argv[0]} cannot be started: {why}: is it installed, and on PATH?") from error
        finally:
            for stream in opened:
                os.close(stream.child)
        self.pid = self._process.pid
        self.interrupted = False
        for stream in opened:
            reader = threading.Thread(target=self._read, args=(stream,), daemon=True)
            reader.start()
            self._readers.append(reader)

    def wait(self, interrupts: Interrupts) -> int:
        """Exit code; negative: the signal. Ctrl-C is passed on, so that the tool ends in order; else it is killed."""
        try:
            with interrupts.allowed():
                code = self._process.wait()
        except KeyboardInterrupt:
            self.interrupted = True
            code = self._stop()
        until = time.monotonic() + DRAIN
        for reader in self._readers:
            reader.join(timeout=max(0.0, until - time.monotonic()))
        return code

    def _stop(self) -> int:
        for number, seconds in (
            (signal.SIGINT, AFTER_INTERRUPT),
            (signal.SIGTERM, AFTER_TERM),
            (signal.SIGKILL, None),
        ):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)
            try:
                return self._process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                continue
        return self._process.wait()

    def _read(self, stream: _Stream) -> None:
        rest = b""
        while True:
            chunk = stream.read()
            t = time.monotonic()
            if not chunk:
                break
            stream.show(chunk)
            *lines, rest = (rest + chunk).split(b"\n")
            with self._lock:
                for line in lines:
                    self._on_line(line + b"\n", t)
        if rest:
            with self._lock:
                self._on_line(rest, time.monotonic())
        os.close(stream.own)


class _Stream:
    """One of our own output streams, and the end of a pipe or terminal that the command writes to instead."""

    def __init__(self, shown: object) -> None:
        self._shown: int | None = None
        with contextlib.suppress(AttributeError, OSError, ValueError):
            shown.flush()  # type: ignore[attr-defined]
            self._shown = shown.fileno()  # type: ignore[attr-defined]
        if self._shown is not None and os.isatty(self._shown):
            self.own, self.child = pty.openpty()
            attributes = termios.tcgetattr(self.child)
            attributes[1] &= ~termios.OPOST  # line ends as the command writes them
            termios.tcsetattr(self.child, termios.TCSANOW, attributes)
            with contextlib.suppress(OSError):
                size = fcntl.ioctl(self._shown, termios.TIOCGWINSZ, b"\0" * 8)
                fcntl.ioctl(self.child, termios.TIOCSWINSZ, size)
        else:
            self.own, self.child = os.pipe()
        self._text = shown

    def read(self) -> bytes:
        """Empty at the end."""
        try:
            return os.read(self.own, CHUNK)
        except OSError as error:
            if error.errno == errno.EIO:  # the last process with this terminal has ended
                return b""
            raise

    def show(self, chunk: bytes) -> None:
        """Losing the terminal or the pipe does not end the measurement."""
        try:
            if self._shown is None:
                self._text.write(chunk.decode("utf-8", "replace"))  # type: ignore[attr-defined]
                return
            while chunk:
                chunk = chunk[os.write(self._shown, chunk) :]
        except (OSError, ValueError, AttributeError):
            self._shown = self._text = None
