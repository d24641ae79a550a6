"""The Celery application: one queue, late acknowledgement, and the beat schedule that recovers lost work."""

import os
import time
from contextlib import ExitStack
from typing import Any

from celery import Celery, signals

from apps.core.server import log_context, measures
from workers.heartbeat import RenewingScheduler, WorkerHeart

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("splashboard", include=["workers.tasks"])
app.config_from_object("django.conf:settings", namespace="CELERY")
app.steps["worker"].add(WorkerHeart)
app.conf.beat_scheduler = RenewingScheduler

MATCH_EVERY = 5.0  # s
STOP_EARLY_EVERY = 5.0  # s
EXPIRE_EVERY = 5.0  # s
SWEEP_EVERY = 15.0  # s
ARCHIVE_EVERY = 30.0  # s
ASK_AWS_EVERY = 15.0  # s
JUDGE_EVERY = 15.0  # s
NOTIFY_EVERY = 10.0  # s
START_DUE_EVERY = 15.0  # s
LOOK_EVERY = 15.0  # s
LOOK_AGAIN_EVERY = 600.0  # s
FOLLOW_EVERY = 60.0  # s
LOOK_FOR_MISSING_EVERY = 60.0  # s
CLEAN_EVERY = 3600.0  # s
LOOK_AT_CERTIFICATES_EVERY = 600.0  # s

# A tick is obsolete once the next is due: without `expires`, ticks would pile up while no worker runs.
app.conf.beat_schedule = {
    name: {"task": f"workers.tasks.{name}", "schedule": every, "options": {"expires": every}}
    for name, every in {
        "match_jobs": MATCH_EVERY,
        "stop_early": STOP_EARLY_EVERY,
        "expire_leases": EXPIRE_EVERY,
        "sweep": SWEEP_EVERY,
        "archive": ARCHIVE_EVERY,
        "ask_aws": ASK_AWS_EVERY,
        "judge_rest": JUDGE_EVERY,
        "notify": NOTIFY_EVERY,
        "look_rest": LOOK_EVERY,
        "check_pending": LOOK_EVERY,
        "look_again": LOOK_AGAIN_EVERY,
        "follow_rest": FOLLOW_EVERY,
        "start_due": START_DUE_EVERY,
        "look_for_missing": LOOK_FOR_MISSING_EVERY,
        "remove_leftovers": CLEAN_EVERY,
        "forget_sessions": CLEAN_EVERY,
        "look_at_certificates": LOOK_AT_CERTIFICATES_EVERY,
    }.items()
}

# Task's id -> when it began, s, and what its log lines carry.
_running: dict[str, tuple[float, ExitStack]] = {}


@signals.before_task_publish.connect
def _stamp(headers: dict[str, Any], **_rest: Any) -> None:
    headers[measures.SENT] = time.time()


@signals.task_prerun.connect
def _begin(task_id: str, task: Any, kwargs: dict[str, Any], **_rest: Any) -> None:
    about = ExitStack()
    ids = {key.removesuffix("_id"): value for key, value in kwargs.items() if key.endswith("_id")}
    about.enter_context(log_context.about(task=f"{_short(task)}/{task_id[:8]}", **ids))
    _running[task_id] = time.monotonic(), about


@signals.task_postrun.connect
def _end(task_id: str, task: Any, state: str | None = None, **_rest: Any) -> None:
    began, about = _running.pop(task_id)
    about.close()
    measures.TASKS.labels(_short(task), (state or "unknown").lower()).inc()
    measures.TASK_SECONDS.labels(_short(task)).observe(time.monotonic() - began)


def _short(task: Any) -> str:
    return str(task.name).rpartition(".")[2]
