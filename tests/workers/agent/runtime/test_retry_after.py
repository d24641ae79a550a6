"""The agent leaves an address alone for as long as the server asks, and no other one."""

from collections.abc import Iterator

import pytest

from tests.workers.server import FakeServer
from workers.agent.runtime.client import LONGEST_WAIT, RENEWAL_WAIT, ServerClient, Unreachable
from workers.agent.runtime.spool import SpoolMessage
from workers.protocol import wire

BATCH = SpoolMessage(group="g", kind="batch", method="PUT", path="agent/batch", headers={}, body=b"x")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def client(server: FakeServer, clock: Clock) -> Iterator[ServerClient]:
    opened = ServerClient(url=server.url, token="t0ken", clock=clock)
    yield opened
    opened.close()


def refuse(server: FakeServer, status: int, retry_after: str, *, at: str) -> None:
    server.retry_after = retry_after
    server.script = lambda _, path: status if path == at else None


@pytest.mark.parametrize("status", [429, 503, 507])
def test_a_claim_waits_and_the_hello_does_not(
    client: ServerClient, server: FakeServer, clock: Clock, status: int
) -> None:
    refuse(server, status, "40", at="agent/claim")
    for _ in range(3):
        with pytest.raises(Unreachable):
            client.claim()
    client.sampling(wire.SamplingMessage(systems={}))
    assert [each.path for each in server.received] == ["agent/claim", "agent/sampling"]
    server.script = lambda *_: None
    clock.now += 39
    with pytest.raises(Unreachable, match="for 1 s more"):
        client.claim()
    clock.now += 1
    assert client.claim() is None


def test_a_spooled_message_is_not_sent_before(client: ServerClient, server: FakeServer, clock: Clock) -> None:
    refuse(server, 429, "7", at="agent/batch")
    assert client.send(BATCH)[0] == 429
    assert client.send(BATCH)[0] is None
    clock.now += 7
    assert client.send(BATCH)[0] == 429
    assert len(server.received) == 2


def test_a_lease_is_renewed_before_it_ends_whatever_is_asked(
    client: ServerClient, server: FakeServer, clock: Clock
) -> None:
    refuse(server, 429, "99999", at="agent/jobs/1/renew")
    for _ in range(2):
        with pytest.raises(Unreachable):
            client.renew(1, wire.RenewMessage(attempt=1))
        clock.now += RENEWAL_WAIT
    assert len(server.received) == 2


@pytest.mark.parametrize(
    ("stated", "later"), [("99999", LONGEST_WAIT), ("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("-5", 0), ("0", 0), ("", 0)]
)
def test_what_is_no_number_of_seconds_is_not_obeyed(
    client: ServerClient, server: FakeServer, clock: Clock, stated: str, later: float
) -> None:
    refuse(server, 429, stated, at="agent/batch")
    client.send(BATCH)
    clock.now += later
    assert client.send(BATCH)[0] == 429


def test_another_server_is_asked_at_once(client: ServerClient, server: FakeServer) -> None:
    refuse(server, 429, "60", at="agent/batch")
    client.send(BATCH)
    client.close()
    client.use(url=server.url, token="another")
    assert client.send(BATCH)[0] == 429
