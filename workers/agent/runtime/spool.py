"""Messages not yet delivered to the server: one file each, in order, deleted only when the server has stored it."""

import fcntl
import json
import os
import shutil
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workers.protocol import wire

SUFFIX = ".message"


class SpoolInUse(Exception):
    """Another agent uses this directory; the text contains the remedy."""


class Corrupt(Exception):
    """A spool file whose content is damaged; the text describes the damage."""


@dataclass(frozen=True)
class SpoolMessage:
    """A request to send. Messages of one `group` (an attempt of a job) are sent in the order of `put`."""

    group: str
    kind: str  # run, batch, artifact, run-end, job-end
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    run: str = ""

    def encode(self) -> bytes:
        head = {name: getattr(self, name) for name in ("group", "kind", "method", "path", "headers", "run")}
        head["checksum"] = wire.checksum(self.body)
        return json.dumps(head).encode() + b"\n" + self.body

    @classmethod
    def decode(cls, content: bytes) -> "SpoolMessage":
        """Raises Corrupt."""
        head, separator, body = content.partition(b"\n")
        try:
            fields: dict[str, Any] = json.loads(head)
            checksum = fields.pop("checksum")
            message = cls(**fields, body=body)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Corrupt(f"its first line is not the head of a message: {error}") from error
        if not separator or checksum != wire.checksum(body):
            raise Corrupt(f"its body of {len(body)} bytes is not the one that was written")
        return message


@dataclass(frozen=True)
class SpoolEntry:
    """A message on disk."""

    number: int
    file: Path
    group: str
    kind: str
    run: str


class Spool:
    """Any thread may put while another takes. One process owns the directory at a time."""

    def __init__(self, directory: Path) -> None:
        """Raises SpoolInUse, or OSError when the directory cannot be written."""
        self.directory = directory
        self.queue = directory / "queue"
        self.refused = directory / "refused"
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in (self.queue, self.refused):
            folder.mkdir(exist_ok=True, mode=0o700)
        self._lock_file = (directory / "lock").open("a")
        try:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock_file.close()
            raise SpoolInUse(f"{directory} is used by another agent; stop that one or set agent.spool") from error
        self._changed = threading.Condition()
        self._entries: deque[SpoolEntry] = deque()
        self._number = 0
        self._read_directory()

    def close(self) -> None:
        self._lock_file.close()

    def put(self, message: SpoolMessage, *, before_visible: Callable[[], None] | None = None) -> int:
        """Writes the message durably; `before_visible` runs when it is on disk but not yet sendable. Raises OSError."""
        content = message.encode()
        with self._changed:
            number = self._number + 1
            file = self.queue / f"{number:012d}{SUFFIX}"
            write_durably(file, content)
            self._number = number
            if before_visible:
                try:
                    before_visible()
                except OSError:
                    file.unlink()
                    raise
            self._entries.append(SpoolEntry(number, file, message.group, message.kind, message.run))
            self._changed.notify_all()
        return number

    def heads(self) -> list[SpoolEntry]:
        """The oldest message of each group: those that may be sent now."""
        with self._changed:
            first: dict[str, SpoolEntry] = {}
            for entry in self._entries:
                first.setdefault(entry.group, entry)
            return list(first.values())

    def read(self, entry: SpoolEntry) -> SpoolMessage:
        """Raises Corrupt."""
        try:
            return SpoolMessage.decode(entry.file.read_bytes())
        except FileNotFoundError as error:
            raise Corrupt("it was removed by another program") from error

    def delete(self, entry: SpoolEntry) -> None:
        entry.file.unlink(missing_ok=True)
        self._forget(entry)

    def quarantine(self, entry: SpoolEntry, reason: str) -> None:
        """Quarantines the message: moves it to refused/, with the reason beside it, for manual inspection."""
        target = self.refused / entry.file.name
        while target.exists():
            target = target.with_name("again-" + target.name)
        write_durably(target.with_name(target.name + ".reason"), reason.encode())
        if entry.file.exists():
            entry.file.rename(target)
        self._forget(entry)

    def wait(self, timeout: float) -> None:
        """Returns after a put or a removal, or after `timeout` seconds."""
        with self._changed:
            self._changed.wait(timeout)

    def is_empty(self) -> bool:
        with self._changed:
            return not self._entries

    def holds(self, number: int) -> bool:
        with self._changed:
            return any(entry.number == number for entry in self._entries)

    def of_run(self, run: str, kind: str) -> list[SpoolEntry]:
        with self._changed:
            return [entry for entry in self._entries if entry.run == run and entry.kind == kind]

    def free_bytes(self) -> int:
        return shutil.disk_usage(self.directory).free

    def health(self) -> dict[str, int]:
        """For the hello: waiting and refused messages, free disk space."""
        with self._changed:
            files = [entry.file for entry in self._entries]
        waiting = 0
        for file in files:
            try:
                waiting += file.stat().st_size
            except FileNotFoundError:
                continue  # sent in the meantime
        refused = sum(1 for file in self.refused.iterdir() if file.name.endswith(SUFFIX))
        return {
            "spool_messages": len(files),
            "spool_bytes": waiting,
            "refused_messages": refused,
            "free_disk_bytes": self.free_bytes(),
        }

    def _read_directory(self) -> None:
        for leftover in self.queue.glob("*.part"):
            leftover.unlink()  # never renamed: the process died while writing it, before reporting it
        for file in sorted(self.queue.glob(f"*{SUFFIX}")):
            number = int(file.stem) if file.stem.isdigit() else 0
            self._number = max(self._number, number)
            entry = SpoolEntry(number, file, "", "", "")
            try:
                message = SpoolMessage.decode(file.read_bytes())
            except Corrupt as problem:
                self.quarantine(entry, f"corrupt: {problem}")
                continue
            self._entries.append(SpoolEntry(number, file, message.group, message.kind, message.run))
        for file in self.refused.glob(f"*{SUFFIX}"):  # numbers are never reused
            digits = file.stem.rpartition("-")[2]
            self._number = max(self._number, int(digits) if digits.isdigit() else 0)

    def _forget(self, entry: SpoolEntry) -> None:
        with self._changed:
            if entry in self._entries:
                self._entries.remove(entry)
            self._changed.notify_all()


def write_durably(file: Path, content: bytes) -> None:
    """Atomic: the file holds all of `content` or does not exist, even after a power cut. Raises OSError."""
    part = file.with_name(file.name + ".part")
    try:
        with part.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        part.rename(file)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    descriptor = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
