"""The pipeline's tasks in order; each makes one domain call and may run twice."""

import logging
from datetime import timedelta
from typing import Any

from celery import Task
from django.utils import timezone
from kombu.exceptions import OperationalError

from apps.dispatch import services as dispatch
from apps.runs import ingest
from workers.celery import SWEEP_EVERY, app

log = logging.getLogger(__name__)

# Younger ones have a task of their own under way.
SWEPT_WHEN_OLDER_THAN = timedelta(seconds=10)
# One more try at once, because a pooled connection may be dead though the broker is back.
ONE_MORE_TRY = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}


def enqueue(task: "Task[..., Any]", *, expires: float | None = None, **arguments: Any) -> bool:
    """For use after a commit: what is stored stays stored when no broker answers, and the beat finds it later."""
    options: dict[str, Any] = {} if expires is None else {"expires": expires}
    try:
        task.apply_async(kwargs=arguments, retry=True, retry_policy=ONE_MORE_TRY, **options)
    except OperationalError as error:
        log.warning("broker not reachable, %s waits for the beat: %s", task.name, error)
        return False
    return True


@app.task
def match_jobs() -> int:
    return dispatch.match_jobs(now=timezone.now())


@app.task
def expire_leases() -> int:
    return dispatch.expire_leases(now=timezone.now())


# A run that cannot be sealed must not be tried in a hot loop: an error is logged, a killed worker's task is not put
# back at once, and the sweep comes back to the run at its own pace.
@app.task(reject_on_worker_lost=False)
def seal_run(run_id: int) -> bool:
    return ingest.seal(run_id=run_id)


@app.task
def sweep() -> int:
    """Finds what a lost broker or a killed worker left behind; how many runs were given to `seal_run`."""
    now = timezone.now()
    dispatch.close_abandoned_runs(now=now)
    left = ingest.unsealed(older_than=now - SWEPT_WHEN_OLDER_THAN)
    # What no worker took before the next sweep is found again by that one: no pile grows.
    return sum(enqueue(seal_run, run_id=run_id, expires=SWEEP_EVERY) for run_id in left)
