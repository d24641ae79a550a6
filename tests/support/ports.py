"""Ports of loopback for servers that a test starts."""

import socket


class ReservedPort:
    """One that the kernel gave and that nobody else gets, also while the test's server is down.

    It is bound and does not listen: connections are refused, and a server may listen that sets SO_REUSEADDR, as nearly
    all do, or SO_REUSEPORT.
    """

    def __init__(self) -> None:
        self._held = socket.socket()
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._held.bind(("127.0.0.1", 0))
        self.number: int = self._held.getsockname()[1]

    def release(self) -> None:
        self._held.close()
