"""Schedules for tests."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from apps.catalog.models import System
from apps.dispatch.models import Job, Schedule
from apps.dispatch.schedules import services
from tests.support.builders import a_system, a_user, an_agent

PLAN = """\
name: nightly
systems: [a, b]
repetitions: 1
duration: 10
workloads:
  - tool: sysbench_oltp
    name: oltp_read_only
    parameters: {test: oltp_read_only, tables: 2, table_size: 1000}
    load_levels: [1, 4]
"""


def stated(**fields: Any) -> services.ScheduleFields:
    return services.ScheduleFields(**{"name": "nightly", "plan": PLAN, "cron": "30 2 * * *", **fields})


def a_schedule(*, next_at: datetime | None = None, now: datetime | None = None, **fields: Any) -> Schedule:
    """On the systems a and b, every night, 12 h patient."""
    for slug in ("a", "b"):
        if not System.objects.filter(slug=slug).exists():
            a_system(slug)
    schedule = services.create(stated=stated(**fields), by=a_user(), now=now or timezone.now())
    if next_at is not None:
        schedule.next_at = next_at
        schedule.save()
    return schedule


def end_jobs(state: str, *, reason: str = "", **which: Any) -> None:
    """Takes the jobs that have not ended through their states, one after another, as their agent would."""
    for job in Job.objects.filter(finished_at=None, **which):
        agent = job.agent or an_agent(job.system)
        begun = {"agent": agent, "attempt": 1, "lease_expires_at": timezone.now() + timedelta(minutes=1)}
        ended = {"lease_expires_at": None, "finished_at": timezone.now(), "reason": reason}
        for next_state, fields in (("matched", begun), ("running", begun), (state, ended)):
            Job.objects.filter(pk=job.pk).update(state=next_state, **fields)
