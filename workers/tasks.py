"""The pipeline's tasks in order; each makes one domain call and may run twice."""

import logging
from datetime import timedelta
from typing import Any

from celery import Task
from django.utils import timezone
from kombu.exceptions import OperationalError

from apps.dispatch import services as dispatch
from apps.runs import ingest
from workers.celery import app

log = logging.getLogger(__name__)

# Younger ones have a task of their own under way.
SWEPT_WHEN_OLDER_THAN = timedelta(seconds=10)


def enqueue(task: "Task[..., Any]", **arguments: Any) -> bool:
    """For use after a commit: what is stored stays stored when no broker answers, and the beat finds it later."""
    try:
        task.apply_async(kwargs=arguments, retry=False)
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


@app.task
def seal_run(run_id: int) -> bool:
    # An error is logged by the worker and not retried here: the sweep comes back to the run, at its own pace.
    return ingest.seal(run_id=run_id)


@app.task
def sweep() -> int:
    """Finds what a lost broker or a killed worker left behind; how many runs were given to `seal_run`."""
    now = timezone.now()
    dispatch.close_abandoned_runs(now=now)
    left = ingest.unsealed(older_than=now - SWEPT_WHEN_OLDER_THAN)
    return sum(enqueue(seal_run, run_id=run_id) for run_id in left)
