"""Runs: what was run, when, on what, and how it ended; server variables as they were seen."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q

from apps.catalog.models import SHA256, LoadLevel, System, Workload

# A run that counts in comparisons: complete, successful, and no person left it out.
COUNTED = Q(state="sealed", outcome="succeeded", is_excluded=False)


class Configuration(models.Model):
    """Server variables as one run saw them on one node, held once per content."""

    content_hash = models.CharField(max_length=64, unique=True)
    variables = models.JSONField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(content_hash__regex=SHA256), name="configuration_hash_is_sha256")
        ]


class Run(models.Model):
    """One execution of a workload on a system at one load level: the grain of the warehouse.

    The run's clock counts seconds from `started_at` on the agent's monotonic clock; the measured phase is
    [`measured_from`, `measured_to`). `warmup` and `duration` (s) are what was planned.
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
    # Found by the indexes below, which begin with them.
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
    # Of a sealed run: the version of the rules that made its series and measurements; older ones can be sealed again.
    derivation = models.PositiveSmallIntegerField(default=0)
    # The end of the run as it was told, before a seal judged it: {"outcome", "reason", "measured_from", "measured_to"}.
    told = models.JSONField(default=dict, blank=True)
    warmup = models.FloatField("planned warm-up, s", default=0)
    duration = models.FloatField("planned length of the measured phase, s", null=True, blank=True)
    measured_from = models.FloatField("start of the measured phase, s on the run's clock", null=True, blank=True)
    measured_to = models.FloatField("end of the measured phase, s on the run's clock", null=True, blank=True)
    batches_expected = models.PositiveIntegerField(null=True, blank=True)
    # What the end of the run announced: [{"name", "sha256", "size"}]. The run is sealed when all are there.
    artifacts_expected = models.JSONField(default=list, blank=True)
    # Of an ended run: attempts to seal it since its last piece arrived, and when the sweep tries again (null: now).
    seal_attempts = models.PositiveIntegerField(default=0)
    seal_due_at = models.DateTimeField(null=True, blank=True)
    server_version = models.CharField(max_length=120, blank=True)
    tool_version = models.CharField(max_length=120, blank=True)
    # What the load generator was: command line without secrets, host facts (cpu count, memory, kernel).
    host = models.JSONField(default=dict, blank=True)
    command = models.TextField(blank=True)
    # Data and indexes of the workload's prepared tables when the run began, as the server told it; null: nobody asked.
    data_bytes = models.BigIntegerField("size of the data set, bytes", null=True, blank=True)
    # What was sampled, a text for each kind of node; empty: not known. See apps.runs.samples.sources.
    samplers = ArrayField(models.TextField(), default=list, db_default=[], blank=True)
    # What comparisons ask of every run, kept here for their indexes; the tables RunCheck and Exclusion have the whole.
    failed_checks = ArrayField(models.CharField(max_length=40), default=list, db_default=[], blank=True)
    is_excluded = models.BooleanField(default=False, db_default=False)
    unparsed_lines = ArrayField(models.TextField(), default=list, blank=True)
    tags = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-started_at", "-id"]
        indexes = [
            models.Index(fields=["system", "workload", "load_level", "-started_at"], name="run_by_side"),
            # What counts in a comparison and what does not, place by place, the newest first: apps.runs.queries.places.
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
            # The list of runs, newest first: all, of a system, of a workload, of those that do not count.
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
            # An open run has no outcome yet; every other one has, with its end.
            models.CheckConstraint(
                condition=Q(state="open", outcome="", ended_at__isnull=True)
                | (~Q(state="open") & Q(outcome__in=["succeeded", "failed", "cancelled"], ended_at__isnull=False)),
                name="run_outcome_from_its_end_on",
            ),
            models.CheckConstraint(
                condition=Q(measured_to__gte=F("measured_from")), name="run_measured_phase_in_order"
            ),
            models.CheckConstraint(condition=~Q(outcome="failed") | ~Q(reason=""), name="run_failure_has_reason"),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"
