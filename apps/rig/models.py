"""Whether the example study is wanted and complete."""

from django.db import models


class StudyState(models.Model):
    """One row once the study was asked for. `loaded_at`: null while it is being restored, `restored` of `wanted` runs
    at `changed_at`; `sha256`: of the archives that were loaded completely; `removed_at`: a user removed it, so that no
    start loads it again."""

    loaded_at = models.DateTimeField(null=True, blank=True)
    wanted = models.PositiveIntegerField(default=0)
    restored = models.PositiveIntegerField(default=0)
    changed_at = models.DateTimeField(null=True, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)
