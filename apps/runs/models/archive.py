"""Archived runs and failed attempts to archive."""

from django.db import models
from django.db.models import Q

from apps.catalog.models import SHA256
from apps.runs.models.run import Run


class ArchivedRun(models.Model):
    """A run in the archive; the manifest's hash proves that its files are complete and unchanged.

    `moved_at`: the samples' move to the archive, which sets Block.data to null; `fetched_at`: their return.
    `is_outdated`: the run's exclusions changed since, so it is archived again.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="archived")
    manifest = models.CharField("path of the manifest in the archive", max_length=300)
    manifest_sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField("size of all its files, bytes")
    archived_at = models.DateTimeField()
    moved_at = models.DateTimeField(null=True, blank=True)
    fetched_at = models.DateTimeField(null=True, blank=True)
    is_outdated = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(manifest_sha256__regex=SHA256), name="archived_hash_is_sha256"),
            models.CheckConstraint(condition=Q(size__gte=0), name="archived_size_not_negative"),
        ]


class ArchiveAttempt(models.Model):
    """A failed attempt to archive a sealed run, or to move its samples there: the problem, and the time of the next."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="archive_attempt")
    attempts = models.PositiveIntegerField()
    due_at = models.DateTimeField()
    problem = models.TextField(blank=True)
