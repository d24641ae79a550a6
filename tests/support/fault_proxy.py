"""A proxy before a server on loopback that hinders what passes: it refuses, cuts and answers with errors."""

import enum
import re
import selectors
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tests.support.ports import ReservedPort
from tests.support.waiting import LIMIT

CHUNK = 2**16
LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
HEAD_END = b"\r\n\r\n"
BROKEN = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: what is closed is reset


class Hindrance(enum.Enum):
    NONE = "none"
    REQUEST = "cut in the middle of the request's body"
    ANSWER = "cut after the server's answer, which is lost"
    ERROR = "answered with 500 in the server's place"


class FaultProxy:
    """`hinder(request line)` is asked at each request. `hindered`: how often each hindrance was, by request line."""

    def __init__(self, upstream: Callable[[], int]) -> None:
        """`upstream`: the server's port, when a connection comes."""
        self.hinder: Callable[[str], Hindrance] = lambda _: Hindrance.NONE
        self.hindered: Counter[tuple[Hindrance, str]] = Counter()
        self._upstream = upstream
        self._reserved = ReservedPort()
        self.port = self._reserved.number
        self._open: set[socket.socket] = set()
        self._listener = self._listen()

    def close(self) -> None:
        self._refuse()
        self._reserved.release()

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Connections are refused, and those that were open are cut."""
        self._refuse()
        try:
            yield
        finally:
            self._listener = self._listen()

    @contextmanager
    def hindering(self, hinder: Callable[[str], Hindrance]) -> Iterator[None]:
        before, self.hinder = self.hinder, hinder
        try:
            yield
        finally:
            self.hinder = before

    def count(self, hindrance: Hindrance, words: str = "") -> int:
        """Of requests with these words in their line."""
        return sum(times for (kind, line), times in self.hindered.items() if kind is hindrance and words in line)

    def _listen(self) -> socket.socket:
        listener = socket.create_server(("127.0.0.1", self.port), reuse_port=True)
        threading.Thread(target=self._accept, args=[listener], daemon=True).start()
        return listener

    def _refuse(self) -> None:
        for each in [self._listener, *self._open]:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):  # it was closed
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self._pass, args=[client], daemon=True).start()

    def _pass(self, client: socket.socket) -> None:
        self._open.add(client)
        with suppress(OSError), client, socket.create_connection(("127.0.0.1", self._upstream()), LIMIT) as server:
            try:
                self._pass_on(client, server)
            finally:
                self._open.discard(client)

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        """Returns at the end of either side, or when a request is hindered."""
        hindrance, asks, line, left = Hindrance.NONE, False, "", 0
        # select() takes no descriptor from 1,024 on, as a process with many connections has.
        with selectors.DefaultSelector() as ready:
            for each in (client, server):
                ready.register(each, selectors.EVENT_READ, each)
            while True:
                for side in (key.data for key, _ in ready.select()):
                    data = side.recv(CHUNK)
                    if not data:
                        return
                    if side is server:
                        if hindrance is Hindrance.ANSWER:
                            self._cut(client, hindrance, line)
                            return
                        asks = False
                        client.sendall(data)
                        continue
                    if not asks:
                        asks, line = True, data.partition(b"\r\n")[0].decode(errors="replace")
                        hindrance, left = self.hinder(line), _half(data)
                    if hindrance is Hindrance.ERROR:
                        self.hindered[hindrance, line] += 1
                        client.sendall(BROKEN)
                        return
                    server.sendall(data[:left] if hindrance is Hindrance.REQUEST else data)
                    left -= len(data)
                    if hindrance is Hindrance.REQUEST and left <= 0:
                        self._cut(client, hindrance, line)
                        return

    def _cut(self, client: socket.socket, hindrance: Hindrance, line: str) -> None:
        self.hindered[hindrance, line] += 1
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


def _half(data: bytes) -> int:
    """Bytes of a request's head and of half of its body, from its first bytes."""
    head = data.partition(HEAD_END)[0]
    length = int(found[1]) if (found := LENGTH.search(head)) else 0
    return len(head) + len(HEAD_END) + length // 2 if length else len(head) // 2
