"""Counters of HAProxy's frontends, backends and servers, from its stats socket."""

import csv
import io
import socket
from collections.abc import Iterator
from typing import Any

from workers.agent.runtime.config import ServerAddress
from workers.agent.samplers import SourceFailed, SourceReading
from workers.protocol.wire import Number

TIMEOUT = 5  # s
COMMANDS = b"show info;show stat\n"
# HAProxy's names, explained in the metric catalog. Settings, limits and identities are left out.
FIELDS = (
    *("qcur", "qmax", "scur", "smax", "stot", "rate", "bin", "bout", "dreq", "dresp", "ereq", "econ", "eresp"),
    *("wretr", "wredis", "act", "bck", "chkfail", "chkdown", "downtime", "lbtot", "cli_abrt", "srv_abrt"),
    *("qtime", "ctime", "rtime", "ttime", "connect", "reuse"),
)
DIGITS = 19  # of a count of 64 bits
INFO = ("CurrConns", "CumConns", "Maxconn", "Run_queue", "Idle_pct", "Uptime_sec")


class HAProxySource:
    name = "haproxy"
    interval = 1
    prompt = False

    def __init__(self, address: ServerAddress) -> None:
        self._address = address
        self._pid: int | None = None

    def process_id(self) -> int | None:
        """HAProxy's pid as last reported. Raises SourceFailed."""
        if self._pid is None:
            self.read()
        return self._pid

    def read(self) -> SourceReading:
        self._pid, reading = parse_answer(self._ask())
        return reading

    def close(self) -> None:
        """No resources to free."""

    def _ask(self) -> str:
        """Raises SourceFailed."""
        address = self._address
        family = socket.AF_UNIX if address.socket else socket.AF_INET
        try:
            with socket.socket(family) as connection:
                connection.settimeout(TIMEOUT)
                connection.connect(address.socket or (address.host, address.port))
                connection.sendall(COMMANDS)
                parts = []
                while part := connection.recv(65536):
                    parts.append(part)
        except OSError as error:
            raise SourceFailed(f"HAProxy's stats socket {address}: {error.strerror or error}") from error
        return b"".join(parts).decode(errors="replace")


def parse_answer(text: str) -> tuple[int | None, SourceReading]:
    """HAProxy's pid, if it states one, and the reading. Raises SourceFailed."""
    information, _, statistics = text.partition("\n\n")
    facts = dict(line.split(": ", 1) for line in information.splitlines() if ": " in line)
    counted = {name: _whole(facts.get(name, "")) for name in INFO}
    values: dict[str, Number] = {f"haproxy.process.{name}": each for name, each in counted.items() if each is not None}
    found = parse(statistics)
    return _whole(facts.get("Pid", "")), SourceReading({**values, **found.values}, states=found.states)


def parse(statistics: str) -> SourceReading:
    """Parses `show stat`: CSV whose first line, after a #, names the columns. Raises SourceFailed."""
    text = statistics.strip().removeprefix("# ")
    if not text.startswith("pxname,svname,"):
        raise SourceFailed(f"HAProxy returned no statistics: {text[:80]!r}")
    values: dict[str, Number] = {}
    states: dict[str, str] = {}
    for row in _rows(text):
        prefix = f"haproxy.{_word(row['pxname'])}.{_word(row['svname'])}."
        for name in FIELDS:
            count = _whole(row.get(name) or "")
            if count is not None:
                values[prefix + name] = count
        status = row.get("status") or ""
        # A server in transition shows "UP 1/3"; a frontend shows OPEN.
        values[f"{prefix}up"] = int(status.startswith(("UP", "OPEN", "no check")))
        if row["svname"] != "FRONTEND":
            name = f"{row['pxname']}/{row['svname']}"
            states[name] = _state(status, row.get("check_status") or "")
            if row.get("addr"):
                states[f"{name} address"] = row["addr"]
    return SourceReading(values, states=states)


def _rows(text: str) -> Iterator[dict[str, Any]]:
    """Those of a proxy and one of its servers. Raises SourceFailed."""
    try:
        yield from (row for row in csv.DictReader(io.StringIO(text)) if row["pxname"] and row["svname"])
    except csv.Error as error:
        raise SourceFailed(f"HAProxy's statistics cannot be read: {error}") from error


def _whole(text: str) -> int | None:
    """A count; None: it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= DIGITS else None


def _state(status: str, check: str) -> str:
    """UP, DOWN and the like, without the progress of a transition; with the check's result when not up."""
    if status.startswith(("UP", "no check")):
        return status if status.startswith("no") else "UP"
    seen = check.removeprefix("* ")
    return status.partition(" ")[0] + (f" ({seen})" if seen else "")


def _word(name: str) -> str:
    return "_".join(name.split())
