"""The host's counters from /proc, in seconds and bytes."""

import os
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from workers.agent.samplers import HiddenFromSampler, SourceFailed, SourceReading
from workers.protocol.wire import Number

FILES = (
    "stat",
    "loadavg",
    "diskstats",
    "net/dev",
    "meminfo",
    "vmstat",
    "pressure/cpu",
    "pressure/memory",
    "pressure/io",
    "net/snmp",
)
OPTIONAL = frozenset({"pressure/cpu", "pressure/memory", "pressure/io", "net/snmp"})
NO_PRESSURE = HiddenFromSampler(
    "waiting for CPU, memory and disks (/proc/pressure)",
    "this kernel does not report it",
    "boot one that has PSI with psi=1",
)
OF_ALL_CPUS = HiddenFromSampler(
    "tasks waiting for CPUs (run queue, load average, /proc/pressure/cpu)",
    "the kernel reports them for all CPUs of the machine together, the node runs on some of them",
    "measure on a machine of its own",
)
# Of the whole machine, whichever CPUs a program may use.
_UNDIVIDED = ("loadavg", "pressure/cpu")
TCP = {"RetransSegs": "retransmits", "InErrs": "errors", "CurrEstab": "established", "AttemptFails": "failed_attempts"}
SECTOR = 512  # bytes, for every disk
KIBIBYTE = 1024
CPU_STATES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
NOT_A_DISK = re.compile(r"(loop|ram|sr|fd)\d+")
NETWORK = {
    "rx_bytes": 0,
    "rx_packets": 1,
    "rx_errors": 2,
    "rx_drops": 3,
    "tx_bytes": 8,
    "tx_packets": 9,
    "tx_errors": 10,
    "tx_drops": 11,
}


class HostCounters:
    """`cpus`: those that count, where programs share the machine by CPUs; empty: all."""

    name = "host"
    interval = 1
    prompt = True

    def __init__(
        self, proc: Path = Path("/proc"), *, ticks: int | None = None, cpus: Collection[int] = frozenset()
    ) -> None:
        self._proc = proc
        self._ticks = ticks or os.sysconf("SC_CLK_TCK")
        self._cpus = frozenset(cpus)
        self._files = [name for name in FILES if not (cpus and name in _UNDIVIDED)]

    def read(self) -> SourceReading:
        texts = {}
        for name in self._files:
            try:
                texts[name] = (self._proc / name).read_text()
            except OSError as error:
                if name not in OPTIONAL:
                    raise SourceFailed(f"{self._proc / name}: {error.strerror}") from error
        hidden = [OF_ALL_CPUS] if self._cpus else [] if "pressure/cpu" in texts else [NO_PRESSURE]
        return SourceReading(parse(texts, ticks=self._ticks, disks=whole_disks(), cpus=self._cpus), hidden=hidden)

    def close(self) -> None:
        """No resources to free."""


def whole_disks() -> frozenset[str] | None:
    """Names of block devices that are not partitions; None when the kernel does not list them."""
    try:
        return frozenset(os.listdir("/sys/block"))
    except OSError:
        return None


def parse(
    texts: Mapping[str, str],
    *,
    ticks: int,
    disks: frozenset[str] | None = None,
    cpus: Collection[int] = frozenset(),
) -> dict[str, Number]:
    """`texts`: contents of files below /proc; a missing file gives no values. `ticks`: of the CPU clock, 1/s. `cpus`:
    as of HostCounters."""
    readers: dict[str, Callable[[str], dict[str, Number]]] = {
        "stat": lambda text: _stat(text, ticks, cpus),
        "loadavg": lambda text: {"host.load.1m": float(text.split()[0])},
        "diskstats": lambda text: _disks(text, disks),
        "net/dev": _network,
        "meminfo": _memory,
        "vmstat": _vmstat,
        "net/snmp": _tcp,
    }
    values: dict[str, Number] = {}
    for name, text in texts.items():
        if name.startswith("pressure/"):
            values |= _pressure(name.removeprefix("pressure/"), text)
        else:
            values |= readers[name](text)
    return values


