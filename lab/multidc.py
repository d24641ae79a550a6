"""Galera in three datacentres: one network namespace each, connected with a delay (lab/delay.py)."""

import json
import os
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lab import delay
from lab.daemons import Daemon
from lab.galera import Galera
from lab.galera_node import NODES, NodePlace
from lab.packages import LabError, program
from lab.systems import AgentEntry, Progress

# Position of each on a line, in ms: 25 one way from the first to the second, 50 to the third.
PLACES = {"node1": 0, "node2": 25, "node3": 50}
TUN = Path("/dev/net/tun")
READY_TIMEOUT = 180.0  # s; an ended process is detected at once


def why_not() -> str:
    """The machine's missing capability; empty: none."""
    if os.geteuid() != 0:
        return "network namespaces and TUN devices are root's: run it as root"
    try:
        os.close(os.open(TUN, os.O_RDWR))
    except OSError as error:
        return f"{TUN} cannot be opened ({error.strerror}): load the kernel's module tun, or give it to the container"
    return ""


class MultiDC(Galera):
    needs: Sequence[str] = (*Galera.needs, "nsenter")
    name = "MariaDB Galera in three datacentres, 25 and 50 ms one way, one writer behind HAProxy"
    node_controls: Sequence[str] = (*Galera.node_controls, "cut", "heal")

    def __init__(self, var: Path, slug: str = "galera-3dc") -> None:
        super().__init__(var, slug)
        self._delay = Daemon(self.directory, "delay")

    def up(self, progress: Progress) -> None:
        if reason := why_not():
            raise LabError(f"there is no network with delays here: {reason}")
        if self._delay.pid is None:
            progress("network")
            self._start_network()
        for node in NODES:
            self._report(f"heal {node}")
        super().up(progress)

    def down(self) -> None:
        super().down()
        self._delay.stop()

    def place(self, node: str, /) -> NodePlace:
        number = NODES.index(node) + 1
        files = self.directory / "namespaces.json"
        path = json.loads(files.read_text())[node] if files.exists() else ""
        return NodePlace(
            address=f"10.77.0.{number}",
            zone=f"dc{number}",
            within=(program("nsenter"), f"--net={path}") if path else (),
            provider=(f"gmcast.segment={number}",),
        )

    def registration(self) -> AgentEntry:
        found = super().registration()
        delays = ", ".join(f"{self.place(node).zone} {PLACES[node]}" for node in NODES)
        return replace(found, settings={**found.settings, "one_way_ms": delays})

    def sql_address(self, node: str) -> str:
        """The server's socket file, which bypasses the network: the client runs beside the current writer."""
        return f"unix@{self.servers[node].socket}"

    def _agent_address(self, node: str) -> Mapping[str, str | int]:
        return {"socket": str(self.servers[node].socket)}

    def do(self, control: str, node: str, /) -> None:
        if control in ("cut", "heal") and node in NODES:
            self._report(f"{control} {node}")
        else:
            super().do(control, node)

    def _report(self, text: str) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as control:
            try:
                control.sendto(text.encode(), str(self.directory / "delay.sock"))
            except OSError as error:
                raise LabError(f"{self.slug}: its network does not run: {error.strerror}") from error

    def _start_network(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        for server in self.servers.values():
            server.kill()  # its network namespace is gone
        files = self.directory / "namespaces.json"
        files.unlink(missing_ok=True)
        nodes = {node: [self.place(node).address, PLACES[node]] for node in NODES}
        (self.directory / "delay.json").write_text(json.dumps({"nodes": nodes}))
        process = self._delay.start([sys.executable, "-I", "-S", delay.__file__, str(self.directory)])
        deadline = time.monotonic() + READY_TIMEOUT
        while not files.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise LabError(f"{self.slug}: its network did not start: {self._delay.last_words()}")
            time.sleep(0.02)
        del self.servers  # they run in the new namespaces
