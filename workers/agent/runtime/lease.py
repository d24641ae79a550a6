"""Keeps the lease on the job in progress."""

import logging
import threading
from collections.abc import Callable

from workers.agent.runtime.client import LeaseGone, Rejected, ServerClient, Unreachable
from workers.protocol import wire

log = logging.getLogger("splashboard.agent.lease")
PARTS = 15  # renewals per lease time: the answer also carries a cancel
SHORTEST = 0.2  # s


class LeaseKeeper:
    """One thread. Retries while the server is unreachable: the job continues, and the lease may still be regained."""

    def __init__(
        self,
        *,
        client: ServerClient,
        job: wire.JobMessage,
        progress: Callable[[], str],
        on_cancel: Callable[[], None],
        on_lost: Callable[[str], None],
    ) -> None:
        self._client = client
        self._job = job
        self._progress = progress
        self._on_cancel = on_cancel
        self._on_lost = on_lost
        self._lease_seconds = job.lease_seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="lease", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=1)

    def _work(self) -> None:
        failing = False
        while not self._stopping.wait(max(SHORTEST, self._lease_seconds / PARTS)):
            message = wire.RenewMessage(attempt=self._job.attempt, progress=self._progress())
            try:
                answer = self._client.renew(self._job.id, message)
            except LeaseGone as lost:
                log.error("job %s is lost: %s", self._job.id, lost)
                self._on_lost(str(lost))
                return
            except (Unreachable, Rejected) as problem:
                if not failing:
                    log.warning("the lease of job %s is not renewed: %s", self._job.id, problem)
                failing = True
                continue
            failing = False
            self._lease_seconds = answer.lease_seconds
            if answer.cancel:
                self._on_cancel()
