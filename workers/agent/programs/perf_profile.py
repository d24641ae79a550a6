"""CPU profile of a server, sampled by perf as far as this machine and its kernel permit."""

import contextlib
import signal
import subprocess
import time
from pathlib import Path

from workers.agent.programs.report import emit

HERTZ = 99
START = 0.5  # s within which perf exits if it has no permission
TIMEOUT = 30.0  # s for the end of a recording, and for its table
KEPT = 10  # rows of the table in the event


class Profile:
    """`with Profile(pid, …)`: samples the block. Afterwards `file` holds perf's table, or `refusal` the reason."""

    def __init__(self, pid: int | None, file: Path) -> None:
        self.file = file
        self.refusal = "" if pid else "the server's process was not found on this machine"
        self._pid = pid
        self._data = file.with_suffix(".data")
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Profile":
        if self.refusal:
            return self
        argv = ["perf", "record", "-e", "cpu-clock", "-F", str(HERTZ), "-p", str(self._pid), "-o", str(self._data)]
        try:
            self._process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
        except OSError as error:
            self.refusal = (
                f"perf cannot be started: {error.strerror}; install it, for example: apt-get install linux-perf"
            )
            return self
        time.sleep(START)
        if self._process.poll() is not None:
            self.refusal = _reason(self._process.communicate()[1])
        return self

    def __exit__(self, *_: object) -> None:
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._write_table()
        self._data.unlink(missing_ok=True)
        self._data.with_name(self._data.name + ".old").unlink(missing_ok=True)
        if not self.refusal and not self.file.exists():
            self.refusal = "perf made no table"

    def _write_table(self) -> None:
        if self.refusal or not self._data.exists():
            return
        argv = [
            "perf",
            "report",
            "-i",
            str(self._data),
            "--stdio",
            "--no-children",
            "-g",
            "none",
            "--percent-limit",
            "0.01",
        ]
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=TIMEOUT
        )
        if done.returncode:
            self.refusal = _reason(done.stderr)
        elif not top_of(done.stdout):
            # The server got no processor while perf looked: a table of headings is no profile.
            self.refusal = "perf took no sample of the server"
        else:
            self.file.write_text(done.stdout)

    def report(self, *, start: float, end: float) -> None:
        """Prints an event with the top of the table, or why there is none. Times on the load's clock, s."""
        span = {"from": round(start, 3), "to": round(end, 3)}
        if self.refusal:
            emit("event", event="not_observable", label=f"profile of the server: {self.refusal}"[:200], **span)
            return
        top = top_of(self.file.read_text())
        label = f"sampled the server's CPU {HERTZ} times a second; the table is {self.file.name}"
        emit("event", event="profile", label=label, **span, detail={"top": top})


def top_of(table: str) -> list[list[str | float]]:
    """Share in %, shared object and symbol, from the top of perf's table."""
    found: list[list[str | float]] = []
    for line in table.splitlines():
        cells = line.split(None, 4)
        if len(cells) == 5 and cells[0].endswith("%"):  # share, command, object, [kind], symbol
            found.append([float(cells[0].rstrip("%")), cells[2], cells[4].strip()])
    return found[:KEPT]


def _reason(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    wanted = [line for line in lines if "perf_event_paranoid" in line or "ermission" in line or "rror" in line]
    return (wanted or lines or ["perf ended without a message"])[0][:160]
