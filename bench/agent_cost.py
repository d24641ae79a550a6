"""What sampling by the agent costs the load that it watches: some seconds of one run of the load have a sample.

Runs differ from each other by 6 %, and so do minutes of one run on a busy machine: each pair is two neighbouring
seconds, of which one, by chance, has a sample at its beginning. The server has a processor of its own, load generator
and agent share another. The samplers, the encoding and the compression are the agent's; only the sending is left out.
"""

import os
import random
import re
import statistics
import subprocess
import threading
from pathlib import Path

from bench import rounds
from bench.context import Bench
from bench.servers import Failed
from config.launch import processes
from lab.mariadb import ACCOUNT, MariaDB
from workers.agent.measure.clock import RunClock
from workers.agent.measure.nodes import NodeSampling
from workers.agent.measure.recorder import SampleRecorder
from workers.agent.runtime.config import NodeConfig, ServerAddress, SystemConfig
from workers.agent.runtime.spool import Spool

PAIRS = 1000
FILLING = 10  # s at the beginning, which fill the buffer pool and open the samplers' connections
SEED = 1
# The CPU alone limits it: what the agent takes is missing, and waits for a disk would hide it.
WITHOUT_DISK = {"innodb_flush_log_at_trx_commit": "0"}
LOOK = 1.0  # s between looks whether sampling has ended
THREADS = 4
SCHEMA = "cost"
MOST = 0.99  # of the throughput without an agent
SECOND = re.compile(rb"\[ (\d+)s \] .*? tps: (\d+\.\d+)")


class OnDemand(RunClock):
    """Each sampler takes one sample at each `allow`, at once."""

    def __init__(self) -> None:
        super().__init__()
        self._allowed = threading.Condition()
        self._count = 0
        self._taken: dict[int, int] = {}  # thread -> the count at its last sample

    def allow(self) -> None:
        with self._allowed:
            self._count += 1
            self._allowed.notify_all()

    def wait(self, event: threading.Event, timeout: float) -> bool:
        del timeout
        own = threading.get_ident()
        with self._allowed:
            while not event.is_set() and self._taken.get(own, 0) == self._count:
                self._allowed.wait(LOOK)  # nobody notifies of the event
            self._taken[own] = self._count
        return event.is_set()


class Discarding(SampleRecorder):
    """Encodes and compresses as the agent does, and keeps nothing."""

    def write_batch(self, sequence: int, payload: bytes) -> None:
        del sequence, payload


def measure(bench: Bench, folder: Path) -> None:
    """Raises Failed on a machine with one processor."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Failed("the agent's cost needs two processors: one for the server, one for load generator and agent")
    folder.chmod(0o711)  # the server runs as user mysql
    server = MariaDB(folder / "cost", settings=WITHOUT_DISK)
    server.start()
    try:
        os.sched_setaffinity(0, cpus[1:])
        _pin(server, cpus[0])
        load = _load(server)
        found = _seconds(load, _system(server), Spool(folder / "spool"))
    finally:
        os.sched_setaffinity(0, cpus)
        server.stop()
    bench.report(
        key="cost.throughput", part="cost", unit="transactions/s", better="higher", limit=MOST,
        title=f"sysbench oltp_read_write, {THREADS} threads, watched by an agent, {PAIRS} pairs of seconds",
        peer="the same without an agent", found=rounds.of_many(found["with"], found["without"]),
    )  # fmt: skip
    spread = statistics.stdev(a / b for a, b in zip(found["with"], found["without"], strict=True))
    bench.say(f"standard deviation of the pairs' ratios: {spread:.4f}")


def _pin(server: MariaDB, cpu: int) -> None:
    for task in os.listdir(f"/proc/{server.pid}/task"):
        os.sched_setaffinity(int(task), {cpu})


def _load(server: MariaDB) -> list[str]:
    server.sql(f"CREATE DATABASE {SCHEMA}")
    where = ["--mysql-host=127.0.0.1", f"--mysql-port={server.port}", f"--mysql-user={ACCOUNT}"]
    where += [f"--mysql-password={server.password}", f"--mysql-db={SCHEMA}", "--tables=2", "--table-size=10000"]
    subprocess.run(["sysbench", "oltp_read_write", *where, "prepare"], check=True, stdout=subprocess.DEVNULL)
    return [
        "sysbench",
        "oltp_read_write",
        *where,
        f"--threads={THREADS}",
        f"--time={2 * PAIRS + FILLING + 1}",
        "--report-interval=1",
        "run",
    ]


def _system(server: MariaDB) -> SystemConfig:
    address = ServerAddress(port=server.port)
    return SystemConfig(
        slug="cost",
        name="cost",
        platform="mariadb",
        hardware_class="box",
        address=address,
        user=ACCOUNT,
        password=server.password,
        database=SCHEMA,
        nodes=(NodeConfig(name="db1", role="writer", zone="", address=address, local=True),),
        settings={},
    )


def _seconds(load: list[str], system: SystemConfig, spool: Spool) -> dict[str, list[float]]:
    """Transactions/s of each second, with a sample and without; a pair has the same place in both. Raises Failed."""
    # Half of the seconds have a sample: every fifth of these ends a batch, as with an agent.
    recorder = Discarding(spool=spool, run="cost", minimum_free=0, flush_interval=10.0)
    chance = random.Random(SEED)  # noqa: S311 - no secret
    order = [
        name for _ in range(PAIRS) for name in chance.choice([("with", "without"), ("without", "with")])
    ]  # of the seconds after FILLING
    seconds: dict[int, float] = {}
    clock = OnDemand()
    sampling = NodeSampling(system, clock=clock, recorder=recorder, tool=lambda: None)
    with subprocess.Popen(load, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None  # noqa: S101  (opened as a pipe)
        sampling.start()
        try:
            for line in process.stdout:
                processes.Signals.check()
                if (printed := SECOND.search(line)) is None:
                    continue
                second = int(printed[1])
                seconds[second] = float(printed[2])
                place = second - FILLING  # of the second that begins
                if place < 0 or (place < len(order) and order[place] == "with"):
                    clock.allow()
                    recorder.tick()
        finally:
            sampling.stop()
    found: dict[str, list[float]] = {"with": [], "without": []}
    for place, name in enumerate(order):
        if (second := FILLING + place + 1) not in seconds:
            raise Failed(f"sysbench did not print second {second}")
        found[name].append(seconds[second])
    return found
