"""What sampling by the agent costs the load that it watches: it is switched on and off within one run of the load.

Runs differ from each other by 6 %, neighbouring seconds of one run by less: each pair is two windows of the same run,
with and without an agent, in turns (A B, B A). The server has a processor of its own, load generator and agent share
another. The samplers, the encoding and the compression are the agent's; only the sending is left out.
"""

import os
import re
import statistics
import subprocess
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

PAIRS, WINDOW = 120, 5  # windows of so many seconds, the first of which is left out: sampling begins or ends in it
THREADS = 4
SCHEMA = "cost"
MOST = 0.99  # of the throughput without an agent
SECOND = re.compile(rb"\[ (\d+)s \] .*? tps: (\d+\.\d+)")


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
    server = MariaDB(folder / "cost")
    server.start()
    try:
        os.sched_setaffinity(0, cpus[1:])
        _pin(server, cpus[0])
        load = _load(server)
        found = _windows(load, _system(server), Spool(folder / "spool"))
    finally:
        os.sched_setaffinity(0, cpus)
        server.stop()
    bench.report(
        key="cost.throughput", part="cost", unit="transactions/s", better="higher", limit=MOST,
        title=f"sysbench oltp_read_write, {THREADS} threads, watched by an agent, {PAIRS} pairs of {WINDOW} s",
        peer="the same without an agent", found=rounds.compared(found["with"], found["without"]),
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
        f"--time={2 * PAIRS * WINDOW + WINDOW}",
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


def _windows(load: list[str], system: SystemConfig, spool: Spool) -> dict[str, list[float]]:
    """Mean transactions/s of each window, with an agent and without. Raises Failed."""
    recorder = Discarding(spool=spool, run="cost", minimum_free=0, flush_interval=5.0)
    order = [name for pair in range(PAIRS) for name in (("with", "without") if pair % 2 else ("without", "with"))]
    seconds: dict[int, float] = {}
    sampling: NodeSampling | None = None
    with subprocess.Popen(load, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None  # noqa: S101  (opened as a pipe)
        try:
            for line in process.stdout:
                processes.Signals.check()
                if (printed := SECOND.search(line)) is None:
                    continue
                second = int(printed[1])
                seconds[second] = float(printed[2])
                if sampling is not None:
                    recorder.tick()
                # The first window fills the buffer pool.
                place = second // WINDOW - 1
                wanted = 0 <= place < len(order) and order[place] == "with"
                if wanted and sampling is None:
                    sampling = NodeSampling(system, clock=RunClock(), recorder=recorder, tool=lambda: None)
                    sampling.start()
                elif not wanted and sampling is not None:
                    sampling.stop()
                    sampling = None
        finally:
            if sampling is not None:
                sampling.stop()
    found: dict[str, list[float]] = {"with": [], "without": []}
    for place, name in enumerate(order):
        start = (place + 1) * WINDOW
        own = [seconds[second] for second in range(start + 2, start + WINDOW + 1) if second in seconds]
        if len(own) < WINDOW - 2:
            raise Failed(f"sysbench printed {len(own)} of {WINDOW - 1} seconds of window {place + 1}")
        found[name].append(statistics.mean(own))
    return found
