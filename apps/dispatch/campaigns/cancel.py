"""Cancelling jobs and campaigns in any state; the result states what changed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from django.db import transaction

from apps.accounts.models import User
from apps.core.audit.api import Action, record
from apps.core.text import counted
from apps.dispatch.models import ACTIVE, Campaign, Job


@dataclass(frozen=True)
class Cancellation:
    """Outcome of a cancel request. `changed`: False when there was nothing left to cancel; `message`: for display."""

    changed: Annotated[bool, "false: every job had ended"]
    state: str
    message: str


@transaction.atomic
def cancel_job(*, job: Job, by: User | None, now: datetime) -> Cancellation:
    """End a waiting job at once; a running one stops at its agent's next request or when its lease expires."""
    locked = Job.objects.select_for_update(of=("self",)).select_related("agent").get(pk=job.pk)
    before = locked.state
    cancelled = _cancel(locked, by=by, now=now)
    if cancelled.changed:
        record(Action.JOB_CANCEL, f"job {job.pk}", before=before, after=cancelled.state)
    return cancelled


@transaction.atomic
def cancel_campaign(*, campaign: Campaign, by: User | None, now: datetime) -> Cancellation:
    """Cancel every unfinished job of the campaign."""
    unfinished = campaign.jobs.select_for_update(of=("self",)).select_related("agent").order_by("pk")
    jobs = unfinished.filter(state__in=("queued", *ACTIVE))
    done = [cancelled for cancelled in (_cancel(job, by=by, now=now) for job in jobs) if cancelled.changed]
    stopping = sum(cancelled.state == "cancelling" for cancelled in done)
    if not done:
        return Cancellation(changed=False, state="", message="Every job has ended: nothing to cancel.")
    Campaign.objects.filter(pk=campaign.pk, cancelled_at=None).update(cancelled_at=now)
    message = _message(waiting=len(done) - stopping, stopping=stopping)
    record(Action.CAMPAIGN_CANCEL, f"campaign {campaign.pk} {campaign.name}", after=message)
    return Cancellation(changed=True, state="cancelling" if stopping else "cancelled", message=message)


def _message(*, waiting: int, stopping: int) -> str:
    ended = f"Cancelled the {f'{waiting:,} waiting jobs' if waiting > 1 else 'waiting job'}" if waiting else ""
    jobs = counted(stopping, "running job")
    stops = f"{jobs} will stop once the agent has cleaned up" if stopping else ""
    return f"{'; '.join(part for part in (ended, stops) if part)}."


def _cancel(job: Job, *, by: User | None, now: datetime) -> Cancellation:
    reason = f"cancelled by {by.username}" if by else "cancelled"
    if job.state in ("queued", "matched"):
        job.state, job.reason, job.lease_expires_at, job.finished_at = "cancelled", reason, None, now
        job.save(update_fields=["state", "reason", "lease_expires_at", "finished_at"])
        return Cancellation(changed=True, state=job.state, message=f"Job {job.pk} is cancelled.")
    if job.state == "running":
        job.state, job.reason = "cancelling", reason
        job.save(update_fields=["state", "reason"])
        message = f"Job {job.pk} is being cancelled: agent {job.agent} stops and cleans up."
        return Cancellation(changed=True, state=job.state, message=message)
    if job.state == "cancelling":
        message = f"Job {job.pk} is already being cancelled: agent {job.agent} is cleaning up."
    else:
        message = f"Job {job.pk} has already {job.state}: nothing to cancel."
        if job.state == "cancelled":
            message = f"Job {job.pk} is already cancelled."
    return Cancellation(changed=False, state=job.state, message=message)
