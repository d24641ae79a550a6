"""A load tool as a child process in its own group: its output is kept in full and passed on line by line."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

from workers.agent.measure.share import go_first
from workers.agent.tools import Invocation, ToolMissing

KILL_AFTER = 3.0  # s between SIGTERM and SIGKILL
DRAIN = 2.0  # s for the rest of the output after the end
TAIL = 64 * 1024  # bytes of output searched for the reason of a failure


class ToolProcess:
    """`on_line` is called on the reading thread with each raw line."""

    def __init__(
        self, invocation: Invocation, *, output: Path, on_line: Callable[[bytes], None] = lambda _: None
    ) -> None:
        """Raises ToolMissing, or OSError when `output` cannot be written."""
        self._file = output.open("ab", buffering=0)
        self._on_line = on_line
        self._deadline = time.monotonic() + invocation.timeout
        self.write_error = ""
        try:
            self._process = subprocess.Popen(
                invocation.argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, "LC_ALL": "C"},
            )
        except OSError as error:
            self._file.close()
            raise ToolMissing(f"{invocation.argv[0]} cannot be started: {error.strerror}") from error
        self.pid = self._process.pid
        self._reader = threading.Thread(target=self._read, name="tool output", daemon=True)
        self._reader.start()

    def poll(self) -> int | None:
        """Exit code (negative: the signal) once the process has ended and its output was read."""
        code = self._process.poll()
        if code is not None:
            self._reader.join(timeout=DRAIN)
        return code

    def is_overdue(self) -> bool:
        return time.monotonic() > self._deadline

    def stop(self) -> int:
        """SIGTERM, then SIGKILL, to the whole group. Returns the exit code."""
        if self._process.poll() is None:
            stop_group(self.pid, is_gone=lambda: self._process.poll() is not None)
        code = self._process.wait()
        self._reader.join(timeout=DRAIN)
        return code

    def _read(self) -> None:
        go_first()
        stream = self._process.stdout
        assert stream is not None  # noqa: S101  (opened as a pipe above)
        with self._file, stream:
            for line in stream:
                self._on_line(line)  # first, since its time counts and a disk may be slow
                try:
                    self._file.write(line)
                except OSError as error:
                    self.write_error = self.write_error or f"the tool's output cannot be kept: {error.strerror}"


def tail(output: Path) -> bytes:
    """The end of a tool's output. Raises OSError."""
    with output.open("rb") as stream:
        stream.seek(max(0, output.stat().st_size - TAIL))
        return stream.read()


def stop_group(pid: int, *, is_gone: Callable[[], bool]) -> None:
    """Ends the process group led by `pid`: SIGTERM, then SIGKILL."""
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal_number)
        deadline = time.monotonic() + KILL_AFTER
        while time.monotonic() < deadline:
            if is_gone():
                return
            time.sleep(0.02)
