"""The pipeline's Celery tasks in order; each makes one domain call and is idempotent."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from celery import Task
from django.conf import settings
from django.utils import timezone
from kombu.exceptions import LimitExceeded, OperationalError
from kombu.pools import producers
from redis.exceptions import RedisError

from apps.accounts.sessions.store import SessionStore
from apps.aws import collection, observations
from apps.dispatch import api as dispatch
from apps.dispatch.api import schedules
from apps.notifications import collect, deliver
from apps.operations.api import certificates
from apps.regressions.api import early_stop, missing_results, trend_follow
from apps.regressions.api import look as regressions
from apps.rig import api as rig
from apps.runs.api import accept, deletion, seal_queue
from apps.runs.api import archive as archives
from apps.use_method.api import panels
from workers.celery import ARCHIVE_EVERY, ASK_AWS_EVERY, JUDGE_EVERY, LOOK_EVERY, NOTIFY_EVERY, SWEEP_EVERY, app

log = logging.getLogger(__name__)

# Runs per tick; see LOWEST.
ARCHIVED_AT_ONCE = 10
FOLLOWED_AT_ONCE = 200
# Of kombu's Redis transport, whose default, 0, is the highest: what comes later goes first.
LOWEST = 9

# One immediate retry: a pooled connection may be dead although the broker is back.
ONE_MORE_TRY = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}
# A broker that accepts but never answers must not block the publisher: each of a few steps gets this long. The worker,
# which waits for its tasks on purpose, has its own options.
PUBLISHER_OPTIONS = {"socket_timeout": 1.0, "socket_connect_timeout": 1.0}
POOL_TIMEOUT = 2.0  # s to wait for a pooled connection when all are in use
# Pause after a failure: further requests would only wait for the same error.
PAUSE_AFTER_FAILURE = 10.0  # s
# The last one also when the broker's disk or memory is full and it refuses writes.
NO_BROKER = (OperationalError, LimitExceeded, RedisError)


@dataclass
class _Pause:
    clock: Callable[[], float] = time.monotonic
    until: float = 0.0

    def is_over(self) -> bool:
        return self.clock() >= self.until

    def begin(self) -> None:
        self.until = self.clock() + PAUSE_AFTER_FAILURE


_pause = _Pause()


def enqueue(task: "Task[..., Any]", *, expires: float | None = None, priority: int = 0, **arguments: Any) -> bool:
    """For use after a commit: without a broker the stored data are kept, and the beat enqueues the task later."""
    if not _pause.is_over():
        return False
    options: dict[str, Any] = {"priority": priority} | ({} if expires is None else {"expires": expires})
    connection = app.connection_for_write(transport_options=PUBLISHER_OPTIONS)
    try:
        with producers[connection].acquire(block=True, timeout=POOL_TIMEOUT) as producer:
            task.apply_async(kwargs=arguments, producer=producer, retry=True, retry_policy=ONE_MORE_TRY, **options)
    except NO_BROKER as error:
        _pause.begin()
        log.warning(
            "broker not reachable, %s waits for the beat, and all other tasks for %.0f s: %s",
            task.name,
            PAUSE_AFTER_FAILURE,
            error,
        )
        return False
    return True


@app.task
def match_jobs() -> int:
    return dispatch.match_jobs(now=timezone.now())


@app.task
def stop_early() -> int:
    """Number of jobs that are not needed any more, since their load levels are decided."""
    return early_stop.look(now=timezone.now())


@app.task
def expire_leases() -> int:
    return dispatch.expire_leases(now=timezone.now())


@app.task
def start_due() -> int:
    """Number of scheduled campaigns started."""
    begun = schedules.start_due(now=timezone.now())
    if begun:
        enqueue(match_jobs)
    return begun


@app.task
def look_for_missing() -> int:
    """Checks schedules for missing and late results; returns the number of findings affected."""
    return len(missing_results.look(now=timezone.now()))


# A run that cannot be sealed must not be retried in a hot loop: an error is logged, a killed worker's task is not
# requeued at once, and the sweep returns to the run at its own pace.
@app.task(reject_on_worker_lost=False)
def seal_run(run_id: int) -> bool:
    sealed = accept.seal(run_id=run_id)
    if sealed:
        enqueue(judge_run, run_id=run_id)
        enqueue(look_at_run, run_id=run_id)
    return sealed


def seal_at_once(run_id: int) -> None:
    """For a page that shows the run next. On failure the task and the sweep seal it."""
    try:
        sealed = accept.seal(run_id=run_id)
    except Exception:
        log.exception("run %s could not be sealed in its request", run_id)
        sealed = False
    for task in (judge_run, look_at_run) if sealed else (seal_run,):
        enqueue(task, run_id=run_id)


# A page computes missing panels itself, so a late panel makes it slow but never wrong.
@app.task(reject_on_worker_lost=False)
def judge_run(run_id: int) -> bool:
    return panels.judge(run_id=run_id) is not None


@app.task
def judge_rest() -> int:
    """Panels that are missing or older than the rules, in portions; returns the number queued for `judge_run`. None
    while examples are restored, which takes all CPUs of a small machine."""
    if rig.restoring_examples(timezone.now()):
        return 0
    return sum(enqueue(judge_run, run_id=run_id, expires=JUDGE_EVERY) for run_id in panels.due())


@app.task(reject_on_worker_lost=False)
def look_at_run(run_id: int) -> bool:
    return regressions.look(run_id=run_id)


@app.task
def look_rest() -> int:
    """Runs whose exclusion changed or whose task was lost; returns the number queued for `look_at_run`."""
    return sum(enqueue(look_at_run, run_id=run_id, expires=LOOK_EVERY) for run_id in regressions.due())


@app.task
def check_pending() -> int:
    return regressions.check_pending()


@app.task
def look_again() -> int:
    return regressions.look_again(today=timezone.localdate())


@app.task
def sweep() -> int:
    """Picks up runs lost with a broker or a killed worker; returns the number queued for `seal_run`."""
    now = timezone.now()
    dispatch.close_abandoned_runs(now=now)
    # Tasks not taken before the next sweep expire and are queued again by it, so that no backlog grows.
    return sum(enqueue(seal_run, run_id=run_id, expires=SWEEP_EVERY) for run_id in seal_queue.due(now=now))


@app.task
def archive() -> int:
    """Queues runs due for archiving or moving, a few at a time; returns their number. Seals and leases do not wait
    behind them."""
    now = timezone.now()
    due = archives.due(now=now, limit=ARCHIVED_AT_ONCE)
    movable = archives.movable(now=now, days=settings.KEEP_SAMPLES_DAYS, limit=ARCHIVED_AT_ONCE)
    given = [enqueue(archive_run, run_id=run_id, expires=ARCHIVE_EVERY, priority=LOWEST) for run_id in due]
    given += [enqueue(move_samples, run_id=run_id, expires=ARCHIVE_EVERY, priority=LOWEST) for run_id in movable]
    return sum(given)


@app.task(reject_on_worker_lost=False)
def archive_run(run_id: int) -> bool:
    return archives.attempt(run_id=run_id, now=timezone.now())


@app.task(reject_on_worker_lost=False)
def move_samples(run_id: int) -> bool:
    return archives.attempt_move(run_id=run_id, now=timezone.now())


@app.task
def remove_leftovers() -> int:
    """Number of files removed that no run has."""
    return deletion.remove_leftovers(now=timezone.now())


@app.task
def forget_sessions() -> None:
    """Deletes sessions of people that have expired, with their addresses and browsers."""
    SessionStore.clear_expired()


@app.task
def look_at_certificates() -> int:
    """Number of certificates seen at this server's public addresses."""
    return certificates.look(now=timezone.now())


