"""Output of load tools: raw files, headline values and histograms with their provenance, events."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from apps.catalog.models import SHA256, Metric
from apps.runs.models.run import Run


class Artifact(models.Model):
    """A raw file of a run, stored under its SHA-256 in object storage."""

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
    """Histogram of a metric over [`starts_at`, `ends_at`) of the run's clock, s: `counts[k]` values in bucket
    `buckets[k]` of `grid`, all other buckets empty. Distributions on one grid are merged by adding counts.

    Provenance: bytes `byte_start` to `byte_end` of the artifact, as for a Measurement.
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
    """A headline value of a run with its provenance: the bytes of the artifact that were parsed, and the parser."""

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
    """A moment (`ends_at` null) or a span on the run's clock, s. `from_output`: parsed from the load tool's output, so
    that a reseal parses it again."""

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
        # Finds the runs with a schema change: apps.comparison.schema_changes.results.
        indexes = [
            models.Index(fields=["run"], condition=Q(kind="ddl", ends_at__isnull=False), name="event_schema_change")
        ]
        constraints = [
            models.UniqueConstraint(fields=["run", "kind", "starts_at", "label", "node"], name="event_once"),
            models.CheckConstraint(
                condition=Q(ends_at__isnull=True) | Q(ends_at__gte=F("starts_at")), name="event_in_order"
            ),
        ]
