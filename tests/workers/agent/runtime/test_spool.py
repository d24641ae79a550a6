import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from workers.agent.runtime.spool import Spool, SpoolInUse, SpoolMessage, write_durably

OpenSpool = Callable[[], Spool]


@pytest.fixture
def open_spool(tmp_path: Path) -> Iterator[OpenSpool]:
    """Opens the spool in `tmp_path`; closed at the end."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(Spool(tmp_path)))


def a_message(group: str = "job-1-1", body: bytes = b"body", kind: str = "batch") -> SpoolMessage:
    return SpoolMessage(group=group, kind=kind, method="PUT", path="agent/x", headers={"A": "b"}, body=body, run="r1")


def test_a_message_is_read_back_as_it_was_put(open_spool: OpenSpool) -> None:
    spool = open_spool()
    spool.put(a_message(body=b"\x00\nbinary\n"))
    assert spool.read(spool.heads()[0]) == a_message(body=b"\x00\nbinary\n")


def test_messages_survive_the_process_in_their_order(open_spool: OpenSpool) -> None:
    spool = open_spool()
    for number in range(12):
        spool.put(a_message(body=b"%d" % number))
    spool.close()
    again, bodies = open_spool(), []
    while not again.is_empty():
        entry = again.heads()[0]
        bodies.append(int(again.read(entry).body))
        again.delete(entry)
    assert bodies == list(range(12))


def test_only_the_oldest_of_each_group_may_go(open_spool: OpenSpool) -> None:
    spool = open_spool()
    for group in ("a", "a", "b"):
        spool.put(a_message(group=group))
    assert [(entry.number, entry.group) for entry in spool.heads()] == [(1, "a"), (3, "b")]


def test_two_agents_cannot_share_a_spool(open_spool: OpenSpool) -> None:
    first = open_spool()
    with pytest.raises(SpoolInUse, match=r"is used by another agent; stop that one or set agent\.spool"):
        open_spool()
    first.close()
    open_spool()


@pytest.mark.parametrize("damage", [b"", b"no head", b'{"group": 1}\n', b"truncate"])
def test_a_damaged_file_is_set_aside_with_a_reason_and_holds_up_nothing(
    open_spool: OpenSpool, tmp_path: Path, damage: bytes
) -> None:
    spool = open_spool()
    spool.put(a_message())
    spool.put(a_message(body=b"next"))
    file = spool.heads()[0].file
    file.write_bytes(file.read_bytes()[:-1] if damage == b"truncate" else damage)
    spool.close()
    again = open_spool()
    assert again.read(again.heads()[0]).body == b"next"
    assert (tmp_path / "refused" / file.name).exists()
    assert (tmp_path / "refused" / f"{file.name}.reason").read_text().startswith("corrupt: ")
    assert again.health()["refused_messages"] == 1


def test_what_was_never_written_to_its_end_is_not_sent(open_spool: OpenSpool) -> None:
    spool = open_spool()
    spool.put(a_message())
    (spool.queue / "000000000002.message.part").write_bytes(b"half")
    spool.close()
    again = open_spool()
    assert len(again.heads()) == 1
    assert not list(again.queue.glob("*.part"))


def test_a_number_is_never_used_twice(open_spool: OpenSpool) -> None:
    spool = open_spool()
    spool.put(a_message())
    spool.quarantine(spool.heads()[0], "422 no")
    spool.close()
    assert open_spool().put(a_message()) == 2


def test_nothing_can_be_sent_before_the_journal_knows_of_it(open_spool: OpenSpool) -> None:
    spool = open_spool()
    seen: list[tuple[int, int]] = []
    spool.put(a_message(), before_visible=lambda: seen.append((len(list(spool.queue.iterdir())), len(spool._entries))))
    assert seen == [(1, 0)]


def test_a_message_whose_journal_cannot_be_written_is_not_there(open_spool: OpenSpool) -> None:
    spool = open_spool()

    def fail() -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        spool.put(a_message(), before_visible=fail)
    assert spool.is_empty()
    assert not list(spool.queue.iterdir())


def test_a_disk_that_fails_while_writing_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_durably(tmp_path / "x", b"content")
    assert not list(tmp_path.iterdir())


def test_health_counts_messages_bytes_and_free_disk(open_spool: OpenSpool) -> None:
    spool = open_spool()
    spool.put(a_message(body=b"x" * 1000))
    health = spool.health()
    assert health["spool_messages"] == 1
    assert 1000 < health["spool_bytes"] < 1400
    assert health["free_disk_bytes"] > 0
