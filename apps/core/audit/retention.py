"""The documented way to shorten the audit log."""

from datetime import datetime, timedelta

from django.db import connection, transaction

from apps.core.audit.actions import Action
from apps.core.audit.models import AuditEntry
from apps.core.audit.record import record
from apps.core.problems import FieldProblem, Invalid

SHORTEST_KEPT = timedelta(days=90)  # the trigger in migration 0001 refuses younger rows, whoever asks


@transaction.atomic
def prune(*, before: datetime, now: datetime) -> int:
    """Delete entries older than `before`, and record that; returns how many. Raises Invalid (`before`)."""
    if before > now - SHORTEST_KEPT:
        remedy = f"give a time at least {SHORTEST_KEPT.days} days ago"
        raise Invalid([FieldProblem("before", f"entries of the last {SHORTEST_KEPT.days} days are kept", remedy)])
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL splashboard.prune_audit = 'on'")
        deleted, _ = AuditEntry.objects.filter(at__lt=before).delete()
        cursor.execute("SET LOCAL splashboard.prune_audit = 'off'")
    record(Action.AUDIT_PRUNE, f"entries before {before:%Y-%m-%d %H:%M} UTC", before=f"{deleted:,} entries")
    return deleted
