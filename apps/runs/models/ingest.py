"""Data received while a run is measured: batches of its agent and of samplers on other hosts."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.catalog.models import SHA256
from apps.runs.models.run import Run


class Batch(models.Model):
    """A batch as received: durable inbox and source of live charts. Deleted when its run is sealed."""

    # Indexed by `batch_once`.
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="batches", db_index=False)
    sequence = models.PositiveIntegerField()
    checksum = models.CharField(max_length=64)
    payload = models.BinaryField()
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            # Agents resend after an outage: store each batch once.
            models.UniqueConstraint(fields=["run", "sequence"], name="batch_once"),
            models.CheckConstraint(condition=Q(checksum__regex=SHA256), name="batch_checksum_is_sha256"),
        ]


class Stream(models.Model):
    """Batches of a sampler: an agent that samples nodes for a run driven by another agent.

    The seal waits for the stream's end (`batches_expected`) until the deadline `wait_until`, set at the run's end;
    then the stream is `closed` and accepts no more batches.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="streams", db_index=False)
    number = models.PositiveSmallIntegerField()
    agent = models.CharField(max_length=80)
    # Names of the nodes that the sampler announced.
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
    """A sampler's batch as received. Deleted when its run is sealed."""

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


class Allowance(models.Model):
    """Bytes of raw files that a sender has stored, less what a day gives back since. See ingest.quota."""

    sender = models.CharField(max_length=200, primary_key=True)
    used = models.FloatField()
    counted_at = models.DateTimeField()
