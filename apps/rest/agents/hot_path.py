"""Stores agents' batches before Django: they need no session, language or form, and are very frequent.

A batch that is not stored here is passed unchanged to Django, which produces the error response.
"""

import io
import logging
import re
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.core.signals import request_started
from django.db import Error, connection
from django.utils import timezone

from apps.dispatch.api import hot_path
from apps.runs.api import accept

log = logging.getLogger(__name__)
BATCH = re.compile(r"/api/v1/agent/runs/([0-9a-f-]{36})/batches/([0-9]{1,10})")
SECRET = re.compile(r"Agent ([!-~]+)", re.IGNORECASE)


class Express:
    """A WSGI application that wraps another."""

    def __init__(self, application: Any) -> None:
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        place = BATCH.fullmatch(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] == "PUT" else None
        caller = SECRET.fullmatch(environ.get("HTTP_AUTHORIZATION", "")) if place else None
        length = environ.get("CONTENT_LENGTH") or ""
        if place and caller and length.isascii() and length.isdigit() and 0 < int(length[:18]) <= accept.MAX_BATCH:
            payload = environ["wsgi.input"].read(int(length))
            environ["wsgi.input"] = io.BytesIO(payload)
            run_id = self._store(environ, place, caller[1], payload)
            if run_id is not None:
                body = b'{"run":%d}' % run_id
                headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
                start_response("201 Created", headers)
                return [body]
        answer: Iterable[bytes] = self._application(environ, start_response)
        return answer

    def _store(self, environ: dict[str, Any], place: re.Match[str], secret: str, payload: bytes) -> int | None:
        """Id of the run; None: not stored here."""
        try:
            uid = UUID(place[1])
        except ValueError:
            return None
        checksum = environ.get("HTTP_X_CHECKSUM", "").strip().lower()
        # As Django does, so that its connections are managed.
        request_started.send(sender=type(self), environ=environ)
        try:
            return hot_path.store(
                secret=secret,
                uid=uid,
                sequence=int(place[2]),
                checksum=checksum,
                payload=payload,
                now=timezone.now(),
            )
        except Error:
            log.exception("a batch of run %s could not be stored on the first attempt", uid)
            connection.close()
            return None