def _stat(text: str, ticks: int, cpus: Collection[int]) -> dict[str, Number]:
    values: dict[str, Number] = {}
    # Guest time is already in user and nice. Ticks, not seconds, so that their sums are exact.
    spent = dict.fromkeys(CPU_STATES, 0)
    counted = 0
    for line in text.splitlines():
        name, *fields = line.split()
        if name.startswith("cpu"):
            of_all = name == "cpu"
            counted += not of_all and (not cpus or int(name[3:]) in cpus)
            if of_all != bool(cpus) and (of_all or int(name[3:]) in cpus):
                spent |= {state: spent[state] + int(field) for state, field in zip(CPU_STATES, fields, strict=False)}
        elif name == "ctxt":
            values["host.context_switches"] = int(fields[0])
        elif name == "procs_blocked" or (name == "procs_running" and not cpus):
            values[f"host.{name}"] = int(fields[0])
    return {"host.cpus": counted, **{f"host.cpu.{state}": ticked / ticks for state, ticked in spent.items()}, **values}


def _disks(text: str, disks: frozenset[str] | None) -> dict[str, Number]:
    values: dict[str, Number] = {}
    for line in text.splitlines():
        _, _, disk, *fields = line.split()
        if NOT_A_DISK.fullmatch(disk) or (disks is not None and disk.replace("/", "!") not in disks):
            continue
        counts = [int(field) for field in fields[:11]]
        reads, _, sectors_read, read_ms, writes, _, sectors_written, write_ms, in_flight, io_ms, weighted_ms = counts
        values |= {
            f"host.disk.{disk}.reads": reads,
            f"host.disk.{disk}.writes": writes,
            f"host.disk.{disk}.read_bytes": sectors_read * SECTOR,
            f"host.disk.{disk}.write_bytes": sectors_written * SECTOR,
            f"host.disk.{disk}.read_time": read_ms / 1000,
            f"host.disk.{disk}.write_time": write_ms / 1000,
            f"host.disk.{disk}.io_time": io_ms / 1000,
            f"host.disk.{disk}.io_weighted_time": weighted_ms / 1000,
            f"host.disk.{disk}.in_flight": in_flight,
        }
    return values


def _network(text: str) -> dict[str, Number]:
    values: dict[str, Number] = {}
    for line in text.splitlines():
        interface, colon, rest = line.partition(":")
        if colon:
            fields = rest.split()
            values |= {f"host.net.{interface.strip()}.{name}": int(fields[at]) for name, at in NETWORK.items()}
    return values


def _tcp(text: str) -> dict[str, Number]:
    """TCP counters of the whole host: a line of names, then a line of values."""
    names, values = (line.split()[1:] for line in text.splitlines() if line.startswith("Tcp:"))
    return {f"host.tcp.{TCP[name]}": int(value) for name, value in zip(names, values, strict=True) if name in TCP}


def _memory(text: str) -> dict[str, Number]:
    """Only the lines in kB: the others count pages."""
    values: dict[str, Number] = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        fields = rest.split()
        if len(fields) == 2 and fields[1] == "kB":
            values[f"host.memory.{name.replace('(', '_').rstrip(')')}"] = int(fields[0]) * KIBIBYTE
    return values


def _vmstat(text: str) -> dict[str, Number]:
    return {f"host.vmstat.{name}": int(value) for name, value in (line.split() for line in text.splitlines())}


def _pressure(resource: str, text: str) -> dict[str, Number]:
    values: dict[str, Number] = {}
    for line in text.splitlines():
        share, *fields = line.split()
        total = dict(field.split("=") for field in fields)["total"]
        values[f"host.pressure.{resource}.{share}"] = int(total) / 1_000_000
    return values
