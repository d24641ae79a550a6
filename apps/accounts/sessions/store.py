"""Django's sessions in a table that also names the person, so that a person's sessions can be listed and ended.

Ending one deletes its row; a request that is still under way with it cannot store it again.
"""

from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from apps.accounts.models import PersonSession
from apps.accounts.sessions.sessions import SEEN_WRITTEN_EVERY, SIGNED_IN


class SessionStore(DatabaseStore):
    @classmethod
    def get_model_class(cls) -> type[PersonSession]:
        return PersonSession

    def create_model_instance(self, data: dict[str, Any]) -> PersonSession:
        """Each save replaces the whole row, so that what the row states is also in the session's data."""
        row = super().create_model_instance(data)
        assert isinstance(row, PersonSession)  # noqa: S101  for mypy
        now = timezone.now()
        signed_in = data.get(SIGNED_IN, {})
        row.user_id = data.get(SESSION_KEY)
        row.started_at = parse_datetime(signed_in.get("at", "")) or now
        row.last_seen_at = now
        row.address, row.browser = signed_in.get("address", ""), signed_in.get("browser", "")
        return row

    def _get_session_from_db(self) -> PersonSession | None:
        row: PersonSession | None = super()._get_session_from_db()  # type: ignore[misc]  # the stubs lack it
        if row is not None:
            now = timezone.now()
            if row.last_seen_at < now - SEEN_WRITTEN_EVERY:
                PersonSession.objects.filter(pk=row.pk).update(last_seen_at=now)
        return row
