"""Ports of the lab's servers: chosen once, kept in a file, so that a server comes back where it was."""

import json
import random
import socket
from collections.abc import Iterable
from pathlib import Path

# Below the ports that the kernel gives to outgoing connections: one of those could take a killed server's place.
LOWEST, HIGHEST = 13000, 29999


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the servers do: a connection that was closed a moment ago does not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port() -> int:
    while True:
        port = random.SystemRandom().randint(LOWEST, HIGHEST)
        if is_free(port):
            return port


def kept_ports(file: Path, names: Iterable[str]) -> dict[str, int]:
    """A port for each name; those that `file` knows stay."""
    known: dict[str, int] = json.loads(file.read_text()) if file.exists() else {}
    ports = dict(known)
    _choose(ports, (name for name in names if name not in known))
    if ports != known:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(ports, indent=1))
    return ports


def replace_taken(file: Path, ports: dict[str, int], names: Iterable[str]) -> None:
    """Others for those of `names` on which somebody else listens by now, in `ports` and in `file`."""
    taken = [name for name in names if not is_free(ports[name])]
    if taken:
        _choose(ports, taken)
        file.write_text(json.dumps(ports, indent=1))


def _choose(ports: dict[str, int], names: Iterable[str]) -> None:
    for name in names:
        port = free_port()
        while port in ports.values():
            port = free_port()
        ports[name] = port
