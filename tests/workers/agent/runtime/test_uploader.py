from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.waiting import eventually
from tests.workers.server import FakeServer
from workers.agent.runtime import uploader
from workers.agent.runtime.client import MessageFate, ServerClient, verdict
from workers.agent.runtime.spool import Spool, SpoolEntry, SpoolMessage
from workers.agent.runtime.uploader import LONGEST_PAUSE, Uploader, pause_after


class Uploading:
    """A spool with its uploader at work on a real socket."""

    def __init__(self, directory: Path, server: FakeServer) -> None:
        self.spool = Spool(directory)
        self.refused: list[tuple[SpoolEntry, str]] = []
        self.client = ServerClient(url=server.url, token="t0ken")
        self.uploader = Uploader(
            spool=self.spool,
            client=self.client,
            on_refused=lambda entry, reason: self.refused.append((entry, reason)),
        )

    def put(self, body: bytes, *, group: str = "g") -> None:
        path = f"agent/jobs/1/{group}"
        self.spool.put(
            SpoolMessage(group=group, kind="batch", method="POST", path=path, headers={"X-A": "b"}, body=body)
        )

    def drained(self) -> None:
        eventually(self.spool.is_empty, what="the spool is empty")


@pytest.fixture
def idle(tmp_path: Path, server: FakeServer) -> Iterator[Uploading]:
    """Its uploader is not started yet."""
    subject = Uploading(tmp_path / "spool", server)
    yield subject
    subject.uploader.stop(timeout=0)
    subject.client.close()
    subject.spool.close()


@pytest.fixture
def uploading(idle: Uploading) -> Uploading:
    idle.uploader.start()
    return idle


def scripted(server: FakeServer, answers: dict[str, list[int]], *, otherwise: int = 200) -> None:
    """Per group (the last part of the path) the statuses to give, in order."""

    def script(_method: str, path: str) -> int | None:
        rest = answers.get(path.rpartition("/")[2], [])
        return rest.pop(0) if rest else otherwise

    server.script = script


def test_batches_survive_an_outage_and_arrive_once_each_in_order(uploading: Uploading, server: FakeServer) -> None:
    scripted(server, {})
    with server.away():
        for number in range(5):
            uploading.put(b"%d" % number)
        eventually(lambda: uploading.uploader._trouble, what="an upload failed")
        assert uploading.spool.health()["spool_messages"] == 5
    uploading.drained()
    assert [r.body for r in server.stored()] == [b"0", b"1", b"2", b"3", b"4"]


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 302])
def test_a_message_is_sent_again_until_the_server_has_it(uploading: Uploading, server: FakeServer, status: int) -> None:
    scripted(server, {"g": [status]})
    uploading.put(b"x")
    uploading.drained()
    assert [(r.status, r.body) for r in server.received] == [(status, b"x"), (200, b"x")]


@pytest.mark.parametrize("status", [400, 404, 409, 410, 413, 422])
def test_a_refused_message_is_set_aside_with_the_reason_and_the_next_one_goes(
    uploading: Uploading, server: FakeServer, status: int
) -> None:
    scripted(server, {"g": [status]})
    uploading.put(b"bad")
    uploading.put(b"good")
    uploading.drained()
    assert [r.body for r in server.stored()] == [b"good"]
    (entry, reason), *others = uploading.refused
    assert not others
    assert f"POST agent/jobs/1/g: {status} scripted" in reason
    kept = uploading.spool.refused / entry.file.name
    assert kept.read_bytes().endswith(b"bad")
    assert kept.with_name(kept.name + ".reason").read_text() == reason


