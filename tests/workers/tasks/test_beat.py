"""When beat sends its tasks."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from django.test.utils import override_settings

from workers.heartbeat import RenewingScheduler

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
EVERY = 5.0  # s


class SetClock:
    """The wall clock, to be set."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


class Beat(RenewingScheduler):
    """Notes what it would send."""

    sent: list[str]
    producer: Any = None  # else it connects to a broker

    def apply_entry(self, entry: Any, producer: object = None) -> None:  # noqa: ARG002
        self.sent.append(entry.name)


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def beat(clock: SetClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Beat]:
    app = Celery("beat", set_as_current=False)
    app.conf.beat_schedule = {"often": {"task": "often", "schedule": EVERY}}
    app.conf.result_expires = None  # no task of Celery's own at four in the morning
    monkeypatch.setattr(Celery, "now", lambda _: clock())  # also of the product's, which schedules read from disk use
    with override_settings(VAR_DIR=tmp_path):
        made = Beat(app=app, schedule_filename=str(tmp_path / "schedule"))
        made.sent = []
        with closing(made):
            yield made


def test_tasks_are_sent_at_their_pace_again_when_the_clock_is_set_back(beat: Beat, clock: SetClock) -> None:
    beat.tick()
    clock.now += timedelta(seconds=EVERY)
    beat.tick()
    beat.tick()
    assert beat.sent == ["often"]
    clock.now -= timedelta(hours=3)
    beat.tick()
    clock.now += timedelta(seconds=EVERY)
    beat.tick()
    beat.tick()
    assert beat.sent == ["often", "often"]
