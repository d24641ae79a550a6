"""Whether the example study is wanted."""

from django.db import models


class StudyState(models.Model):
    """One row once the study was loaded. `removed_at`: a user removed it, so that no start loads it again."""

    loaded_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True, blank=True)
