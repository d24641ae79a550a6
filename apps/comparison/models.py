"""What people decide about comparisons: differences they accept, comparisons they keep, baselines they pin."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.catalog.models import SHA256, System, Workload


class Acknowledgement(models.Model):
    """That a person compares sides in spite of a difference that withholds the verdict.

    `fingerprint` is the canonical hash of what was accepted: the group of fields ("hardware", "dataset", "workload"),
    the sides and their values. Another value needs another acknowledgement. `said` is the same for people to read.
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
    """A comparison with an address of its own. `query` is what it asks (as the address of Compare has it); what was
    seen is in its editions, the newest of which is shown."""

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


class Edition(models.Model):
    """What a saved comparison showed when it was made or refreshed: `content` in the form that the API answers,
    frozen. `runs` are those it rests on; `state_hash` tells whether the same question would be answered from other
    runs, or otherwise, today."""

    comparison = models.ForeignKey(SavedComparison, on_delete=models.CASCADE, related_name="editions")
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
            models.UniqueConstraint(fields=["comparison", "number"], name="edition_once"),
            models.CheckConstraint(condition=Q(state_hash__regex=SHA256), name="edition_hash_is_sha256"),
        ]


class PinnedBaseline(models.Model):
    """The system that a workload's comparisons are held against unless another is chosen."""

    workload = models.OneToOneField(Workload, on_delete=models.CASCADE, related_name="pinned_baseline")
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="+")
    note = models.TextField(blank=True)
    pinned_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    pinned_at = models.DateTimeField(auto_now=True)
