"""Reading the audit log."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from django.db.models import QuerySet

from apps.core.audit.models import AuditEntry


@dataclass(frozen=True)
class AuditFilter:
    """Empty: all. `since` and `until`: days in UTC, both inclusive."""

    who: str = ""
    action: str = ""
    since: date | None = None
    until: date | None = None


def entries(chosen: AuditFilter) -> "QuerySet[AuditEntry]":
    """The newest first."""
    found = AuditEntry.objects.order_by("-id")
    if chosen.who:
        found = found.filter(who=chosen.who)
    if chosen.action:
        found = found.filter(action=chosen.action)
    if chosen.since is not None:
        found = found.filter(at__gte=datetime.combine(chosen.since, time.min, tzinfo=UTC))
    if chosen.until is not None:
        found = found.filter(at__lte=datetime.combine(chosen.until, time.max, tzinfo=UTC))
    return found
