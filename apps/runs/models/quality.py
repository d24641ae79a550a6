"""Quality checks of runs, and exclusions of runs by users."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.runs.models.run import Run


class RunCheck(models.Model):
    """One quality check of one run. `evidence`: a sentence with the numbers that decide, which `detail` also holds;
    with the status `cannot_tell`, the missing data."""

    class Status(models.TextChoices):
        PASSED = "passed"
        FAILED = "failed"
        CANNOT_TELL = "cannot_tell", "cannot tell"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="checks", db_index=False)
    check_key = models.CharField("key of the check", max_length=40)
    status = models.CharField(max_length=12, choices=Status.choices)
    evidence = models.TextField()
    detail = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["run", "id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "check_key"], name="run_check_once"),
            models.CheckConstraint(
                condition=Q(status__in=["passed", "failed", "cannot_tell"]), name="run_check_status_known"
            ),
        ]


class Exclusion(models.Model):
    """A user's exclusion of a run from all comparisons, with its reason; `ended_at`: counted again since then."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="exclusions")
    reason = models.TextField()
    excluded_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    excluded_at = models.DateTimeField(auto_now_add=True)
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["run", "-id"]
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="exclusion_has_reason"),
            models.UniqueConstraint(fields=["run"], condition=Q(ended_at__isnull=True), name="exclusion_open_once"),
        ]
