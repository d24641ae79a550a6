"""What every request needs: the database, Valkey, and all migrations applied."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

import redis
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from kombu.transport.redis import PRIORITY_STEPS, Channel

from apps.core.server.measures import SENT

log = logging.getLogger(__name__)

BROKER_ANSWERS_WITHIN = timedelta(seconds=1)
QUEUE = "celery"  # Celery's usual one; tasks of other priorities are in lists of their own beside it
DATABASE, BROKER, MIGRATIONS = "database", "Valkey", "migrations"


def database_answers() -> None:
    """Raises DatabaseError if the database does not answer."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def broker_answers() -> None:
    """Raises redis.RedisError if Valkey does not answer within BROKER_ANSWERS_WITHIN."""
    with _broker() as client:
        client.ping()


@dataclass(frozen=True)
class WaitingTasks:
    """Tasks that no worker has taken. `oldest`: when the one that is next was sent, s since 1970; None: unknown."""

    count: int
    oldest: float | None


def waiting_tasks() -> WaitingTasks:
    """Raises redis.RedisError. The oldest is of usual priority: others wait for those on purpose."""
    with _broker() as client, client.pipeline() as asked:
        asked.lindex(QUEUE, -1)
        for priority in PRIORITY_STEPS:
            asked.llen(f"{QUEUE}{Channel.sep}{priority}" if priority else QUEUE)
        message, *lengths = asked.execute()
    return WaitingTasks(sum(lengths), _sent_at(message))


def _sent_at(message: bytes | None) -> float | None:
    try:
        sent = json.loads(message or b"{}").get("headers", {}).get(SENT)
    except (ValueError, AttributeError):
        return None
    return float(sent) if isinstance(sent, int | float) else None


@contextmanager
def _broker() -> "Iterator[redis.Redis]":
    seconds = BROKER_ANSWERS_WITHIN.total_seconds()
    client: Any = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=seconds, socket_connect_timeout=seconds)
    try:
        yield client
    finally:
        client.close()


def unapplied_migrations() -> list[str]:
    """As "app.name", sorted. Raises DatabaseError."""
    missing = _shipped() - MigrationRecorder(connection).applied_migrations().keys()
    return sorted(f"{app}.{name}" for app, name in missing)


def missing_services() -> dict[str, str]:
    """DATABASE, BROKER and MIGRATIONS, as far as they are missing: why, and what to do. It names no address."""
    missing = {}
    try:
        database_answers()
        if unapplied_migrations():
            missing[MIGRATIONS] = "the database lacks migrations of this release; run manage.py prepare"
    except DatabaseError as error:
        log.warning("health: the database does not answer: %s", error)
        missing[DATABASE] = "the database does not answer; see DATABASE_URL and the server's log"
        missing[MIGRATIONS] = "unknown while the database does not answer"
    try:
        broker_answers()
    except redis.RedisError as error:
        log.warning("health: the broker does not answer: %s", error)
        missing[BROKER] = "the broker does not answer; see REDIS_URL. Reading works, dispatch waits"
    return missing


@cache
def _shipped() -> frozenset[tuple[str, str]]:
    """App and name of each migration; their files do not change while a process runs."""
    return frozenset(MigrationLoader(None).disk_migrations or ())
