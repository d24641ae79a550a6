"""What the rules said of a run when it was sealed."""

from django.db import models

from apps.runs.models import Run


class UsePanel(models.Model):
    """The panel of one run, judged by the rules of `version`: `content` is an engine's Panel. A run sealed again, or
    rules that changed, make a new one in its place."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="use_panel")
    version = models.PositiveIntegerField()
    sealed_at = models.DateTimeField("seal of the run that it was judged on", null=True)
    content = models.JSONField()
    judged_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["run"]
