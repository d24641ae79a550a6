"""Interface of this app for other apps, as far as it needs no database. Pure."""

from apps.dispatch.schedules import cron

__all__ = [
    "cron",
]
