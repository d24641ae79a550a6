"""Tries, and what an answer means, against a server that fails as it is told."""

import socket
import threading

import pytest

from splashboard.failures import Misuse, RequestRefused, ServerUnreachable
from splashboard.server import Server, printable
from tests.client.conftest import Answered, FakeServer

FINE = (200, {"Content-Type": "application/json"}, b"{}")
AWAY: Answered = (503, {}, b"")
REFUSAL = (
    422,
    {"Content-Type": "application/problem+json"},
    b'{"detail": "a: is bad; b: is worse", "errors": [{"field": "a", "message": "is bad", "remedy": "mend it"},'
    b' {"field": "b", "message": "is worse \\u001b[2J"}]}',
)


def a_server(fake: FakeServer | None = None, *, url: str = "", timeout: float = 60.0) -> tuple[Server, list[float]]:
    """And the pauses that it made, on a clock that only they move."""
    pauses: list[float] = []
    url = url or (fake.url if fake else "")
    return Server(url=url, token="t0p", timeout=timeout, clock=lambda: sum(pauses), sleep=pauses.append), pauses


def test_a_server_that_is_away_for_a_moment_is_asked_again(fake: FakeServer) -> None:
    fake.answers = [AWAY, None, FINE]
    server, pauses = a_server(fake)
    assert server.read("health/").json({}) == {}
    assert [path for _, path, _, _ in fake.received] == ["/api/v1/health/"] * 3
    assert fake.received[0][2]["Authorization"] == "Token t0p"
    assert pauses[0] < pauses[1]


@pytest.mark.parametrize("status", [429, 507])
def test_it_waits_as_long_as_the_server_asks(fake: FakeServer, status: int) -> None:
    fake.answers = [(status, {"Retry-After": "7"}, b""), FINE]
    server, pauses = a_server(fake)
    server.send("campaigns/files/", b"x", kind="text/plain", repeatable=False)
    assert pauses == [7]


def test_it_gives_up_after_the_time_that_was_given(fake: FakeServer) -> None:
    fake.answers = [AWAY]
    server, pauses = a_server(fake, timeout=20)
    with pytest.raises(ServerUnreachable, match="503; given up after 20 s"):
        server.read("health/")
    assert sum(pauses) < 20
    assert len(fake.received) > 3


def test_a_full_disk_is_named_where_the_server_stays_read_only(fake: FakeServer) -> None:
    problem = b'{"detail": "var/ has 12 MB free and needs 625 MB"}'
    fake.answers = [(507, {"Retry-After": "30", "Content-Type": "application/problem+json"}, problem)]
    server, pauses = a_server(fake, timeout=70)
    with pytest.raises(ServerUnreachable, match=r"507, var/ has 12 MB free and needs 625 MB; given up after 70 s"):
        server.send("runs/", b"x", kind="text/plain", repeatable=True)
    assert pauses == [30, 30]


@pytest.mark.parametrize(
    "drips",
    [b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n"],
    ids=["its head", "its body"],
)
def test_an_answer_that_drips_is_not_waited_for_beyond_the_time_that_was_given(drips: bytes) -> None:
    given_up = threading.Event()

    def drip(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(drips)
            while not given_up.wait(0.05):
                connection.sendall(b"x")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        dripping = threading.Thread(target=drip, args=[listening])
        dripping.start()
        try:
            server = Server(url=f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=0.01)
            with pytest.raises(ServerUnreachable, match="incomplete at the deadline; given up after"):
                server.read("health/")
        finally:
            given_up.set()
            dripping.join()


def test_a_question_whose_answer_is_lost_is_asked_again_long_before_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("splashboard.server.LONGEST_SILENCE", 0.1)
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer_the_second() -> None:
            lost, _ = listening.accept()
            with lost:
                asked.append(lost.recv(65536))
                connection, _ = listening.accept()
                with connection:
                    asked.append(connection.recv(65536))
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

        answering = threading.Thread(target=answer_the_second, daemon=True)
        answering.start()
        server = Server(url=f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=5)
        assert server.read("health/").json({}) == {}
        answering.join()
    assert len(asked) == 2


def test_what_would_be_done_twice_is_not_sent_again_unless_it_cannot_have_arrived(fake: FakeServer) -> None:
    for answer in (None, AWAY):
        fake.answers = [answer]
        server, pauses = a_server(fake)
        with pytest.raises(ServerUnreachable, match="is uncertain: check before"):
            server.send("campaigns/files/", b"x", kind="text/plain", repeatable=False)
        assert pauses == []

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nothing listens
        server, pauses = a_server(url=f"http://127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(ServerUnreachable, match="the server refuses connections; given up"):
            server.send("campaigns/files/", b"x", kind="text/plain", repeatable=False)
        assert pauses


def test_a_refusal_is_printed_field_by_field_at_once_and_cannot_command_the_terminal(fake: FakeServer) -> None:
    fake.answers = [REFUSAL]
    server, _ = a_server(fake)
    with pytest.raises(RequestRefused, match="422, 2 fields are wrong") as caught:
        server.read("runs/")
    assert caught.value.fields == ("a: is bad (mend it)", "b: is worse ?[2J")
    assert len(fake.received) == 1


def test_a_redirect_is_not_followed_as_the_token_would_go_along(fake: FakeServer) -> None:
    fake.answers = [(302, {"Location": "https://elsewhere.example/"}, b"")]
    server, _ = a_server(fake)
    with pytest.raises(Misuse, match=r"redirects to https://elsewhere\.example/"):
        server.send("runs/", b"x", kind="text/plain", repeatable=True)
    assert len(fake.received) == 1


def test_a_page_of_something_else_is_distinguished_from_an_answer(fake: FakeServer) -> None:
    fake.answers = [(200, {"Content-Type": "text/html"}, b"<html>welcome")]
    with pytest.raises(ServerUnreachable, match="not JSON: '<html>welcome'; is it a Splashboard"):
        a_server(fake)[0].read("health/").json({})
    fake.answers = [(404, {"Content-Type": "text/html"}, b"<html>no such page")]
    with pytest.raises(RequestRefused, match=r"404; is http://.* a Splashboard"):
        a_server(fake)[0].read("health/")


@pytest.mark.parametrize(
    "url", ["splashboard.example", "ftp://a.example", "http://", "http://a:0", "http://u:p@a/", "http://a/ä"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(Misuse, match="write it as https://"):
        Server(url=url)


def test_a_name_that_cannot_be_looked_up_is_no_address() -> None:
    with pytest.raises(Misuse, match="not a server's address"):
        Server(url="http://a..example").read("health/")


def test_an_address_may_be_copied_from_the_api() -> None:
    assert Server(url="https://a.example/benchmarks/api/v1/").url == "https://a.example/benchmarks"


def test_a_space_that_does_not_break_is_shown_as_one() -> None:
    assert printable("worse by 5\u00a0%\u001b[2J") == "worse by 5 %?[2J"
