"""Runs: workload, system, load level, times and outcome; server variables at the time of the run."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q

from apps.catalog.models import SHA256, LoadLevel, System, Workload
from apps.core import limits

# Runs that count in comparisons: sealed, successful, not excluded.
COUNTED = Q(state="sealed", outcome="succeeded", is_excluded=False)


class Configuration(models.Model):
    """Server variables of one node during a run, stored once per content."""

    content_hash = models.CharField(max_length=64, unique=True)
    variables = models.JSONField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(content_hash__regex=SHA256), name="configuration_hash_is_sha256")
        ]


class Run(models.Model):
    """One execution of a workload on a system at one load level: the grain of the warehouse.

    The run's clock counts seconds from `started_at` on the agent's monotonic clock; the measured phase is
    [`measured_from`, `measured_to`). `warmup` and `duration` (s) are the planned ones.
    """

    class State(models.TextChoices):
        OPEN = "open", "running"
        ENDED = "ended", "being stored"
        SEALED = "sealed", "complete"

    class Outcome(models.TextChoices):
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELLED = "cancelled"

    class Provenance(models.TextChoices):
        AGENT = "agent", "measured by an agent"
        SUBMITTED = "submitted", "submitted through the API"
        EXAMPLE = "example", "shipped example"
        RIG = "rig", "made up by the scale rig"

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    # Indexed by the composite indexes below.
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="runs", db_index=False)
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="runs", db_index=False)
    load_level = models.ForeignKey(LoadLevel, on_delete=models.PROTECT, related_name="runs")
    repetition = models.PositiveIntegerField(default=1)
    provenance = models.CharField(max_length=16, choices=Provenance.choices)
    state = models.CharField(max_length=8, choices=State.choices, default=State.OPEN)
    outcome = models.CharField(max_length=16, choices=Outcome.choices, blank=True)
    reason = models.TextField(blank=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    sealed_at = models.DateTimeField(null=True, blank=True)
    # Version of the rules that sealed the run; `reseal` applies the current ones to older runs.
    derivation = models.PositiveSmallIntegerField(default=0)
    # The run's end as reported, before the seal's verdict: {"outcome", "reason", "measured_from", "measured_to"}; the
    # "offset" of the load tool's clock; the digest of its "batches", which the seal deletes; what was "missing" then.
    told = models.JSONField(default=dict, blank=True)
    warmup = models.FloatField("planned warm-up, s", default=0)
    duration = models.FloatField("planned length of the measured phase, s", null=True, blank=True)
    measured_from = models.FloatField("start of the measured phase, s on the run's clock", null=True, blank=True)
    measured_to = models.FloatField("end of the measured phase, s on the run's clock", null=True, blank=True)
    batches_expected = models.PositiveIntegerField(null=True, blank=True)
    # Announced at the run's end: [{"name", "sha256", "size"}]. The run is sealed once all have arrived.
    artifacts_expected = models.JSONField(default=list, blank=True)
    # Of an ended run: attempts to seal it since its last batch or file arrived, and time of the next (null: now).
    seal_attempts = models.PositiveIntegerField(default=0)
    seal_due_at = models.DateTimeField(null=True, blank=True)
    server_version = models.CharField(max_length=120, blank=True)
    tool_version = models.CharField(max_length=120, blank=True)
    # What repeats together: see apps.comparison.selection.sessions. `session`: a name stated for it,
    # or that of the campaign's session (apps.runs.ingest.planned_sessions); empty: none.
    session = models.CharField(max_length=120, blank=True, default="", db_default="")
    server_started_at = models.DateTimeField("the last start of any of its servers", null=True, blank=True)
    # The load generator: host facts (CPU count, memory, kernel), command line without secrets.
    host = models.JSONField(default=dict, blank=True)
    command = models.TextField(blank=True)
    # Size of data and indexes of the workload's tables at the run's start, as reported by the server; null: unknown.
    data_bytes = models.BigIntegerField("size of the data set, bytes", null=True, blank=True)
    # Sampled sources, one text per kind of node; empty: not known. See apps.runs.samples.nodes.
    samplers = ArrayField(models.TextField(), default=list, db_default=[], blank=True)
    # Denormalized from RunCheck and Exclusion for the indexes of comparisons.
    failed_checks = ArrayField(models.CharField(max_length=40), default=list, db_default=[], blank=True)
    is_excluded = models.BooleanField(default=False, db_default=False)
    unparsed_lines = ArrayField(models.TextField(), default=list, blank=True)
    tags = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-started_at", "-id"]
        indexes = [
            models.Index(fields=["system", "workload", "load_level", "-started_at"], name="run_by_side"),
            # Runs that count in comparisons, and those that do not, newest first per place: apps.runs.queries.places.
            models.Index(
                *(F("system"), F("workload"), F("load_level"), F("provenance"), F("started_at").desc(), F("id").desc()),
                condition=COUNTED,
                name="run_counted",
            ),
            models.Index(
                *(F("system"), F("workload"), F("load_level"), F("state"), F("outcome")),
                *(F("started_at").desc(), F("id").desc()),
                condition=~COUNTED,
                name="run_left_out",
            ),
            # The list of runs, newest first: all, by system, workload, not counting, origin, failed checks.
            models.Index(F("started_at").desc(), F("id").desc(), name="run_newest"),
            models.Index(F("system"), F("started_at").desc(), F("id").desc(), name="run_newest_of_system"),
            models.Index(F("workload"), F("started_at").desc(), F("id").desc(), name="run_newest_of_workload"),
            models.Index(
                *(F("outcome"), F("started_at").desc(), F("id").desc()),
                condition=~COUNTED,
                name="run_newest_left_out",
            ),
            models.Index(F("provenance"), F("started_at").desc(), F("id").desc(), name="run_newest_of_origin"),
            models.Index(
                *(F("started_at").desc(), F("id").desc()), condition=~Q(failed_checks=[]), name="run_newest_doubted"
            ),
            models.Index(fields=["server_version"], name="run_by_server_version"),
            models.Index(fields=["state"], condition=~Q(state="sealed"), name="run_unsealed"),
            GinIndex(fields=["tags"], name="run_by_tag"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["open", "ended", "sealed"]), name="run_state_known"),
            models.CheckConstraint(
                condition=Q(provenance__in=["agent", "submitted", "example", "rig"]), name="run_provenance_known"
            ),
            # Open runs have neither outcome nor end; all others have both.
            models.CheckConstraint(
                condition=Q(state="open", outcome="", ended_at__isnull=True)
                | (~Q(state="open") & Q(outcome__in=["succeeded", "failed", "cancelled"], ended_at__isnull=False)),
                name="run_outcome_from_its_end_on",
            ),
            models.CheckConstraint(
                condition=Q(measured_to__gte=F("measured_from")), name="run_measured_phase_in_order"
            ),
            models.CheckConstraint(condition=~Q(outcome="failed") | ~Q(reason=""), name="run_failure_has_reason"),
            # PostgreSQL keeps years that Python cannot read back: one such run would break every list that has it.
            models.CheckConstraint(
                condition=Q(started_at__gte=limits.EARLIEST, started_at__lt=limits.LATEST)
                & Q(ended_at__gte=limits.EARLIEST, ended_at__lt=limits.LATEST),
                name="run_times_readable",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"
