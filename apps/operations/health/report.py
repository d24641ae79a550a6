"""The server's health in one place: one row for each check."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import Error as DatabaseError

from apps.operations.health import checks
from apps.operations.health.values import HealthRow, HealthVerdict

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class HealthCheck:
    """`unit` of the value: "s", "bytes" or "count"."""

    key: str
    title: str
    unit: str
    read: Callable[[datetime], checks.Reading]

    def row(self, now: datetime) -> HealthRow:
        try:
            verdict, value, advice = self.read(now)
        except DatabaseError as error:
            log.warning("health: %s could not be read: %s", self.key, error)
            is_database = self.key == DATABASE
            verdict, value = HealthVerdict.WRONG if is_database else HealthVerdict.UNKNOWN, None
            advice = "Start PostgreSQL, or correct DATABASE_URL." if is_database else "Mend the database first."
        return HealthRow(self.key, self.title, verdict, value, self.unit, advice)


DATABASE = "database"
CHECKS = (
    HealthCheck(DATABASE, "Database, response time", "s", checks.database),
    HealthCheck("broker", "Valkey, response time", "s", checks.broker),
    HealthCheck("migrations", "Unapplied migrations", "count", checks.migrations),
    HealthCheck("disks", "Free disk space", "bytes", checks.disks),
    HealthCheck("store", "Artifact store, response time", "s", checks.store),
    HealthCheck("queue", "Oldest queued job", "s", checks.queue),
    HealthCheck("tasks", "Oldest task that waits for the worker", "s", checks.tasks),
    HealthCheck("backlog", "Tasks that wait for the worker", "count", checks.backlog),
    HealthCheck("seals", "Oldest unsealed run", "s", checks.seals),
    HealthCheck("agents", "Silent agents", "count", checks.agents),
    HealthCheck("failures", "Failed jobs, 24 h", "count", checks.failures),
    HealthCheck("unread", "Runs with unreadable batches, 7 d", "count", checks.unread),
    HealthCheck("archive", "Runs not archived or moved, 3 attempts", "count", checks.archiving),
    HealthCheck("deliveries", "Deliveries given up, 24 h", "count", checks.deliveries),
    HealthCheck("backup", "Age of the last backup", "s", checks.backup),
    HealthCheck("certificates", "Certificate, time left", "s", checks.certificates),
    HealthCheck("programs", "Restarted programs, 24 h", "count", checks.programs),
)


def report(*, now: datetime) -> list[HealthRow]:
    """One row for each check, the worst first. A constant number of queries."""
    order = list(HealthVerdict)
    return sorted((check.row(now) for check in CHECKS), key=lambda row: order.index(row.verdict))
