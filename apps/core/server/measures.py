"""What this server's processes count of themselves, for Prometheus.

Each process writes files of its own below PROMETHEUS_MULTIPROC_DIR, and whoever is asked sums them; without that
variable, as in tests, a process knows only of itself.
"""

import os
import socket
from collections.abc import Iterable
from pathlib import Path

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest, multiprocess, values
from prometheus_client.registry import Collector

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
# Key of a request's environ for the name of its address.
ROUTE = "splashboard.route"
# Header of a task's message: when it was sent, s since 1970.
SENT = "sent_at"
if os.environ.get(FOLDER):
    Path(os.environ[FOLDER]).mkdir(parents=True, exist_ok=True)
    # By host as well: containers that share the folder have equal process ids.
    named = values.MultiProcessValue(lambda: f"{socket.gethostname()}-{os.getpid()}")  # type: ignore[no-untyped-call]
    values.ValueClass = named

UNUSED_AFTER = 24 * 3600.0  # s
UP_TO = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # s
REQUESTS = Counter(
    "splashboard_http_requests", "Answered requests, by address's name and status", ("method", "route", "status")
)
REQUEST_SECONDS = Histogram(
    "splashboard_http_request_seconds", "Time until an answer begins, s", ("kind",), buckets=UP_TO
)
TASKS = Counter("splashboard_tasks", "Ended tasks of the worker", ("task", "outcome"))
TASK_SECONDS = Histogram("splashboard_task_seconds", "Duration of a task of the worker, s", ("task",), buckets=UP_TO)


def remove_ended(*, now: float) -> None:
    """Removes files that no process has written to for a day. Call it before the processes start: counts without those
    of a file begin anew. A running process writes often, since probes and the beat are counted."""
    if os.environ.get(FOLDER):
        for file in Path(os.environ[FOLDER]).glob("*.db"):
            if file.stat().st_mtime < now - UNUSED_AFTER:
                file.unlink(missing_ok=True)


def exposition(now: Iterable[Collector]) -> bytes:
    """All counts, and what `now` collects when asked, in Prometheus' text format."""
    registry = CollectorRegistry()
    if os.environ.get(FOLDER):
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(REGISTRY)
    for each in now:
        registry.register(each)
    return generate_latest(registry)
