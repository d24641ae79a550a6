"""Watches the requests of all tests: what changes something must leave its action in the audit log."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.http import HttpRequest, HttpResponse

from apps.core.audit.middleware import KnowWhoActs
from tests.core.audit.routes import RECORDED

WRITES = re.compile(r'^\s*(?:INSERT INTO|UPDATE|DELETE FROM) "?(\w+)')
# Sessions, lock-outs, and when a token or an agent was last seen; what systems an agent reported; the log itself.
OF_NO_MATTER = {
    "accounts_personsession",
    "axes_accessattempt",
    "axes_accesslog",
    "axes_accessfailurelog",
    "accounts_apitoken",
}
# Rows that a plan needs, made while it is only looked at.
OF_NO_MATTER |= {"catalog_loadlevel", "catalog_metric", "catalog_workload", "catalog_release", "catalog_platform"}
OF_NO_MATTER |= {"dispatch_agent", "dispatch_agentsystem", "accounts_user", "aws_observation", "audit_auditentry"}
OF_NO_MATTER |= {"runs_allowance"}  # what may still be uploaded


@pytest.fixture(autouse=True)
def watched_changes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fails a test in which a request of people or programs changed something unrecorded."""
    missing: list[str] = []
    answer = KnowWhoActs.__call__

    def watched(self: KnowWhoActs, request: HttpRequest) -> HttpResponse:
        written: list[tuple[str, Any]] = []

        def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
            result = execute(sql, params, many, context)
            if table := WRITES.match(sql):
                written.append((table[1], params))
            return result

        with connection.execute_wrapper(note):
            response = answer(self, request)
        if request.method in ("GET", "HEAD", "OPTIONS") or response.status_code >= 400 or not request.resolver_match:
            return response
        wanted = RECORDED.get(request.resolver_match.view_name, set())
        actions = {text for table, values in written if table == "audit_auditentry" for text in map(str, values or ())}
        if wanted and {table for table, _ in written} - OF_NO_MATTER and not wanted & actions:
            missing.append(f"{request.method} {request.path} wrote {sorted({table for table, _ in written})}")
        return response

    monkeypatch.setattr(KnowWhoActs, "__call__", watched)
    yield
    assert not missing, "changes without an entry in the audit log"
