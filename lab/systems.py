"""The interface of the lab's systems, and their registration with the agent."""

import fcntl
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lab import cpus
from lab.mariadb import ACCOUNT

FAULT = Path(__file__).resolve().parent / "fault.py"
NODE_CONTROLS = ("kill", "stop", "freeze", "thaw", "start")
MEBIBYTE = 1024 * 1024

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Member:
    """A node and the address for its counters."""

    name: str
    role: str
    address: Mapping[str, str | int]  # host and port, or socket
    zone: str = ""


@dataclass(frozen=True)
class AgentEntry:
    """A system's entry in the agent's configuration. `address`: target of the load."""

    name: str
    platform: str
    address: Mapping[str, str | int]
    password_file: Path
    settings: Mapping[str, str]
    members: Sequence[Member]
    node_controls: Sequence[str] = NODE_CONTROLS
    system_controls: Mapping[str, Sequence[str]] = field(default_factory=dict)
    proxy_socket: Path | None = None
    proxy_checks: Mapping[str, str] = field(default_factory=dict)


class LabSystem(Protocol):
    """Methods that change something raise LabError."""

    slug: str
    needs: Sequence[str]  # programs
    size: int  # servers

    def up(self, progress: Progress) -> None:
        """Starts everything, including parts that already ran or were killed."""

    def down(self) -> None: ...

    def is_up(self) -> bool: ...

    def state(self) -> str:
        """For users: `runs on 127.0.0.1:13306 …` or `is stopped`."""

    def registration(self) -> AgentEntry: ...

    def start(self, node: str, /) -> None:
        """Brings one node back into service, from any state."""

    def stop(self, node: str, /) -> None: ...

    def do(self, control: str, node: str, /) -> None:
        """Other controls: `switch` and `check` of the whole system, `start_alone`, `cut` and `heal` of a node."""


@contextmanager
def locked(var: Path, slug: str) -> Iterator[None]:
    """Serializes commands on one system: two that start parts of it would conflict."""
    file = var / "lab" / f"{slug}.lock"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fault_command(var: Path, slug: str, node: str, control: str) -> list[str]:
    """Works from any directory; without site-packages, for speed."""
    return [sys.executable, "-I", "-S", str(FAULT), str(var), slug, node, control]


def register(var: Path, system: LabSystem) -> None:
    """Writes the system's file for the agent, which rereads it on changes; removes that of a stopped system."""
    file = var / "agent.d" / f"lab-{system.slug}.toml"
    if not system.is_up():
        file.unlink(missing_ok=True)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text("\n".join(_lines(var, system.slug, system.registration())) + "\n")
    part.replace(file)


def _lines(var: Path, slug: str, entry: AgentEntry) -> list[str]:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MEBIBYTE
    there, only = os.cpu_count() or 1, cpus.kept(var, slug)
    usable = len(cpus.numbers(only)) if only else there
    of = f"of{there}" if only else ""
    # Named by its size, so that two machines of different size never share a class.
    hardware = f"local-{usable}{of}vcpu-{round(memory / 1024)}gib"
    lines = [
        "# Written by `python -m lab`.",
        "[[hardware]]",
        _line("slug", hardware),
        _line("name", f"local machine, {usable}{' of ' + str(there) if only else ''} vCPU, {round(memory / 1024)} GiB"),
        _line("vcpu", usable),
        _line("memory_mb", memory),
        "",
        "[[systems]]",
        _line("slug", slug),
        _line("name", entry.name),
        _line("platform", entry.platform),
        _line("hardware_class", hardware),
        *(_line(key, value) for key, value in entry.address.items()),
        _line("user", ACCOUNT),
        _line("password_file", str(entry.password_file)),
        *([_line("cpus", sorted(cpus.numbers(only)))] if only else []),
        "[systems.settings]",
        *(_line(key, value) for key, value in entry.settings.items()),
    ]
    for member in entry.members:
        lines += ["[[systems.nodes]]", _line("name", member.name), _line("role", member.role)]
        lines += [_line("zone", member.zone), *(_line(key, value) for key, value in member.address.items())]
    if entry.proxy_socket:
        lines += ["[systems.proxy]", _line("socket", str(entry.proxy_socket))]
        if entry.proxy_checks:
            lines += ["[systems.proxy.settings]", *(_line(key, value) for key, value in entry.proxy_checks.items())]
    controls = {"restart": fault_command(var, slug, "", "restart"), **entry.system_controls}
    lines += ["[systems.controls]", *(_line(name, list(argv)) for name, argv in controls.items())]
    for member in entry.members:
        lines.append(f"[systems.controls.{member.name}]")
        lines += [_line(name, fault_command(var, slug, member.name, name)) for name in entry.node_controls]
    return lines


def _line(key: str, value: str | int | list[str] | list[int]) -> str:
    """JSON strings, numbers and lists of them are also valid TOML; keys may hold a dot."""
    return f"{json.dumps(key) if '.' in key else key} = {json.dumps(value, ensure_ascii=False)}"
