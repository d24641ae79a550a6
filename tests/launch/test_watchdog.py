"""What ends too often stops everything, unless the disk is full: then it is tried until there is room."""

import signal
from collections.abc import Callable, Iterator

import pytest

from apps.core.server import restarts
from config.launch import processes, watchdog
from config.launch.children import PROGRAMS, Children, RunLock
from config.launch.console import LaunchProblem, Screen
from config.launch.places import ROOT, Places
from config.launch.watchdog import Watchdog, Watched
from tests.support.waiting import eventually


@pytest.fixture
def turn(places: Places) -> Iterator[Callable[[], None]]:
    """Lets a program that fails at once be started and end; the pauses between are none."""
    children = Children(places, RunLock(places, Screen()))
    dog = Watchdog(places, Screen(), children)

    def launch() -> None:
        with processes.appended_log(places.log_of("failing")) as log:
            process = processes.spawn(["sh", "-c", "echo why; exit 3"], output=log, env={}, cwd=ROOT)
        children.add("failing", process, rank=PROGRAMS, signum=signal.SIGTERM)

    watched = Watched(launch)
    launch()
    dog.keep("failing", watched)

    def once() -> None:
        eventually(children.ended, what="it has ended")
        dog.turn()
        watched.again_at = 0.0
        dog.turn()

    yield once
    children.stop_all(Screen())


def test_what_ends_again_and_again_stops_everything(places: Places, turn: Callable[[], None]) -> None:
    for _ in range(watchdog.RESTARTS):
        turn()
    with pytest.raises(LaunchProblem, match=r"failing ended 6 times in a row, so everything is stopped.*failing\.log"):
        turn()
    assert {kept.why for kept in restarts.read(places.var)} == {"ended unexpectedly (exit code 3)"}
    assert len(restarts.read(places.var)) == watchdog.RESTARTS


def test_while_the_disk_is_full_it_is_tried_without_a_limit(
    turn: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "FULL", 2**62)
    for _ in range(2 * watchdog.RESTARTS):
        turn()
