"""What AWS said of systems and runs, and when."""

from django.db import models
from django.db.models import Q

from apps.catalog.models import System
from apps.runs.models import Run


class Sighting(models.Model):
    """A system as AWS described it last, at `seen_at`; `problem`: what the last attempt, at `tried_at`, did not give.

    `instances`: [{"name", "role", "zone", "hardware_class", "status"}], the writer first. `prices`: instance class ->
    {"usd_per_hour", "source", "asked_at"}, on demand; null: the price list has none that fits.
    """

    system = models.OneToOneField(System, on_delete=models.CASCADE, primary_key=True, related_name="sighting")
    tried_at = models.DateTimeField()
    seen_at = models.DateTimeField(null=True, blank=True)
    problem = models.TextField(blank=True)
    engine = models.CharField(max_length=60, blank=True)
    engine_version = models.CharField(max_length=80, blank=True)
    status = models.CharField(max_length=60, blank=True)
    endpoint = models.CharField(max_length=255, blank=True)
    storage = models.CharField(max_length=40, blank=True)
    instances = models.JSONField(default=list, blank=True)
    prices = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(seen_at__isnull=False) | ~Q(problem=""), name="sighting_or_its_problem")
        ]


class Collection(models.Model):
    """What CloudWatch and RDS are to tell of a run that has ended: asked at `due_at`, again until all is there.

    `done_at`: it is kept with the run, or given up; `problem` says what is missing.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="collection")
    due_at = models.DateTimeField()
    attempts = models.PositiveIntegerField(default=0)
    problem = models.TextField(blank=True)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["due_at"], condition=Q(done_at=None), name="collection_due")]
