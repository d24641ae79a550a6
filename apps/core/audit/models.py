"""The audit log's one table."""

from django.db import models
from django.utils import timezone


class AuditEntry(models.Model):
    """One change. Names are copied, not referenced: an entry outlives the person, token or agent that it names."""

    class Kind(models.TextChoices):
        PERSON = "person"
        TOKEN = "token"  # noqa: S105  a kind
        AGENT = "agent"
        COMMAND = "command"
        NOBODY = "nobody"

    at = models.DateTimeField(default=timezone.now)
    kind = models.CharField(max_length=8)
    who = models.CharField(max_length=150)
    credential = models.CharField(max_length=100)
    address = models.CharField(max_length=45)
    action = models.CharField(max_length=40)
    subject = models.CharField(max_length=200)
    before = models.CharField(max_length=300)
    after = models.CharField(max_length=300)

    class Meta:
        indexes = [
            models.Index(fields=["who", "-id"], name="audit_by_who"),
            models.Index(fields=["action", "-id"], name="audit_by_action"),
            models.Index(fields=["at"], name="audit_by_time"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=["person", "token", "agent", "command", "nobody"]), name="audit_kind_known"
            )
        ]
