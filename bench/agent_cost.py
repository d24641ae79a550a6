"""What sampling by the agent costs the load that it watches: interleaved pairs of runs, with and without it.

The server has a processor of its own, load generator and agent share another. The samplers, the encoding and the
compression are the agent's; only the sending is left out.
"""

import os
import re
import statistics
import subprocess
import time
from collections.abc import Callable
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

PAIRS = 44
SECONDS, THREADS = 8, 4
SCHEMA = "cost"
MOST = 0.99  # of the throughput without an agent
DONE = re.compile(rb"transactions: +\d+ +\((\d+\.\d+) per sec\.\)")


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
        system = _system(server)
        spool = Spool(folder / "spool")
        sides: dict[str, Callable[[], float]] = {
            "with": lambda: _sampled(system, spool, load),
            "without": lambda: _throughput(load),
        }
        _throughput(load)  # fills the buffer pool
        found = rounds.interleaved(sides, rounds=PAIRS, pause=0.5)
    finally:
        os.sched_setaffinity(0, cpus)
        server.stop()
    bench.report(
        key="cost.throughput", part="cost", unit="transactions/s", better="higher", limit=MOST,
        title=f"sysbench oltp_read_write, {THREADS} threads, watched by an agent, {PAIRS} pairs of {SECONDS} s",
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
    return ["sysbench", "oltp_read_write", *where, f"--threads={THREADS}", f"--time={SECONDS}", "run"]


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


def _sampled(system: SystemConfig, spool: Spool, load: list[str]) -> float:
    recorder = Discarding(spool=spool, run="cost", minimum_free=0, flush_interval=5.0)
    sampling = NodeSampling(system, clock=RunClock(), recorder=recorder, tool=lambda: None)
    sampling.start()
    try:
        return _throughput(load, meanwhile=recorder.tick)
    finally:
        sampling.stop()


def _throughput(load: list[str], *, meanwhile: Callable[[], None] = lambda: None) -> float:
    """Transactions/s. Raises Failed."""
    with subprocess.Popen(load, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None  # noqa: S101  (opened as a pipe)
        while process.poll() is None:
            processes.Signals.check()
            meanwhile()
            time.sleep(0.2)
        output = process.stdout.read()
    found = DONE.search(output)
    if found is None:
        raise Failed(f"sysbench printed no throughput: {output[-300:].decode(errors='replace')}")
    return float(found[1])
