"""Campaigns are planned as jobs; jobs are leased to agents. The database enforces the states and transitions.

    queued -> matched -> running -> succeeded | failed | cancelled
      ^          |          |
      +----------+----------+   an expired lease, or a failure with attempts left, requeues the job

Cancelling a queued or matched job ends it at once; a running one becomes `cancelling` until its agent has cleaned up
(or its lease expires). docs/reference/jobs.md has the table of legal transitions; a trigger enforces it.
"""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.accounts.models import User
from apps.catalog.models import SHA256, LoadLevel, System, Workload
from apps.runs.models import Run


class Agent(models.Model):
    """A program that measures systems. It authenticates by a token; only the token's digest is stored."""

    # What the audit log names its changes as.
    audit_kind: ClassVar[str] = "agent"

    name = models.SlugField(max_length=80, unique=True)
    digest = models.CharField(max_length=64, unique=True)
    labels = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    version = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    # As last reported by the agent: free disk, spool size, refused uploads.
    health = models.JSONField(default=dict, blank=True)
    # Systems of its last report that get no jobs: slug -> why.
    refused_systems = models.JSONField(default=dict, blank=True, db_default=models.Value({}, models.JSONField()))
    # May measure any system that it names, as the server's own agent may; others need an AgentSystem for each.
    is_trusted = models.BooleanField(default=False)

    class Meta:
        ordering = ["name"]
        constraints = [models.CheckConstraint(condition=Q(digest__regex=SHA256), name="agent_digest_is_sha256")]

    def __str__(self) -> str:
        return self.name


class AgentSystem(models.Model):
    """A system that an agent asked to measure, by its slug: the catalog has it once it is allowed. `is_allowed` None:
    nobody has decided."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="asked")
    slug = models.CharField(max_length=80)
    is_allowed = models.BooleanField(null=True)
    asked_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["slug"]
        constraints = [models.UniqueConstraint(fields=["agent", "slug"], name="agent_system_once")]

    def __str__(self) -> str:
        return f"{self.agent}: {self.slug}"


class Enrolment(models.Model):
    """A one-time code with which a new agent fetches its secret; `systems`: slugs that it may measure."""

    digest = models.CharField(max_length=64, unique=True)
    systems = ArrayField(models.CharField(max_length=80), default=list, blank=True)
    made_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    agent = models.ForeignKey(Agent, on_delete=models.SET_NULL, null=True, related_name="+")

    def __str__(self) -> str:
        return f"made by {self.made_by} at {self.made_at}"


class Campaign(models.Model):
    """Systems × entries × sessions × repetitions, planned together. Its state is derived from its jobs."""

    name = models.CharField(max_length=120)
    systems = models.ManyToManyField(System, related_name="campaigns")
    # Of each session.
    repetitions = models.PositiveIntegerField()
    # Before each but the first, its agent starts a system's server anew.
    sessions = models.PositiveIntegerField(default=1, db_default=1)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="campaigns")
    created_at = models.DateTimeField(auto_now_add=True)
    cancelled_at = models.DateTimeField(null=True, blank=True)
    # When a load level needs no more repetitions: "verdict", or the half width of its interval, a share; empty: never.
    until = models.CharField(max_length=12, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=Q(repetitions__gt=0), name="campaign_repetitions_positive"),
            models.CheckConstraint(condition=Q(sessions__gt=0), name="campaign_sessions_positive"),
        ]

    def __str__(self) -> str:
        return self.name


class Entry(models.Model):
    """One workload of a campaign with its load levels and times. Its jobs determine which systems take part.

    A workload may have several entries, for example a ramp until saturation and a connection storm.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="entries")
    place = models.PositiveIntegerField()
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="entries")
    load_levels = models.ManyToManyField(LoadLevel, related_name="entries")
    warmup = models.FloatField("warm-up of each run, s", default=0)
    duration = models.FloatField("measured phase of each run, s")
    # A refused connection is a result and ends the load levels.
    ends_when_refused = models.BooleanField(default=False)
    # Stop when more threads gain less than this share of throughput; null: every level is measured.
    least_gain = models.FloatField(null=True, blank=True)
    # Repetitions, or sessions if there are several, after which it was last decided whether more are needed (see
    # Campaign.until).
    looked = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["campaign", "place"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "place"], name="entry_place_once"),
            models.CheckConstraint(condition=Q(duration__gt=0, warmup__gte=0), name="entry_times_positive"),
            models.CheckConstraint(
                condition=Q(least_gain=None) | Q(least_gain__gt=0, least_gain__lt=1), name="entry_gain_is_a_share"
            ),
        ]

    def __str__(self) -> str:
        return f"entry {self.place} of campaign {self.campaign_id}"


ACTIVE = ("matched", "running", "cancelling")
FINAL = ("succeeded", "failed", "cancelled")


