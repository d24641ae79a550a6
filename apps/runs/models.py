"""The warehouse: runs, their raw batches while live, their sealed series, headline measurements, events, artifacts.

A run is open while it is measured, ended when its agent said so, sealed once its series are stored and read back.
"""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q

from apps.catalog.models import SHA256, LoadLevel, Metric, System, Workload


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
                condition=Q(state="sealed", outcome="succeeded"),
                name="run_counted",
            ),
            models.Index(
                *(F("system"), F("workload"), F("load_level"), F("state"), F("outcome")),
                *(F("started_at").desc(), F("id").desc()),
                condition=~Q(state="sealed", outcome="succeeded"),
                name="run_left_out",
            ),
            # The list of runs, newest first: all, of a system, of a workload, of those that do not count.
            models.Index(F("started_at").desc(), F("id").desc(), name="run_newest"),
            models.Index(F("system"), F("started_at").desc(), F("id").desc(), name="run_newest_of_system"),
            models.Index(F("workload"), F("started_at").desc(), F("id").desc(), name="run_newest_of_workload"),
            models.Index(
                *(F("outcome"), F("started_at").desc(), F("id").desc()),
                condition=~Q(state="sealed", outcome="succeeded"),
                name="run_newest_left_out",
            ),
            models.Index(F("provenance"), F("started_at").desc(), F("id").desc(), name="run_newest_of_origin"),
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


class Batch(models.Model):
    """A batch as it came off the wire: the durable inbox and the live tail at once. Deleted when its run is sealed."""

    # Found by the index of `batch_once`.
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="batches", db_index=False)
    sequence = models.PositiveIntegerField()
    checksum = models.CharField(max_length=64)
    payload = models.BinaryField()
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            # Agents resend after an outage: hold each batch once.
            models.UniqueConstraint(fields=["run", "sequence"], name="batch_once"),
            models.CheckConstraint(condition=Q(checksum__regex=SHA256), name="batch_checksum_is_sha256"),
        ]


class Stream(models.Model):
    """What an agent in the role of a sampler adds to a run that another agent drives, in batches of its own.

    The seal waits for its end (`batches_expected`) until `wait_until`, which the run's end sets; then the stream is
    `closed`: nothing more is taken.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="streams", db_index=False)
    number = models.PositiveSmallIntegerField()
    agent = models.CharField(max_length=80)
    # Names of the nodes that it said it would sample.
    nodes = ArrayField(models.CharField(max_length=80), default=list)
    joined_at = models.DateTimeField(auto_now_add=True)
    batches_expected = models.PositiveIntegerField(null=True, blank=True)
    wait_until = models.DateTimeField(null=True, blank=True)
    closed = models.BooleanField(default=False)

    class Meta:
        ordering = ["run", "number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="stream_number_once"),
            models.UniqueConstraint(fields=["run", "agent"], name="stream_once_per_agent"),
        ]


class StreamBatch(models.Model):
    """A batch of a sampler, as it came. Deleted when its run is sealed."""

    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="batches", db_index=False)
    sequence = models.PositiveIntegerField()
    checksum = models.CharField(max_length=64)
    payload = models.BinaryField()
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stream", "sequence"], name="stream_batch_once"),
            models.CheckConstraint(condition=Q(checksum__regex=SHA256), name="stream_batch_checksum_is_sha256"),
        ]


class RunNode(models.Model):
    """One sampled node of a run: its clock (pcodec block of float64 seconds on the run's clock) and constant series.

    `number` is the node's place in the run (0: the load generator). `constants` maps metric key -> value for every
    series that never changed.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="nodes")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=80)
    role = models.CharField(max_length=16, blank=True)
    samples = models.PositiveIntegerField(default=0)
    clock = models.BinaryField(default=b"")
    constants = models.JSONField(default=dict, blank=True)
    configuration = models.ForeignKey(Configuration, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["run", "number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="run_node_number_once"),
            models.UniqueConstraint(fields=["run", "name"], name="run_node_name_once"),
        ]


class Block(models.Model):
    """The compressed samples of one node's changing series, one behind the other; each Series row says where its own
    lie. `data` is null once retention has moved it to the archive; `size` stays what it was, bytes.
    """

    pk = models.CompositePrimaryKey("run_id", "node")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="blocks", db_index=False)
    node = models.PositiveSmallIntegerField()
    size = models.BigIntegerField("size, bytes")
    data = models.BinaryField(null=True)


