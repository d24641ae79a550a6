"""The product's Celery application, whose beat ticks every other second: tests wait for what it finds."""

from workers.celery import app

HURRIED_BELOW, EVERY = 60.0, 2.0  # s

for entry in app.conf.beat_schedule.values():
    if entry["schedule"] < HURRIED_BELOW:
        entry["schedule"] = entry["options"]["expires"] = EVERY
