"""What comes in while a run is measured: batches of its agent and of samplers on other hosts."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.catalog.models import SHA256
from apps.runs.models.run import Run


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