class Job(models.Model):
    """One repetition of one system × one entry: prepare, measure each load level, clean up.

    One repetition, not all of them, because systems can only be interleaved (A B B A) between jobs.
    `position` is the job's place in the campaign's order.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        MATCHED = "matched"
        RUNNING = "running"
        CANCELLING = "cancelling"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELLED = "cancelled"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="jobs")
    entry = models.ForeignKey(Entry, on_delete=models.CASCADE, related_name="jobs")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="jobs")
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="jobs")
    # Counted through all sessions.
    repetition = models.PositiveIntegerField()
    session = models.PositiveIntegerField(default=1, db_default=1)
    # How long the agent took to start the server anew before this job's runs, s; null: it did not.
    restart_seconds = models.FloatField(null=True, blank=True)
    position = models.PositiveIntegerField()
    state = models.CharField(max_length=12, choices=State.choices, default=State.QUEUED)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, null=True, blank=True, related_name="jobs")
    # Attempts begun so far; every message about an attempt carries its number.
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(blank=True)
    # The current step as reported by the agent, for display: "prepare", "4 threads", "clean-up".
    progress = models.CharField(max_length=120, blank=True)
    queued_at = models.DateTimeField(auto_now_add=True)
    # Earliest time of the next attempt after a lost or failed one; null: at once.
    ready_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["campaign", "position"]
        indexes = [
            models.Index(fields=["campaign", "position"], condition=Q(state="queued"), name="job_queue"),
            models.Index(fields=["finished_at"], condition=Q(state="failed"), name="job_failed"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "position"], name="job_position_once"),
            models.UniqueConstraint(fields=["entry", "system", "repetition"], name="job_once"),
            # Two jobs on one system would disturb each other's measurements.
            models.UniqueConstraint(fields=["system"], condition=Q(state__in=ACTIVE), name="one_job_per_system"),
            models.UniqueConstraint(fields=["agent"], condition=Q(state__in=ACTIVE), name="one_job_per_agent"),
            models.CheckConstraint(
                condition=Q(state="queued", lease_expires_at__isnull=True, finished_at__isnull=True)
                | Q(state__in=ACTIVE, agent__isnull=False, lease_expires_at__isnull=False, finished_at__isnull=True)
                | Q(state__in=FINAL, lease_expires_at__isnull=True, finished_at__isnull=False),
                name="job_state_holds_together",
            ),
            models.CheckConstraint(condition=~Q(state="failed") | ~Q(reason=""), name="job_failure_has_reason"),
        ]

    def __str__(self) -> str:
        return f"job {self.pk}"


class JobRun(models.Model):
    """The job and attempt that produced a run. A run submitted without an agent has no such row."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="job_run")
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="job_runs")
    attempt = models.PositiveSmallIntegerField()


class Skip(models.Model):
    """A load level that a job no longer needs to measure, and why: saturation before it, or refused connections."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="skips")
    load_level = models.ForeignKey(LoadLevel, on_delete=models.PROTECT, related_name="skips")
    reason = models.TextField()

    class Meta:
        ordering = ["job", "load_level"]
        constraints = [models.UniqueConstraint(fields=["job", "load_level"], name="skip_once")]

    def __str__(self) -> str:
        return f"{self.load_level}: {self.reason}"


class Schedule(models.Model):
    """A campaign that is started periodically: `plan` is a campaign file, `cron` its times in the time zone `zone`.

    `next_at`: next due time; null: switched off. `patience`: deadline in h, after which an outstanding result is
    missing.
    """

    name = models.CharField(max_length=120, unique=True)
    plan = models.TextField("campaign file")
    cron = models.CharField(max_length=100)
    zone = models.CharField(max_length=60, default="UTC")
    patience = models.FloatField("a result is missing after, h", default=12)
    next_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="schedules")
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]
        indexes = [models.Index(fields=["next_at"], condition=Q(next_at__isnull=False), name="schedule_due")]
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="schedule_has_name"),
            models.CheckConstraint(condition=Q(patience__gt=0), name="schedule_patience_positive"),
        ]

    def __str__(self) -> str:
        return self.name


class ScheduledRun(models.Model):
    """One scheduled run: a due time and its outcome. `campaign` null: none was started, see `reason`."""

    class State(models.TextChoices):
        STARTED = "started"
        COMPLETE = "complete"
        MISSING = "missing"
        NOT_STARTED = "not started"

    schedule = models.ForeignKey(Schedule, on_delete=models.CASCADE, related_name="slots")
    due_at = models.DateTimeField()
    state = models.CharField(max_length=12, choices=State.choices)
    campaign = models.OneToOneField(Campaign, on_delete=models.SET_NULL, null=True, blank=True, related_name="slot")
    reason = models.TextField(blank=True)
    begun_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-due_at"]
        indexes = [models.Index(fields=["state"], condition=Q(state="started"), name="slot_unsettled")]
        constraints = [
            # Two beats start only one campaign.
            models.UniqueConstraint(fields=["schedule", "due_at"], name="slot_once"),
            models.CheckConstraint(
                condition=Q(state__in=["started", "complete", "missing", "not started"]), name="slot_state_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.schedule} at {self.due_at:%Y-%m-%d %H:%M}"
