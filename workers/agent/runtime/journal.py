"""What this process has begun and must end, on disk, so that the next process can end it after a crash."""

import os
from pathlib import Path

import msgspec

from workers.agent.measure.database import Workspace
from workers.agent.runtime.spool import write_durably
from workers.protocol.wire import ArtifactMessage


class OpenRun(msgspec.Struct, kw_only=True):
    """A run not yet ended that the server may have. `output`: file with the tool's output so far."""

    uid: str
    batches: int = 0
    artifacts: list[ArtifactMessage] = []
    artifact: str = ""
    output: str = ""


class StartedProcess(msgspec.Struct, frozen=True, kw_only=True):
    """`started`: the kernel's start time of the process; a pid alone may have been reused."""

    pid: int
    started: str


class JournalEntry(msgspec.Struct, kw_only=True):
    """The job in progress. `restore`: the program that puts its servers right, should all else have died."""

    job: int
    attempt: int
    system: str
    workspace: Workspace | None = None
    run: OpenRun | None = None
    process: StartedProcess | None = None
    restore: tuple[str, ...] = ()


class Leftover(msgspec.Struct, frozen=True, kw_only=True):
    """Tables still to be dropped."""

    system: str
    workspace: Workspace


class Journal:
    """One file for the job in progress, one per schema still to be cleaned. Raises OSError."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / "journal.json"
        self._leftovers = directory / "leftovers"
        self._leftovers.mkdir(parents=True, exist_ok=True, mode=0o700)

    def write(self, entry: JournalEntry) -> None:
        write_durably(self._file, msgspec.json.encode(entry))

    def read(self) -> JournalEntry | None:
        """None: nothing was in progress. Raises msgspec.MsgspecError when the file is damaged."""
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=JournalEntry)
        except FileNotFoundError:
            return None

    def clear(self) -> None:
        self._file.unlink(missing_ok=True)

    def quarantine(self) -> Path:
        """Renames a damaged journal, for manual inspection."""
        target = self._file.with_suffix(".damaged")
        self._file.rename(target)
        return target

    def add_leftover(self, leftover: Leftover) -> None:
        name = f"{leftover.system}-{leftover.workspace.schema}.json"
        write_durably(self._leftovers / name, msgspec.json.encode(leftover))

    def leftovers(self) -> list[Leftover]:
        return [
            msgspec.json.decode(file.read_bytes(), type=Leftover) for file in sorted(self._leftovers.glob("*.json"))
        ]

    def remove_leftover(self, leftover: Leftover) -> None:
        (self._leftovers / f"{leftover.system}-{leftover.workspace.schema}.json").unlink(missing_ok=True)


def started_process(pid: int) -> StartedProcess | None:
    """None when the process no longer exists."""
    started = _start_time(pid)
    return StartedProcess(pid=pid, started=started) if started else None


def is_still(process: StartedProcess) -> bool:
    return _start_time(process.pid) == process.started


def _start_time(pid: int) -> str:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] == "Z" else f"{fields[19]}@{os.sysconf('SC_CLK_TCK')}"