@pytest.mark.parametrize("status", [400, 404, 409, 413])
@pytest.mark.parametrize("media_type", ["text/html", "text/plain; charset=utf-8", "application/json"])
def test_what_a_proxy_refuses_is_kept_and_sent_again(
    uploading: Uploading,
    server: FakeServer,
    status: int,
    media_type: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(uploader, "LONGEST_PAUSE", 0.01)
    server.refusal = media_type
    scripted(server, {"g": [status, status]})
    uploading.put(b"x")
    uploading.drained()
    assert [(r.status, r.body) for r in server.received] == [(status, b"x")] * 2 + [(200, b"x")]
    assert not uploading.refused
    assert any(f"{status} scripted (not Splashboard's answer" in r.message for r in caplog.records)


def test_what_a_proxy_refuses_waits_the_longest_pause_at_once(uploading: Uploading, server: FakeServer) -> None:
    server.refusal = "text/html"
    scripted(server, {"g": [413] * 1000})
    uploading.put(b"x")
    eventually(lambda: uploading.uploader._trouble, what="the upload was refused")
    assert pause_after(uploading.uploader._trouble["g"].failures, 0.999) > LONGEST_PAUSE - 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_token_that_is_not_accepted_loses_nothing_and_is_said_aloud(
    uploading: Uploading, server: FakeServer, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    scripted(server, {"g": [status]})
    uploading.put(b"x")
    uploading.drained()
    assert [r.status for r in server.received] == [status, 200]
    assert any(r.levelname == "ERROR" and "does not accept this agent's token" in r.message for r in caplog.records)


def test_a_group_in_trouble_does_not_hold_up_another(uploading: Uploading, server: FakeServer) -> None:
    scripted(server, {"ill": [500] * 1000})
    uploading.put(b"waits", group="ill")
    uploading.put(b"goes", group="well")
    eventually(lambda: server.stored("well"), what="the other group went")
    assert not uploading.spool.is_empty()


def test_a_file_damaged_while_it_waits_is_set_aside_and_the_others_go(idle: Uploading, server: FakeServer) -> None:
    scripted(server, {})
    idle.put(b"damaged")
    idle.put(b"whole")
    idle.spool.heads()[0].file.write_bytes(b"rubbish")
    idle.uploader.start()
    idle.drained()
    assert [r.body for r in server.stored()] == [b"whole"]
    assert idle.refused[0][1].startswith("corrupt: ")


def test_every_request_carries_the_token_and_the_messages_own_headers(uploading: Uploading, server: FakeServer) -> None:
    scripted(server, {})
    uploading.put(b"x")
    uploading.drained()
    assert server.received[0].headers["Authorization"] == "Agent t0ken"
    assert server.received[0].headers["X-A"] == "b"


def test_stopping_lets_the_spool_drain_for_a_while_only(uploading: Uploading, server: FakeServer) -> None:
    scripted(server, {"g": [503] * 1000})
    uploading.put(b"x")
    uploading.uploader.stop(timeout=0.3)
    assert not uploading.spool.is_empty()


def test_pauses_grow_to_at_most_ten_seconds_and_differ_between_agents() -> None:
    longest = [pause_after(failures, 0.999) for failures in range(1, 50)]
    assert longest == sorted(longest)
    assert max(longest) <= LONGEST_PAUSE == 10
    assert pause_after(3, 0.0) < pause_after(3, 0.5) < pause_after(3, 0.99)
    assert pause_after(1, 0.0) > 0


PROBLEM = "application/problem+json"


@pytest.mark.parametrize(
    ("status", "media_type", "expected"),
    [
        (None, "", MessageFate.RETRY),
        (200, "application/json", MessageFate.STORED),
        (201, "application/json", MessageFate.STORED),
        (204, "", MessageFate.STORED),
        (301, "text/html", MessageFate.RETRY),
        (400, PROBLEM, MessageFate.REFUSED),
        (400, "text/html", MessageFate.FOREIGN),
        (401, PROBLEM, MessageFate.UNAUTHORIZED),
        (403, "text/html", MessageFate.UNAUTHORIZED),
        (404, "Application/Problem+JSON; charset=utf-8", MessageFate.REFUSED),
        (404, "", MessageFate.FOREIGN),
        (408, PROBLEM, MessageFate.RETRY),
        (409, PROBLEM, MessageFate.REFUSED),
        (425, PROBLEM, MessageFate.RETRY),
        (429, PROBLEM, MessageFate.RETRY),
        (500, PROBLEM, MessageFate.RETRY),
        (599, "", MessageFate.RETRY),
    ],
)
def test_one_table_says_what_an_answer_means(status: int | None, media_type: str, expected: MessageFate) -> None:
    assert verdict(status, media_type) is expected
