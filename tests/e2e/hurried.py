"""The product's Celery application in a hurry: its beat ticks every other second, its sweep hardly waits."""

from datetime import timedelta

from celery.signals import worker_init

from workers.celery import app

HURRIED_BELOW, EVERY = 60.0, 2.0  # s

for entry in app.conf.beat_schedule.values():
    if entry["schedule"] < HURRIED_BELOW:
        entry["schedule"] = entry["options"]["expires"] = EVERY


@worker_init.connect
def hurry_sweep(**_: object) -> None:
    """Models can be imported from now on; the pool's processes are forked later."""
    from apps.runs.ingest import seal_queue  # noqa: PLC0415  not before the applications are there

    seal_queue.OWN_TASK_FIRST = seal_queue.FIRST_PAUSE = timedelta(seconds=EVERY)
