"""A thousand connections that send nothing, or a byte each second: `python -m bench.connections PORT SECRET`."""

import itertools
import random
import resource
import selectors
import socket
import sys
import time
from contextlib import suppress

CONNECTIONS = 1_000
CONNECTS_WITHIN = 60.0  # s
DRIP_EVERY = 1.0  # s
READY = "all are connected"

BATCH = "/api/v1/agent/runs/00000000-0000-0000-0000-000000000001/batches/1"
HEAD = "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n{more}\r\n"
FORM = "Content-Type: application/x-www-form-urlencoded\r\n"


def openings(secret: str) -> list[bytes]:
    """What the connections send before they fall silent, or drip: nothing, a part of a head, a form, batches of nobody
    and of the agent whose secret this is."""
    return [
        b"",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Drip: ",
        f"{HEAD.format(method='POST', path='/sign-in/', more=FORM)}username=a".encode(),
        f"{HEAD.format(method='PUT', path=BATCH, more='')}x".encode(),
        f"{HEAD.format(method='PUT', path=BATCH, more=f'Authorization: Agent {secret}' + chr(13) + chr(10))}x".encode(),
    ]


def main(port: int, secret: str) -> None:
    """Until it is ended. One that the server closes is replaced."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    kinds = itertools.cycle(openings(secret))
    with selectors.DefaultSelector() as waiting:
        for _ in range(CONNECTIONS):
            _connect(waiting, port, next(kinds))
        print(READY, flush=True)
        while True:
            until = time.monotonic() + DRIP_EVERY
            while (left := until - time.monotonic()) > 0:
                for key, _ in waiting.select(timeout=left):
                    _replace(waiting, key, port)
            for key in list(waiting.get_map().values()):
                if key.data:  # else it sends nothing at all
                    with suppress(OSError):
                        _socket(key).send(b"x")


def _connect(waiting: selectors.BaseSelector, port: int, opening: bytes) -> None:
    connection = socket.create_connection(("127.0.0.1", port), timeout=CONNECTS_WITHIN)
    connection.sendall(opening)
    connection.setblocking(False)
    waiting.register(connection, selectors.EVENT_READ, opening)


def _replace(waiting: selectors.BaseSelector, key: selectors.SelectorKey, port: int) -> None:
    """Of one that was answered or closed."""
    waiting.unregister(key.fileobj)
    _socket(key).close()
    time.sleep(random.uniform(0, 0.002))  # noqa: S311 - a stranger who tries again has no end of time
    with suppress(OSError):
        _connect(waiting, port, key.data)


def _socket(key: selectors.SelectorKey) -> socket.socket:
    assert isinstance(key.fileobj, socket.socket)  # noqa: S101 - all that was registered
    return key.fileobj


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
