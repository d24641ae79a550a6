"""The pipeline's tasks in order; each makes one domain call and may run twice."""

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
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from apps.aws import collection, sightings
from apps.dispatch import api as dispatch
from apps.dispatch.api import schedules as schedules_services
from apps.notifications import collect, deliver
from apps.regressions.api import look as regressions
from apps.regressions.api import missing_results
from apps.regressions.api import trend_follow as trends_follow
from apps.runs.api import accept, seal_queue
from apps.runs.api import archive as archives
from apps.use_method.api import panels
from workers.celery import ARCHIVE_EVERY, ASK_AWS_EVERY, JUDGE_EVERY, LOOK_EVERY, NOTIFY_EVERY, SWEEP_EVERY, app

log = logging.getLogger(__name__)

# Runs of one tick: seals and leases do not wait behind a backlog.
ARCHIVED_AT_ONCE = 10
FOLLOWED_AT_ONCE = 200

# One more try at once, because a pooled connection may be dead though the broker is back.
ONE_MORE_TRY = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}
# A broker that accepts and never answers must not hold up who publishes: each of a few steps gets this long. The
# worker, which waits for its tasks on purpose, has options of its own.
PUBLISHER_OPTIONS = {"socket_timeout": 1.0, "socket_connect_timeout": 1.0}
POOL_PATIENCE = 2.0  # s for one of the pooled connections, when all are in use
# After a failure nobody asks the broker for so long: the next requests would only wait for the same answer.
PAUSE_AFTER_FAILURE = 10.0  # s
NO_BROKER = (OperationalError, LimitExceeded, RedisConnectionError, RedisTimeoutError)


@dataclass
class _Pause:
    clock: Callable[[], float] = time.monotonic
    until: float = 0.0

    def is_over(self) -> bool:
        return self.clock() >= self.until

    def begin(self) -> None:
        self.until = self.clock() + PAUSE_AFTER_FAILURE


_pause = _Pause()


