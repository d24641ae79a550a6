"""Results of the USE rules for each run, judged when it was sealed."""

from django.db import models

from apps.runs.models import Run


class UsePanel(models.Model):
    """The panel of one run, judged by the rules of `version`: `content` is the engine's Panel. Replaced when the run is
    sealed again or the rules change."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="use_panel")
    version = models.PositiveIntegerField()
    sealed_at = models.DateTimeField("seal of the run that it was judged on", null=True)
    content = models.JSONField()
    judged_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["run"]
