"""Descriptions of systems by AWS, and the collection of data about runs."""

from django.db import models
from django.db.models import Q

from apps.catalog.models import System
from apps.runs.models import Run


class Observation(models.Model):
    """AWS's last description of a system, at `seen_at`; `problem`: error of the last attempt, at `tried_at`.

    `instances`: [{"name", "role", "zone", "hardware_class", "status"}], the writer first. Their prices are the system's
    `aws_prices`.
    """

    system = models.OneToOneField(System, on_delete=models.CASCADE, primary_key=True, related_name="observation")
    tried_at = models.DateTimeField()
    seen_at = models.DateTimeField(null=True, blank=True)
    problem = models.TextField(blank=True)
    engine = models.CharField(max_length=60, blank=True)
    engine_version = models.CharField(max_length=80, blank=True)
    status = models.CharField(max_length=60, blank=True)
    endpoint = models.CharField(max_length=255, blank=True)
    storage = models.CharField(max_length=40, blank=True)
    instances = models.JSONField(default=list, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(seen_at__isnull=False) | ~Q(problem=""), name="sighting_or_its_problem")
        ]


class Collection(models.Model):
    """Collection of CloudWatch and RDS data about a finished run: tried at `due_at`, repeated until complete.

    `done_at`: stored with the run, or given up; `problem`: what is missing.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="collection")
    due_at = models.DateTimeField()
    attempts = models.PositiveIntegerField(default=0)
    problem = models.TextField(blank=True)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["due_at"], condition=Q(done_at=None), name="collection_due")]
