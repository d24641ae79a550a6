"""Pages while a thousand connections send nothing, or a byte each second, and the same pages without them."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from apps.dispatch import api as dispatch
from bench import pages, rounds, servers, warehouse
from bench.connections import CONNECTIONS, CONNECTS_WITHIN, READY
from bench.context import Bench
from bench.rounds import Compared
from bench.servers import Connection, Failed
from config.launch import processes

RUNS = 1_000
BLOCKS = 8  # with the connections, and as many without
WARM_UP = 2
P95 = 0.95
WITHIN = 1_000.0  # ms


def measure(bench: Bench, folder: Path, *, port: int, url: str) -> None:
    warehouse.manage("seed_rig", "--runs", str(RUNS), "--series", "10", "--seconds", "100", "--add")
    _, secret = dispatch.register_agent(name="crowd", is_trusted=True)
    addresses, http = pages.addresses(url), Connection(port)
    for _ in range(WARM_UP):
        _visited(http, addresses)
    found: dict[bool, list[float]] = {True: [], False: []}
    for block in range(BLOCKS):
        for with_them in (True, False) if block % 2 == 0 else (False, True):
            if with_them:
                with _connected(folder, port, secret, number=block):
                    found[True] += _visited(http, addresses)
            else:
                found[False] += _visited(http, addresses)
    paired = rounds.compared(found[True], found[False])
    bench.report(
        key="crowd.pages", part="crowd",
        title=f"a page at {RUNS:,} runs, p95, while {CONNECTIONS:,} connections send nothing or drip",
        peer="the same without them", unit="ms", better="lower", limit_ours=WITHIN,
        found=Compared(
            ours=rounds.quantile(found[True], P95), theirs=rounds.quantile(found[False], P95),
            ratio=paired.ratio, low=paired.low, high=paired.high, rounds=paired.rounds,
        ),
    )  # fmt: skip


def _visited(http: Connection, addresses: Mapping[str, str]) -> list[float]:
    """ms of each page, in the same order each time."""
    return [1000 * http.send("GET", address)[1] for address in addresses.values()]


@contextmanager
def _connected(folder: Path, port: int, secret: str, *, number: int) -> Iterator[None]:
    """Raises Failed."""
    name = f"crowd-{number}"
    with servers.running(
        (sys.executable, "-m", "bench.connections", str(port), secret),
        folder=folder,
        name=name,
        env={"PATH": "/usr/bin:/bin"},
    ):
        deadline = time.monotonic() + CONNECTS_WITHIN
        while READY not in (folder / f"{name}.log").read_text():
            processes.Signals.check()
            if time.monotonic() > deadline:
                raise Failed(f"{CONNECTIONS:,} connections were not made within {CONNECTS_WITHIN:.0f} s")
            time.sleep(0.1)
        yield