def enqueue(task: "Task[..., Any]", *, expires: float | None = None, **arguments: Any) -> bool:
    """For use after a commit: what is stored stays stored when no broker answers, and the beat finds it later."""
    if not _pause.is_over():
        return False
    options: dict[str, Any] = {} if expires is None else {"expires": expires}
    connection = app.connection_for_write(transport_options=PUBLISHER_OPTIONS)
    try:
        with producers[connection].acquire(block=True, timeout=POOL_PATIENCE) as producer:
            task.apply_async(kwargs=arguments, producer=producer, retry=True, retry_policy=ONE_MORE_TRY, **options)
    except NO_BROKER as error:
        _pause.begin()
        log.warning(
            "broker not reachable, %s waits for the beat, and so does all else for %.0f s: %s",
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
def expire_leases() -> int:
    return dispatch.expire_leases(now=timezone.now())


@app.task
def start_due() -> int:
    """How many campaigns of schedules were begun."""
    begun = schedules_services.start_due(now=timezone.now())
    if begun:
        enqueue(match_jobs)
    return begun


@app.task
def look_for_missing() -> int:
    """What schedules did not bring, and what came since; how many findings that concerned."""
    return len(missing_results.look(now=timezone.now()))


# A run that cannot be sealed must not be tried in a hot loop: an error is logged, a killed worker's task is not put
# back at once, and the sweep comes back to the run at its own pace.
@app.task(reject_on_worker_lost=False)
def seal_run(run_id: int) -> bool:
    sealed = accept.seal(run_id=run_id)
    if sealed:
        enqueue(judge_run, run_id=run_id)
        enqueue(look_at_run, run_id=run_id)
    return sealed


def seal_at_once(run_id: int) -> None:
    """For a page that shows the run next. What cannot be sealed now is left to the task and the sweep."""
    try:
        sealed = accept.seal(run_id=run_id)
    except Exception:
        log.exception("run %s could not be sealed in its request", run_id)
        sealed = False
    for task in (judge_run, look_at_run) if sealed else (seal_run,):
        enqueue(task, run_id=run_id)


# A page judges what is not kept yet, so a panel that comes late is slow and never wrong.
@app.task(reject_on_worker_lost=False)
def judge_run(run_id: int) -> bool:
    return panels.judge(run_id=run_id) is not None


@app.task
def judge_rest() -> int:
    """Panels that are missing or older than the rules, some at a time; how many runs were given to `judge_run`."""
    return sum(enqueue(judge_run, run_id=run_id, expires=JUDGE_EVERY) for run_id in panels.due())


@app.task(reject_on_worker_lost=False)
def look_at_run(run_id: int) -> bool:
    return regressions.look(run_id=run_id)


@app.task
def look_rest() -> int:
    """Runs that were excluded or count again, and those whose task was lost; how many were given to `look_at_run`."""
    return sum(enqueue(look_at_run, run_id=run_id, expires=LOOK_EVERY) for run_id in regressions.due())


@app.task
def check_pending() -> int:
    return regressions.check_pending()


@app.task
def look_again() -> int:
    return regressions.look_again(today=timezone.localdate())


@app.task
def sweep() -> int:
    """Finds what a lost broker or a killed worker left behind; how many runs were given to `seal_run`."""
    now = timezone.now()
    dispatch.close_abandoned_runs(now=now)
    # What no worker took before the next sweep is found again by that one: no pile grows.
    return sum(enqueue(seal_run, run_id=run_id, expires=SWEEP_EVERY) for run_id in seal_queue.due(now=now))


@app.task
def archive() -> int:
    """Gives what is to be archived or moved to tasks of its own, a few runs at a time; how many."""
    now = timezone.now()
    due = archives.due(now=now, limit=ARCHIVED_AT_ONCE)
    movable = archives.movable(now=now, days=settings.KEEP_SAMPLES_DAYS, limit=ARCHIVED_AT_ONCE)
    given = [enqueue(archive_run, run_id=run_id, expires=ARCHIVE_EVERY) for run_id in due]
    given += [enqueue(move_samples, run_id=run_id, expires=ARCHIVE_EVERY) for run_id in movable]
    return sum(given)


@app.task(reject_on_worker_lost=False)
def archive_run(run_id: int) -> bool:
    return archives.attempt(run_id=run_id, now=timezone.now())


@app.task(reject_on_worker_lost=False)
def move_samples(run_id: int) -> bool:
    return archives.move(run_id=run_id, now=timezone.now())


@app.task
def ask_aws() -> int:
    """Gives what AWS is to be asked to tasks of its own: of systems now and then, of runs after their end; how many."""
    now = timezone.now()
    given = [enqueue(look_at_system, system_id=pk, expires=ASK_AWS_EVERY) for pk in sightings.due(now=now)]
    given += [enqueue(collect_from_aws, run_id=pk, expires=ASK_AWS_EVERY) for pk in collection.due(now=now)]
    return sum(given)


@app.task(reject_on_worker_lost=False)
def look_at_system(system_id: int) -> bool:
    return sightings.look(system_id=system_id, now=timezone.now())


@app.task(reject_on_worker_lost=False)
def collect_from_aws(run_id: int) -> bool:
    kept = collection.collect(run_id=run_id, now=timezone.now())
    if kept:
        enqueue(seal_run, run_id=run_id)
    return kept


@app.task
def follow_rest() -> int:
    """Series whose thresholds were changed, or that were followed by other rules, are judged anew, some at a time; how
    many."""
    return trends_follow.follow_rest(most=FOLLOWED_AT_ONCE)


@app.task
def notify() -> int:
    """What happened to findings becomes deliveries; how many of those that are due were given to `send_delivery`."""
    collect.collect()
    now = timezone.now()
    collect.bundle(now=now)
    return sum(enqueue(send_delivery, delivery_id=pk, expires=NOTIFY_EVERY) for pk in deliver.due(now=now))


# Within the lease of a delivery; what was killed is found again by the beat.
@app.task(reject_on_worker_lost=False, time_limit=100)
def send_delivery(delivery_id: int) -> bool:
    return deliver.send(delivery_id=delivery_id, now=timezone.now())