class Series(models.Model):
    """One metric on one node in one run: statistics over the measured phase and over the whole run (`whole_…`), and
    the place of its samples, `length` bytes from `offset` of the node's Block, on the node's clock.

    For a counter the statistics are of its rate (per second, over each measured interval); `increase` is the sum of
    its positive steps and `resets` the number of its falls. Null: not observed there. `length` 0: a derived metric,
    whose samples are computed from those of others when they are read. Series with equal increments share their bytes
    and differ in `base`.
    """

    pk = models.CompositePrimaryKey("run_id", "metric_id", "node")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="series", db_index=False)
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="+", db_index=False)
    node = models.PositiveSmallIntegerField()
    base = models.BigIntegerField("what its integers are counted from", default=0)
    offset = models.PositiveIntegerField("place in the node's block, bytes", default=0)
    length = models.PositiveIntegerField("length in the node's block, bytes", default=0)
    count = models.PositiveIntegerField(default=0)
    mean = models.FloatField(null=True)
    stddev = models.FloatField(null=True)
    minimum = models.FloatField(null=True)
    maximum = models.FloatField(null=True)
    p1 = models.FloatField(null=True)
    p5 = models.FloatField(null=True)
    p50 = models.FloatField(null=True)
    p95 = models.FloatField(null=True)
    p99 = models.FloatField(null=True)
    first = models.FloatField(null=True)
    last = models.FloatField(null=True)
    increase = models.FloatField(null=True)
    resets = models.PositiveIntegerField(default=0)
    whole_count = models.PositiveIntegerField(default=0)
    whole_mean = models.FloatField(null=True)
    whole_stddev = models.FloatField(null=True)
    whole_minimum = models.FloatField(null=True)
    whole_maximum = models.FloatField(null=True)
    whole_p1 = models.FloatField(null=True)
    whole_p5 = models.FloatField(null=True)
    whole_p50 = models.FloatField(null=True)
    whole_p95 = models.FloatField(null=True)
    whole_p99 = models.FloatField(null=True)
    whole_first = models.FloatField(null=True)
    whole_last = models.FloatField(null=True)
    whole_increase = models.FloatField(null=True)
    whole_resets = models.PositiveIntegerField(default=0)


class ArchivedRun(models.Model):
    """That a run lies in the archive: its manifest, whose hash says that all of it is there and unchanged.

    `moved_at`: since then its samples are only there (Block.data is null), until they are fetched, at `fetched_at`.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="archived")
    manifest = models.CharField("path of the manifest in the archive", max_length=300)
    manifest_sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField("size of all its files, bytes")
    archived_at = models.DateTimeField()
    moved_at = models.DateTimeField(null=True, blank=True)
    fetched_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(manifest_sha256__regex=SHA256), name="archived_hash_is_sha256"),
            models.CheckConstraint(condition=Q(size__gte=0), name="archived_size_not_negative"),
        ]


class ArchiveAttempt(models.Model):
    """That a sealed run does not lie in the archive though it was tried: why, and when it is tried again."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="archive_attempt")
    attempts = models.PositiveIntegerField()
    due_at = models.DateTimeField()
    problem = models.TextField(blank=True)


class Artifact(models.Model):
    """A raw file of a run, kept in object storage under its SHA-256."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="artifacts")
    name = models.CharField(max_length=120)
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField("size, bytes")
    media_type = models.CharField(max_length=80, default="text/plain")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["run", "name"]
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="artifact_once"),
            models.CheckConstraint(condition=Q(sha256__regex=SHA256), name="artifact_hash_is_sha256"),
            models.CheckConstraint(condition=Q(size__gte=0), name="artifact_size_not_negative"),
        ]


class Distribution(models.Model):
    """How values of one metric were spread over [`starts_at`, `ends_at`) of the run's clock, s: `counts[k]` of them in
    bucket `buckets[k]` of `grid`, the other buckets empty. Distributions on one grid are merged by adding counts.

    The bytes of the artifact that it was read from are its birth certificate, as for a Measurement.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="distributions")
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="+")
    node = models.PositiveSmallIntegerField(default=0)
    starts_at = models.FloatField("start, s on the run's clock")
    ends_at = models.FloatField("end, s on the run's clock")
    grid = models.CharField(max_length=60)
    buckets = ArrayField(models.IntegerField())
    counts = ArrayField(models.BigIntegerField())
    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="distributions")
    byte_start = models.BigIntegerField()
    byte_end = models.BigIntegerField()
    parser = models.CharField(max_length=40)
    parser_version = models.CharField(max_length=20)

    class Meta:
        ordering = ["run", "metric", "node", "starts_at"]
        constraints = [
            models.UniqueConstraint(fields=["run", "metric", "node", "starts_at"], name="distribution_once"),
            models.CheckConstraint(
                condition=Q(buckets__len=F("counts__len")), name="distribution_has_a_count_per_bucket"
            ),
            models.CheckConstraint(condition=Q(ends_at__gte=F("starts_at")), name="distribution_in_order"),
        ]


class Measurement(models.Model):
    """A headline value of a run with its birth certificate: the bytes of the artifact it was read from, and by what."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="measurements")
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="+")
    value = models.FloatField()
    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="measurements")
    byte_start = models.BigIntegerField()
    byte_end = models.BigIntegerField()
    parser = models.CharField(max_length=40)
    parser_version = models.CharField(max_length=20)

    class Meta:
        ordering = ["run", "metric"]
        constraints = [
            models.UniqueConstraint(fields=["run", "metric"], name="measurement_once"),
            models.CheckConstraint(
                condition=Q(byte_start__gte=0, byte_end__gt=F("byte_start")), name="measurement_bytes_in_order"
            ),
        ]


class Event(models.Model):
    """A moment (`ends_at` null) or a span on the run's clock, s. `from_output`: the load tool printed it, so that it is
    read anew when the run is sealed again."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=40)
    label = models.CharField(max_length=200)
    starts_at = models.FloatField("start, s on the run's clock")
    ends_at = models.FloatField("end, s on the run's clock", null=True, blank=True)
    node = models.CharField(max_length=80, blank=True)
    detail = models.JSONField(default=dict, blank=True)
    from_output = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["run", "starts_at"]
        constraints = [
            models.UniqueConstraint(fields=["run", "kind", "starts_at", "label", "node"], name="event_once"),
            models.CheckConstraint(
                condition=Q(ends_at__isnull=True) | Q(ends_at__gte=F("starts_at")), name="event_in_order"
            ),
        ]
