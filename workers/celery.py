"""The Celery application: one queue, tasks late to acknowledge, and the beat that sweeps what was lost."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("splashboard", include=["workers.tasks"])
app.config_from_object("django.conf:settings", namespace="CELERY")
