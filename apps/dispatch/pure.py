"""What other apps may use of this one without a database: values, tables and methods. Pure."""

from apps.dispatch.schedules import cron

__all__ = [
    "cron",
]
