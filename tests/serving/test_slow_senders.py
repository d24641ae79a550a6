"""A thousand connections that send nothing, or drip: pages still answer (a real web server)."""

import selectors
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from apps.dispatch.jobs import agents
from bench.connections import CONNECTIONS, openings
from tests.e2e.stack import Stack
from tests.support.waiting import LIMIT


@pytest.fixture
def server(transactional_db: None, tmp_path: Path, var_folder: Path) -> Iterator[Stack]:
    running = Stack(tmp_path, var_folder)
    try:
        running.start_web()
        yield running
    finally:
        running.close()


@pytest.fixture
def crowd(server: Stack) -> Iterator[list[socket.socket]]:
    """A thousand open connections, a fifth of them with each opening."""
    place = urlsplit(server.url)
    kinds = openings(agents.register_agent(name="dripping")[1])
    with ExitStack() as opened:
        sockets = []
        for number in range(CONNECTIONS):
            each = opened.enter_context(socket.create_connection((place.hostname, place.port), timeout=LIMIT))
            each.sendall(kinds[number % len(kinds)])
            sockets.append(each)
        yield sockets


def test_pages_answer_while_a_thousand_connections_drip(server: Stack, crowd: list[socket.socket]) -> None:
    """Then the connections are closed: with a word why where a head had come."""
    for _ in range(20):
        assert httpx.get(f"{server.url}/sign-in/", timeout=LIMIT).status_code == 200
    answers = Counter(statuses(crowd))
    assert answers["408"] == 400, answers  # forms, and batches of the agent
    assert answers["401"] == 200, answers  # batches of nobody


def statuses(crowd: list[socket.socket]) -> Iterator[str]:
    """What each connection is answered, as it is closed; empty: nothing."""
    with selectors.DefaultSelector() as waiting:
        for each in crowd:
            waiting.register(each, selectors.EVENT_READ)
        while left := len(waiting.get_map()):
            ready = waiting.select(timeout=LIMIT)
            assert ready, f"{left} connections are still open"
            for key, _ in ready:
                connection = key.fileobj
                assert isinstance(connection, socket.socket)
                yield connection.recv(4096)[9:12].decode()
                waiting.unregister(connection)
