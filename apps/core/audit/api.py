"""Interface of this app for other apps; the rest is internal."""

from apps.core.audit.actions import Action
from apps.core.audit.actors import current_actor
from apps.core.audit.queries import AuditFilter, entries
from apps.core.audit.record import record

__all__ = ["Action", "AuditFilter", "current_actor", "entries", "record"]
