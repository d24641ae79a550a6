"""Whether the example study is wanted."""

from django.db import models


class StudyState(models.Model):
    """One row once the study was loaded. `sha256`: of the archives that were loaded completely; `removed_at`: a user
    removed it, so that no start loads it again."""

    loaded_at = models.DateTimeField()
    sha256 = models.CharField(max_length=64, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)