@app.task
def ask_aws() -> int:
    """Queues due AWS queries: systems at intervals, runs after their end; returns their number."""
    now = timezone.now()
    given = [enqueue(look_at_system, system_id=pk, expires=ASK_AWS_EVERY) for pk in observations.due(now=now)]
    given += [enqueue(collect_from_aws, run_id=pk, expires=ASK_AWS_EVERY) for pk in collection.due(now=now)]
    return sum(given)


@app.task(reject_on_worker_lost=False)
def look_at_system(system_id: int) -> bool:
    return observations.look(system_id=system_id, now=timezone.now())


@app.task(reject_on_worker_lost=False)
def collect_from_aws(run_id: int) -> bool:
    kept = collection.collect(run_id=run_id, now=timezone.now())
    if kept:
        enqueue(seal_run, run_id=run_id)
    return kept


@app.task
def follow_rest() -> int:
    """Re-evaluates, in portions, series whose thresholds changed or that were evaluated by older rules; returns their
    number."""
    return trend_follow.follow_rest(most=FOLLOWED_AT_ONCE)


@app.task
def notify() -> int:
    """Turns changes of findings into deliveries; returns the number of due deliveries queued for `send_delivery`."""
    collect.collect()
    now = timezone.now()
    collect.bundle(now=now)
    return sum(enqueue(send_delivery, delivery_id=pk, expires=NOTIFY_EVERY) for pk in deliver.due(now=now))


# Shorter than a delivery's lease; a killed delivery is picked up by the beat.
@app.task(reject_on_worker_lost=False, time_limit=100)
def send_delivery(delivery_id: int) -> bool:
    return deliver.send(delivery_id=delivery_id, now=timezone.now())


# Celery creates a task on first use: two threads of the web server that do so at once could get an incomplete one.
app.finalize()
