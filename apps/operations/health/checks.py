"""The checks of the server's health; each reads one value and judges it. A DatabaseError is the caller's."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import redis
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, Window

from apps.core.server import restarts, space
from apps.core.text import and_list, counted
from apps.core.units import format_bytes
from apps.dispatch.api import AGENT_ALIVE_FOR
from apps.dispatch.models import ACTIVE, Agent, Job
from apps.notifications.models import Delivery
from apps.operations import certificates as watched
from apps.operations.health import services
from apps.operations.health.values import HealthVerdict
from apps.operations.models import Backup, WatchedCertificate
from apps.runs.api import RAW_BATCHES, UNREAD_BATCHES, archive, artifacts
from apps.runs.models import ArchiveAttempt, Artifact, Run

log = logging.getLogger(__name__)

# Verdict, value in the check's unit, and what to do.
Reading = tuple[HealthVerdict, float | None, str]

DAY, WEEK = timedelta(days=1), timedelta(days=7)
# Of the least room, below which writing ends.
LITTLE_ROOM = 4
STORE_ANSWERS_WITHIN = timedelta(seconds=3)
# A queued job may wait for others on its system; one that no agent takes is noticed earlier.
JOB_WAITS_LONG, JOB_WAITS_ALONE = DAY, timedelta(minutes=10)
# A seal takes seconds, and waits for samplers up to minutes; for what is missing a day, and its next attempt.
SEAL_IS_LATE, SEAL_IS_LOST = timedelta(minutes=15), timedelta(hours=26)
# Attempts; the third is made about a minute after the first. What was not due for so long is not tried any more.
ARCHIVE_FAILS, ARCHIVE_GAVE_UP = 3, timedelta(hours=2)
BACKUP_IS_OLD, BACKUP_IS_TOO_OLD = WEEK, timedelta(days=30)
# The worker takes tasks within seconds; many runs that end at once keep it busy for minutes.
TASK_IS_LATE, TASK_IS_LOST = timedelta(minutes=2), timedelta(minutes=15)
MANY_TASKS = 1_000
RENEW_WITHIN, LOOK_IS_OLD = timedelta(days=14), timedelta(hours=1)
NAMES_SHOWN = 5
NO_FILE = "none"  # asked for while there is none


def database(_now: datetime) -> Reading:
    return HealthVerdict.OK, _seconds(services.database_answers), ""


def broker(_now: datetime) -> Reading:
    try:
        return HealthVerdict.OK, _seconds(services.broker_answers), ""
    except redis.RedisError as error:
        log.warning("health: the broker does not answer: %s", error)
        return HealthVerdict.WRONG, None, "Start Valkey, or correct REDIS_URL; jobs and seals wait in the database."


def migrations(_now: datetime) -> Reading:
    missing = services.unapplied_migrations()
    if not missing:
        return HealthVerdict.OK, 0, ""
    return HealthVerdict.WRONG, len(missing), f"Run manage.py prepare; missing: {_named(missing)}."


def disks(_now: datetime) -> Reading:
    """The disk with the least room of those that can be seen."""
    free = {}
    for folder in settings.DISKS:
        try:
            free[folder] = space.free_bytes(folder)
        except OSError:  # not made yet, or another server's
            continue
    least = min(free, key=free.__getitem__, default=None)
    if (shortage := space.gate.shortage()) is not None:
        value = shortage.free if shortage.free is not None else free.get(least) if least else None
        return HealthVerdict.WRONG, value, f"Read-only: {shortage.sentence()}."
    if least is None:
        return HealthVerdict.UNKNOWN, None, "Name the folders that the server writes to in SPLASHBOARD_DISKS."
    if free[least] < LITTLE_ROOM * settings.LEAST_FREE_BYTES:
        limit = format_bytes(settings.LEAST_FREE_BYTES)
        return (
            HealthVerdict.WARNING,
            free[least],
            f"Free some space in {space.name_of(least)}, for example of old runs (delete_runs): "
            f"writing ends below {limit}.",
        )
    return HealthVerdict.OK, free[least], ""


def store(_now: datetime) -> Reading:
    """Looks for the newest artifact."""
    newest = Artifact.objects.order_by("-pk").only("sha256").first()
    began = time.perf_counter()
    pool = ThreadPoolExecutor(max_workers=1)
    try:
        asked = pool.submit(artifacts.is_stored, newest.sha256 if newest else NO_FILE)
        is_there = asked.result(STORE_ANSWERS_WITHIN.total_seconds())
    except artifacts.StoreClosed as error:
        return HealthVerdict.WRONG, None, f"Artifacts cannot be read or written: {error}."
    except (OSError, BotoCoreError, ClientError) as error:
        log.warning("health: the artifact store does not answer: %s", error)
        return HealthVerdict.WRONG, None, "Start the object store, or correct S3_ENDPOINT_URL, S3_BUCKET and its keys."
    finally:
        pool.shutdown(wait=False)
    if newest and not is_there:
        path = artifacts.path_of(newest.sha256)
        return HealthVerdict.WRONG, None, f"The newest artifact is missing: restore {path} from a backup."
    return HealthVerdict.OK, time.perf_counter() - began, ""


def queue(now: datetime) -> Reading:
    """Age of the oldest queued job that may begin."""
    ready = Job.objects.filter(Q(ready_at=None) | Q(ready_at__lte=now), state=Job.State.QUEUED)
    since = ready.order_by("queued_at").values_list("queued_at", flat=True).first()
    is_served = Agent.objects.filter(revoked_at=None, last_seen_at__gte=now - AGENT_ALIVE_FOR).exists()
    if since is None:
        return HealthVerdict.OK, None, ""
    age = now - since
    if age > JOB_WAITS_ALONE and not is_served:
        return HealthVerdict.WRONG, age.total_seconds(), "No agent is alive: start one, as on the page Agents."
    if age > JOB_WAITS_LONG:
        advice = "See on the campaign's page which agent the job waits for, or cancel it."
        return HealthVerdict.WARNING, age.total_seconds(), advice
    return HealthVerdict.OK, age.total_seconds(), ""


def tasks(now: datetime) -> Reading:
    """Time since the oldest task was sent that no worker has taken."""
    try:
        waiting = services.waiting_tasks()
    except redis.RedisError:
        return HealthVerdict.UNKNOWN, None, "Start Valkey first."
    if waiting.oldest is None:
        return HealthVerdict.OK, None, ""
    age = timedelta(seconds=max(0.0, now.timestamp() - waiting.oldest))
    if age <= TASK_IS_LATE:
        return HealthVerdict.OK, age.total_seconds(), ""
    verdict = HealthVerdict.WRONG if age > TASK_IS_LOST else HealthVerdict.WARNING
    return verdict, age.total_seconds(), f"{counted(waiting.count, 'task')} waiting: start the worker, or see its log."


def backlog(_now: datetime) -> Reading:
    """Number of tasks that no worker has taken."""
    try:
        count = services.waiting_tasks().count
    except redis.RedisError:
        return HealthVerdict.UNKNOWN, None, "Start Valkey first."
    if count <= MANY_TASKS:
        return HealthVerdict.OK, count, ""
    return HealthVerdict.WARNING, count, "See in the worker's log what keeps it busy, or start a second one."


def seals(now: datetime) -> Reading:
    """Time since the end of the run that has waited longest for its seal."""
    ended = Run.objects.filter(state=Run.State.ENDED).order_by("ended_at").values_list("pk", "ended_at")
    waiting = [(pk, now - ended_at) for pk, ended_at in ended if ended_at is not None]
    if not waiting:
        return HealthVerdict.OK, None, ""
    oldest, age = waiting[0]
    if age <= SEAL_IS_LATE:
        return HealthVerdict.OK, age.total_seconds(), ""
    verdict = HealthVerdict.WRONG if age > SEAL_IS_LOST else HealthVerdict.WARNING
    late = sum(each > SEAL_IS_LATE for _, each in waiting)
    advice = (
        f"{counted(late, 'run')} ended over {SEAL_IS_LATE.seconds // 60} minutes ago. "
        f"See on the page of run {oldest} what is missing; else the worker's log."
    )
    return verdict, age.total_seconds(), advice


def agents(now: datetime) -> Reading:
    """Agents that have reported before and no longer do."""
    silent = Agent.objects.filter(revoked_at=None, last_seen_at__lt=now - AGENT_ALIVE_FOR).annotate(
        is_busy=Exists(Job.objects.filter(agent=OuterRef("pk"), state__in=ACTIVE))
    )
    found = list(silent.values_list("name", "is_busy"))
    if not found:
        return HealthVerdict.OK, 0, ""
    verdict = HealthVerdict.WRONG if any(is_busy for _, is_busy in found) else HealthVerdict.WARNING
    return verdict, len(found), f"Start or revoke {_named([name for name, _ in found])}."


def failures(now: datetime) -> Reading:
    failed = Job.objects.filter(state=Job.State.FAILED, finished_at__gte=now - DAY).count()
    if not failed:
        return HealthVerdict.OK, 0, ""
    return HealthVerdict.WARNING, failed, "See the reasons on the pages of their campaigns."


def unread(now: datetime) -> Reading:
    """Runs with batches that could not be read."""
    kept = Artifact.objects.filter(name__in=(RAW_BATCHES, UNREAD_BATCHES), run__started_at__gte=now - WEEK)
    runs = list(kept.order_by("run_id").values_list("run_id", flat=True).distinct())
    if not runs:
        return HealthVerdict.OK, 0, ""
    advice = f"Update their agents; the batches are kept as files of {_named([f'run {run}' for run in runs])}."
    return HealthVerdict.WARNING, len(runs), advice


def archiving(now: datetime) -> Reading:
    """Runs that failed again and again to be archived, or their samples to be moved there."""
    if archive.configured() is None:
        return HealthVerdict.OK, None, ""
    failing = ArchiveAttempt.objects.filter(attempts__gte=ARCHIVE_FAILS, due_at__gte=now - ARCHIVE_GAVE_UP)
    numbered = failing.annotate(number=Window(Count("pk")))
    oldest = numbered.order_by("run_id").values_list("run_id", "problem", "number").first()
    if oldest is None:
        return HealthVerdict.OK, 0, ""
    run_id, problem, number = oldest
    return HealthVerdict.WARNING, number, f"Run {run_id}: {problem or 'see the log of the worker'}."


def deliveries(now: datetime) -> Reading:
    given_up = Delivery.objects.filter(given_up_at__gte=now - DAY).count()
    if not given_up:
        return HealthVerdict.OK, 0, ""
    return HealthVerdict.WARNING, given_up, "See the last answers on the page Notifications, and send them again there."


def backup(now: datetime) -> Reading:
    """Age of the newest backup."""
    newest = Backup.objects.first()
    if newest is None:
        return HealthVerdict.WARNING, None, "Run make backup."
    age = now - newest.taken_at
    if newest.damaged:
        lost = counted(newest.damaged, "artifact")
        advice = f"It lacks {lost}: restore what its manifest calls damaged from an older backup."
        return HealthVerdict.WRONG, age.total_seconds(), advice
    if age <= BACKUP_IS_OLD:
        return HealthVerdict.OK, age.total_seconds(), ""
    verdict = HealthVerdict.WRONG if age > BACKUP_IS_TOO_OLD else HealthVerdict.WARNING
    return verdict, age.total_seconds(), "Run make backup, best by a timer."


def certificates(now: datetime) -> Reading:
    """Time until the first certificate at a public address expires, as the worker saw it."""
    addresses = watched.addresses()
    seen = list(WatchedCertificate.objects.filter(address__in=addresses).order_by("expires_at"))
    known = [(each.expires_at, each.address) for each in seen if each.expires_at is not None]
    left = (known[0][0] - now).total_seconds() if known else None
    if left is not None and left < RENEW_WITHIN.total_seconds():
        return HealthVerdict.WRONG, left, f"Renew the certificate of {known[0][1]}; without it nobody gets in."
    if len(seen) < len(addresses) or any(each.looked_at < now - LOOK_IS_OLD for each in seen):
        return HealthVerdict.UNKNOWN, left, "The worker looks every ten minutes: see that it runs, and its log."
    unreached = [f"{each.address} ({each.problem})" for each in seen if each.problem]
    if unreached:
        return HealthVerdict.UNKNOWN, left, f"The server cannot look at it from where it runs: {_named(unreached)}."
    return HealthVerdict.OK, left, ""


def programs(now: datetime) -> Reading:
    """Programs that `make run` started again."""
    since = (now - DAY).timestamp()
    names = [each.name for each in restarts.read(settings.VAR_DIR) if each.at >= since]
    if not names:
        return HealthVerdict.OK, 0, ""
    advice = f"See why below, and the log of {_named(sorted(set(names)))} in var/log/."
    return HealthVerdict.WARNING, len(names), advice


def _seconds(call: Callable[[], None]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _named(names: list[str]) -> str:
    """The first few."""
    more = len(names) - NAMES_SHOWN
    return and_list([*names[:NAMES_SHOWN], *([f"{more:,} more"] if more > 0 else [])])
