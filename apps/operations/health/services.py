"""What every request needs: the database, Valkey, and all migrations applied."""

import logging
from datetime import timedelta
from functools import cache

import redis
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

log = logging.getLogger(__name__)

BROKER_ANSWERS_WITHIN = timedelta(seconds=1)
DATABASE, BROKER, MIGRATIONS = "database", "Valkey", "migrations"


def database_answers() -> None:
    """Raises DatabaseError if the database does not answer."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def broker_answers() -> None:
    """Raises redis.RedisError if Valkey does not answer within BROKER_ANSWERS_WITHIN."""
    seconds = BROKER_ANSWERS_WITHIN.total_seconds()
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=seconds, socket_connect_timeout=seconds)
    try:
        client.ping()
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
