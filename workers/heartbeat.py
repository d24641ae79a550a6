"""Signs of life of web, worker and beat: each renews a file below var/, by which a supervisor sees that it hangs."""

import contextlib
from typing import Any

from celery import bootsteps
from celery.beat import PersistentScheduler
from django.conf import settings

EVERY = 5.0  # s
FOLDER = "heartbeats"


def renew(name: str) -> None:
    file = settings.VAR_DIR / FOLDER / name
    with contextlib.suppress(OSError):  # a full disk: whoever does its work must not end because of this
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


class WorkerHeart(bootsteps.StartStopStep):
    """In the worker's event loop, which takes tasks from the broker and gives them to the pool."""

    requires = ("celery.worker.components:Timer",)

    def start(self, parent: Any) -> None:
        renew("worker")
        parent.timer.call_repeatedly(EVERY, renew, ("worker",))


class RenewingScheduler(PersistentScheduler):
    """Beat's own, whose ticks come at the pace of the most frequent task."""

    def tick(self, *arguments: Any, **named: Any) -> float:
        renew("beat")
        self._forget_the_future()
        return super().tick(*arguments, **named)

    def _forget_the_future(self) -> None:
        """Where the clock was set back, tasks that were sent by the old one would wait until it is as late again."""
        for entry in self.schedule.values():
            now = entry.default_now()
            if entry.last_run_at and entry.last_run_at > now:
                entry.last_run_at = now
                self._heap = None  # made anew from the entries
