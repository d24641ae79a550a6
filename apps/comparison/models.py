"""Decisions about comparisons: accepted differences, saved comparisons, pinned baselines."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.catalog.models import SHA256, System, Workload


class Acknowledgement(models.Model):
    """Acceptance by a person of a difference that withholds the verdict.

    `fingerprint` is the canonical hash of the group of fields ("hardware", "dataset", "workload"), the sides and their
    values. Another value needs another acknowledgement. `said` is the same, readable.
    """

    fingerprint = models.CharField(max_length=64)
    group = models.CharField(max_length=40)
    said = models.JSONField()
    reason = models.TextField()
    acknowledged_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    acknowledged_at = models.DateTimeField(auto_now_add=True)
    withdrawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(fingerprint__regex=SHA256), name="acknowledgement_hash_is_sha256"),
            models.CheckConstraint(condition=~Q(reason=""), name="acknowledgement_has_reason"),
            models.UniqueConstraint(
                fields=["fingerprint"], condition=Q(withdrawn_at__isnull=True), name="acknowledgement_open_once"
            ),
        ]


class SavedComparison(models.Model):
    """A comparison with its own address. `query`: its question, as in the address of Compare; the results are in its
    `snapshots`, of which the newest is shown."""

    slug = models.SlugField(max_length=100, unique=True)
    title = models.CharField(max_length=200)
    note = models.TextField(blank=True)
    query = models.JSONField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.CheckConstraint(condition=~Q(title=""), name="saved_comparison_has_title")]

    def __str__(self) -> str:
        return self.title


class Snapshot(models.Model):
    """Snapshot of a saved comparison, made when it was saved or refreshed. `content`: the API's response. `runs`: ids
    it is based on; `state_hash` changes when the same query selects other runs or gives another result."""

    comparison = models.ForeignKey(SavedComparison, on_delete=models.CASCADE, related_name="snapshots")
    number = models.PositiveIntegerField()
    content = models.JSONField()
    content_version = models.PositiveSmallIntegerField()
    runs = ArrayField(models.BigIntegerField())
    state_hash = models.CharField(max_length=64)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["comparison", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["comparison", "number"], name="snapshot_once"),
            models.CheckConstraint(condition=Q(state_hash__regex=SHA256), name="snapshot_hash_is_sha256"),
        ]


class PinnedBaseline(models.Model):
    """The default baseline of a workload's comparisons."""

    workload = models.OneToOneField(Workload, on_delete=models.CASCADE, related_name="pinned_baseline")
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="+")
    note = models.TextField(blank=True)
    pinned_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    pinned_at = models.DateTimeField(auto_now=True)
