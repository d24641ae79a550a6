"""The stores that we start ourselves, PostgreSQL and Valkey: both at once, and each again when it ended."""

import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from config.launch import postgres, processes, valkey
from config.launch.children import STORES, Children
from config.launch.console import LaunchProblem, LaunchStep, Screen
from config.launch.places import Places

STARTS_WITHIN = 300.0  # s; recovery after a crash takes minutes where much was written


@dataclass(frozen=True)
class Store:
    """`start` raises LaunchProblem; `is_ready` takes the process id; `signum` asks for an orderly end."""

    name: str
    signum: signal.Signals
    start: Callable[[], "subprocess.Popen[bytes]"]
    is_ready: Callable[[int], bool]
    why_not: Callable[[], LaunchProblem]


@dataclass(frozen=True)
class Stores:
    """`own`: those that were not given by a URL; `data`: the folder of our PostgreSQL."""

    database_url: str
    redis_url: str
    own: tuple[Store, ...]
    data: Path | None


def prepare(places: Places, screen: Screen, *options: str) -> Stores:
    """Everything but the start. `options`: further settings of our PostgreSQL. Raises LaunchProblem."""
    database_url, redis_url = places.database_url, places.redis_url
    own: list[Store] = []
    data = None
    if not database_url:
        cluster = postgres.prepare(places=places, screen=screen)
        database_url, data = cluster.url, cluster.data
        start = partial(postgres.start, cluster, *options)
        is_ready, why_not = partial(postgres.is_ready, cluster), partial(postgres.why_not, cluster)
        own.append(Store("postgres", signal.SIGINT, start, is_ready, why_not))
    if not redis_url:
        broker = valkey.prepare(places=places)
        redis_url = broker.url
        start = partial(valkey.start, broker)
        why_not = partial(valkey.why_not, broker)
        own.append(Store("valkey", signal.SIGTERM, start, lambda _pid: valkey.is_ready(broker), why_not))
    return Stores(database_url, redis_url, tuple(own), data)


def launch(store: Store, children: Children) -> None:
    """Returns before it is ready. Raises LaunchProblem."""
    children.add(store.name, store.start(), rank=STORES, signum=store.signum)


def start_stores(places: Places, children: Children, screen: Screen, *options: str) -> Stores:
    """Starts each store without a given URL, both at once; returns when they are ready. Raises LaunchProblem.

    `options`: further settings of our PostgreSQL.
    """
    stores = prepare(places, screen, *options)
    for store in stores.own:
        launch(store, children)
    step = LaunchStep(screen, "Starting the database and the broker")
    while not all(store.is_ready(children.process(store.name).pid) for store in stores.own):
        processes.Signals.check()
        ended = [name for name, _ in children.ended()]
        for store in stores.own:
            if store.name in ended:
                raise store.why_not()
        if step.elapsed > STARTS_WITHIN:
            raise LaunchProblem(
                f"The database or the broker is not ready after {step.elapsed:.0f} s: see {places.log}."
            )
        step.tick()
        time.sleep(0.02)
    step.done()
    # For `make manage` and `make env`.
    places.keep("database_url", stores.database_url)
    places.keep("redis_url", stores.redis_url)
    return stores
