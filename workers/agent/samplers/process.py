"""The server's process: CPU, memory, page faults and disk I/O from /proc/PID, as far as this user may read it."""

import os
import socket
import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from workers.agent.measure import database
from workers.agent.runtime.config import ServerAddress, SystemConfig
from workers.agent.samplers import HiddenFromSampler, SourceFailed, SourceReading
from workers.protocol.wire import Number

SERVERS = frozenset({"mariadbd", "mysqld"})
IO_KEYS = {
    "read_bytes": "process.io.read_bytes",
    "write_bytes": "process.io.write_bytes",
    "syscr": "process.io.read_calls",
    "syscw": "process.io.write_calls",
}
COUNTED = frozenset({"process.cpu.user", "process.cpu.system", "process.faults.major", *IO_KEYS.values()})
RESIDENT = frozenset({"RssAnon", "RssFile", "RssShmem"})


class ServerProcess:
    """`find` returns the server's process id or None; it is called again when the process is gone."""

    name = "process"
    interval = 1
    prompt = True

    def __init__(self, find: Callable[[], int | None], proc: Path = Path("/proc")) -> None:
        self._find = find
        self._proc = proc
        self._pid: int | None = None

    @property
    def pid(self) -> int | None:
        """Of the process last read; None: not found."""
        return self._pid

    def read(self) -> SourceReading:
        if self._pid is None:
            self._pid = self._find()
        if self._pid is None:
            raise SourceFailed("the server's process was not found on this host")
        directory = self._proc / str(self._pid)
        try:
            return self._read(directory)
        except OSError as error:
            self._pid = None
            raise SourceFailed(f"{directory / 'stat'}: {error.strerror}") from error

    def close(self) -> None:
        """No resources to free."""

    def _read(self, directory: Path) -> SourceReading:
        """Of the process below /proc. Raises OSError when it has ended."""
        stat = (directory / "stat").read_text()
        io, hidden = "", []
        try:
            io = (directory / "io").read_text()
        except OSError as error:
            remedy = "run the agent as root or as the server's user"
            hidden = [
                HiddenFromSampler("disk traffic of the server's process", f"/proc/PID/io: {error.strerror}", remedy)
            ]
        values = parse(stat, io, ticks=os.sysconf("SC_CLK_TCK"), page_size=os.sysconf("SC_PAGE_SIZE"))
        return SourceReading(values, hidden=hidden)


class ProcessFamily(ServerProcess):
    """A server of many processes, such as PostgreSQL: the first one with its children, those that ended included.

    Its memory is what each process has alone, and the most that one of them has of what they share.
    """

    def __init__(self, find: Callable[[], int | None], proc: Path = Path("/proc")) -> None:
        super().__init__(find, proc)
        self._highest: tuple[int | None, dict[str, Number]] = None, {}

    def _read(self, directory: Path) -> SourceReading:
        # Before the first process, which counts those that end from then on.
        children = [found for pid in _children(directory) if (found := self._of(self._proc / pid))]
        first = super()._read(directory)
        values = dict(first.values)
        for key, ended in _of_ended((directory / "stat").read_text(), os.sysconf("SC_CLK_TCK")).items():
            values[key] = (values[key] or 0) + ended
        values = {key: (value or 0) + sum(child.get(key) or 0 for child in children) for key, value in values.items()}
        values["process.rss"] = memory([directory, *(self._proc / pid for pid in _children(directory))])
        return SourceReading(self._rising(values), hidden=first.hidden)

    def _of(self, directory: Path) -> Mapping[str, Number]:
        """Empty: it has ended."""
        try:
            return super()._read(directory).values
        except OSError:
            return {}

    def _rising(self, values: dict[str, Number]) -> dict[str, Number]:
        """A child that ends between two reads is counted twice, or not, in one sample: its sums do not fall."""
        pid, highest = self._highest
        if pid == self.pid:
            for key in COUNTED & values.keys() & highest.keys():
                values[key] = max(values[key] or 0, highest[key] or 0)
        self._highest = self.pid, values
        return values


def memory(directories: Iterable[Path]) -> int:
    """Bytes of processes below /proc: what each has alone, and the most that one has of files and shared memory."""
    alone, files, shared = 0, 0, 0
    for directory in directories:
        try:
            lines = (directory / "status").read_text().splitlines()
        except OSError:
            continue  # it has ended
        kibibytes = {
            name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines) if name in RESIDENT
        }
        alone += kibibytes.get("RssAnon", 0)
        files = max(files, kibibytes.get("RssFile", 0))
        shared = max(shared, kibibytes.get("RssShmem", 0))
    return 1024 * (alone + files + shared)


def _children(directory: Path) -> list[str]:
    """Process ids, as far as the kernel lists them."""
    try:
        return (directory / "task" / directory.name / "children").read_text().split()
    except OSError:
        return []


def _of_ended(stat: str, ticks: int) -> dict[str, float]:
    """What a process counts of its children that ended; the kernel adds their disk traffic to its own."""
    fields = stat.rpartition(")")[2].split()
    return {
        "process.cpu.user": int(fields[13]) / ticks,
        "process.cpu.system": int(fields[14]) / ticks,
        "process.faults.major": int(fields[10]),
    }


def parse(stat: str, io: str, *, ticks: int, page_size: int) -> dict[str, Number]:
    """Parses `stat` and `io` of /proc/PID; `io` may be empty."""
    fields = stat.rpartition(")")[2].split()  # the name before it may hold blanks and parentheses
    values: dict[str, Number] = {
        "process.cpu.user": int(fields[11]) / ticks,
        "process.cpu.system": int(fields[12]) / ticks,
        "process.rss": int(fields[21]) * page_size,
        "process.threads": int(fields[17]),
        "process.faults.major": int(fields[9]),
    }
    for line in io.splitlines():
        name, _, value = line.partition(": ")
        if name in IO_KEYS:
            values[IO_KEYS[name]] = int(value)
    return values


def server_pid(system: SystemConfig, address: ServerAddress) -> int | None:
    """Process id of a server on this host: from its pid file, else from the listener on its socket file."""
    try:
        with database.session(system, doing="find its process", address=address, timeout=5) as cursor:
            cursor.execute("SELECT @@global.pid_file, @@global.datadir, @@global.socket")
            pid_file, directory, socket_file = (str(value) for value in cursor.fetchone() or ("", "", ""))
    except database.DatabaseFailed:
        return None
    return _pid_in(Path(directory) / pid_file) or _listener(Path(directory) / socket_file)


def only_server() -> int | None:
    """Process id of the only database server on this host; None without one or with several."""
    found = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and _is_server(entry)]
    return found[0] if len(found) == 1 else None


def _is_server(entry: Path) -> bool:
    try:
        return (entry / "comm").read_text().strip() in SERVERS
    except OSError:
        return False  # it has ended


def _pid_in(file: Path) -> int | None:
    try:
        pid = int(file.read_text())
        name = Path(f"/proc/{pid}/comm").read_text().strip()
    except (OSError, ValueError):
        return None
    return pid if name in SERVERS else None


def _listener(file: Path) -> int | None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        try:
            connection.connect(str(file))
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        except OSError:
            return None
    pid: int = struct.unpack("3i", credentials)[0]
    return pid or None
