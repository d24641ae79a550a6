"""A network with delays between namespaces: `delay.py DIRECTORY`, as root, requires /dev/net/tun.

Reads DIRECTORY/delay.json, {"nodes": {name: [address, place in ms]}}: a packet between two nodes is delayed by the
distance of their places. Each node gets a network namespace with one TUN device; they end with this program. Writes
DIRECTORY/namespaces.json, {name: path for nsenter}. Accepts `cut NAME` and `heal NAME` on DIRECTORY/delay.sock.
"""

import ctypes
import fcntl
import heapq
import ipaddress
import json
import os
import select
import socket
import struct
import sys
import time
from pathlib import Path

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK, SIOCSIFMTU = 0x8914, 0x8916, 0x891C, 0x8922
IFF_UP = 0x1
MTU = 9000  # fewer packets for full copies of a node
NETMASK = "255.255.255.0"
DEVICE = b"lab0"

_libc = ctypes.CDLL(None, use_errno=True)


def namespace(address: str) -> tuple[int, int]:
    """Moves this program into a new network namespace; returns descriptors of its TUN device and of the namespace."""
    if _libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", DEVICE, IFF_TUN | IFF_NO_PI))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for request, text in ((SIOCSIFADDR, address), (SIOCSIFNETMASK, NETMASK)):
            place = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(text))
            fcntl.ioctl(control, request, struct.pack("16s16s8x", DEVICE, place))
        fcntl.ioctl(control, SIOCSIFMTU, struct.pack("16si20x", DEVICE, MTU))
        for name in (b"lo", DEVICE):
            fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", name, IFF_UP))
    # Not inherited by children; nsenter finds it below /proc.
    return tun, os.open("/proc/thread-self/ns/net", os.O_RDONLY)


class Network:
    """`places`: address as four bytes -> (name, place in ms)."""

    def __init__(self, places: dict[bytes, tuple[str, float]], tuns: dict[str, int]) -> None:
        self.cut: set[str] = set()
        self._places = places
        self._tuns = tuns
        self._names = {tun: name for name, tun in tuns.items()}
        self._ms = dict(places.values())
        self._under_way: list[tuple[float, int, str, str, bytes]] = []
        self._count = 0

    def take(self, tun: int) -> None:
        """Reads all packets sent by a node."""
        source = self._names[tun]
        now = time.monotonic()
        while True:
            try:
                packet = os.read(tun, MTU + 64)
            except BlockingIOError:
                return
            target = self._places.get(packet[16:20])
            if target and packet[0] >> 4 == 4:
                self._count += 1  # packets due at the same time keep their order
                due = now + abs(self._ms[source] - target[1]) / 1000
                heapq.heappush(self._under_way, (due, self._count, source, target[0], packet))

    def deliver(self) -> float:
        """Delivers due packets; returns the seconds until the next. Packets in transit during a cut are lost."""
        while self._under_way:
            wait = self._under_way[0][0] - time.monotonic()
            if wait > 0:
                return wait
            _, _, source, target, packet = heapq.heappop(self._under_way)
            if source not in self.cut and target not in self.cut:
                try:
                    os.write(self._tuns[target], packet)
                except OSError:
                    continue  # its queue is full: lost, as on a real line
        return 1.0


def main(path: str) -> None:
    directory = Path(path)
    nodes: dict[str, list[str]] = json.loads((directory / "delay.json").read_text())["nodes"]
    control = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    (directory / "delay.sock").unlink(missing_ok=True)
    control.bind(str(directory / "delay.sock"))
    tuns, files, places = {}, {}, {}
    for name, (address, place) in nodes.items():
        tuns[name], namespace_file = namespace(address)
        files[name] = f"/proc/{os.getpid()}/fd/{namespace_file}"
        places[ipaddress.ip_address(address).packed] = (name, float(place))
    network = Network(places, tuns)
    part = directory / "namespaces.part"
    part.write_text(json.dumps(files))
    part.replace(directory / "namespaces.json")
    wait = 1.0
    while True:
        for source in select.select([*tuns.values(), control.fileno()], [], [], wait)[0]:
            if source == control.fileno():
                word, _, name = control.recv(256).decode().partition(" ")
                (network.cut.add if word == "cut" else network.cut.discard)(name)
            else:
                network.take(source)
        wait = network.deliver()


if __name__ == "__main__":
    main(sys.argv[1])
