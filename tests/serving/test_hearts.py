"""A process of the web server says that it lives only while requests would get their turn."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from config.serving import application as serving
from tests.serving.conversation import KNOWN, Client, an_application, ask, echo
from tests.support.waiting import LIMIT


@pytest.fixture(autouse=True)
def turns(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One more for each turn that a beat had among the agents' requests, before its turn among the others."""
    taken: list[int] = []
    monkeypatch.setattr(serving, "BEATS_EVERY", 0.01)
    monkeypatch.setattr(serving, "_take_turn", lambda: taken.append(1))
    return taken


class Server:
    """The other end of ASGI's lifespan protocol."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.ends = asyncio.Event()

    async def receive(self) -> Mapping[str, Any]:
        if not self.said:
            return {"type": "lifespan.startup"}
        await self.ends.wait()
        return {"type": "lifespan.shutdown"}

    async def send(self, message: Mapping[str, Any]) -> None:
        self.said.append(message["type"])


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT):
        while not holds():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(("path", "threads"), [("/", 2), ("/api/v1/agent/jobs/claim", 1)])
def test_a_process_whose_threads_are_all_taken_shows_no_life_until_one_is_free(
    path: str, threads: int, turns: list[int]
) -> None:
    free, entered = threading.Event(), threading.Semaphore(0)
    beats: list[int] = []

    def hang(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        entered.release()
        free.wait(LIMIT)
        return echo(environ, start_response)

    async def live() -> None:
        application = an_application(hang, threads=2, beat=lambda: beats.append(1))
        server = Server()
        life = asyncio.create_task(application({"type": "lifespan"}, server.receive, server.send))
        await _until(lambda: len(beats) > 3)
        asked = [ask(application, Client([]), path=path, method="GET", authorization=KNOWN) for _ in range(threads)]
        taken = [asyncio.create_task(each) for each in asked]
        for _ in taken:
            await _until(lambda: entered.acquire(blocking=False))
        if path != "/":  # a beat that had its turn before comes yet
            await _until(lambda: len(beats) == len(turns))
        before = len(beats)
        await asyncio.sleep(0.2)
        assert len(beats) == before
        free.set()
        await asyncio.gather(*taken)
        await _until(lambda: len(beats) > before)
        server.ends.set()
        await asyncio.wait_for(life, LIMIT)
        after = len(beats)
        await asyncio.sleep(0.1)
        assert len(beats) <= after + 1
        assert server.said == ["lifespan.startup.complete", "lifespan.shutdown.complete"]

    asyncio.run(live())
