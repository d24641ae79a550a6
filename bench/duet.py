"""How much narrower two servers' ratio gets when both are measured at once, each on half of the machine (a duet).

Bulej et al., "Duet benchmarking", ICPE 2020. Each block has the first server alone for SECONDS, the second alone for as
long, and both at once for twice as long: as much of the machine's time. Halves are swapped from block to block.
"""

import math
import os
import re
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench import results
from bench.context import Bench
from bench.servers import Failed
from config.launch import processes
from lab.mariadb import ACCOUNT, MariaDB

BLOCKS = 40
SECONDS, WARM_UP = 5, 1
THREADS = 4
SCHEMA = "duet"
LOAD = "oltp_read_write"
# Of the second server, so that both ways have a true difference to show.
SLOWER = {"slow_query_log": "1", "long_query_time": "0"}
# As in bench/agent_cost.py, the processors alone limit both.
SETTINGS = {"innodb_flush_log_at_trx_commit": "0"}
RESAMPLED = 4000
SECOND = re.compile(r"\[ (\d+)s \] .*? tps: (\d+\.\d+)")


def measure(bench: Bench, folder: Path) -> None:
    """Raises Failed on a machine with one processor."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Failed("a duet needs two processors, one for each half")
    halves = cpus[: len(cpus) // 2], cpus[len(cpus) // 2 : len(cpus) // 2 * 2]
    folder.chmod(0o711)  # the servers run as user mysql
    one = MariaDB(folder / "duet-1", settings=SETTINGS)
    other = MariaDB(folder / "duet-2", settings={**SETTINGS, **SLOWER})
    servers = one, other
    alone, duet = list[float](), list[float]()
    try:
        for server in servers:
            server.start()
            server.sql(f"CREATE DATABASE {SCHEMA}")
            subprocess.run([*_sysbench(server, 1), "prepare"], check=True, stdout=subprocess.DEVNULL)
        for block in range(BLOCKS):
            processes.Signals.check()
            order = servers if block % 2 == 0 else servers[::-1]
            rates = {server: _rates([(server, cpus)], SECONDS)[0] for server in order}
            alone.append(math.log(rates[other] / rates[one]))
            first, second = _rates(list(zip(order, halves, strict=True)), 2 * SECONDS)
            duet.append(math.log(second / first) * (1 if block % 2 == 0 else -1))
    finally:
        for server in servers:
            server.stop()
    _report(bench, np.array(alone), np.array(duet))


def _sysbench(server: MariaDB, seconds: int) -> Sequence[str]:
    where = ["--mysql-host=127.0.0.1", f"--mysql-port={server.port}", f"--mysql-user={ACCOUNT}"]
    where += [f"--mysql-password={server.password}", f"--mysql-db={SCHEMA}", "--tables=2", "--table-size=10000"]
    return ["sysbench", LOAD, *where, f"--threads={THREADS}", f"--time={seconds}", "--report-interval=1"]


def _rates(sides: Sequence[tuple[MariaDB, Sequence[int]]], seconds: int) -> list[float]:
    """Transactions/s of each server after the warm-up, all at once, each with its load on its own processors."""
    everywhere = os.sched_getaffinity(0)
    running = []
    try:
        for server, cpus in sides:
            for task in os.listdir(f"/proc/{server.pid}/task"):
                os.sched_setaffinity(int(task), cpus)
            os.sched_setaffinity(0, cpus)  # the load tool inherits it
            argv = [*_sysbench(server, seconds), "run"]
            running.append(subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    finally:
        os.sched_setaffinity(0, everywhere)
    texts = [process.communicate() for process in running]
    found = []
    for process, (printed, said) in zip(running, texts, strict=True):
        rates = [float(rate) for second, rate in SECOND.findall(printed) if int(second) > WARM_UP]
        if process.returncode or not rates:
            raise Failed(f"sysbench of the duet: {said or printed}")
        found.append(statistics.fmean(rates))
    return found


def _report(bench: Bench, alone: np.ndarray, duet: np.ndarray) -> None:
    blocks = np.random.default_rng(0).integers(len(alone), size=(RESAMPLED, len(alone)))
    ratios = duet[blocks].std(axis=1, ddof=1) / alone[blocks].std(axis=1, ddof=1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    for name, logs in (("one after the other", alone), ("as a duet", duet)):
        half = 1.96 * logs.std(ddof=1) / math.sqrt(len(logs))
        middle = logs.mean()
        bench.say(
            f"second server beside the first, {name}: {math.exp(middle):.3f} "
            f"[{math.exp(middle - half):.3f}, {math.exp(middle + half):.3f}]"
        )
        bench.say(" ".join(f"{value:+.3f}" for value in logs))
    widths = [100 * 1.96 * float(logs.std(ddof=1)) / math.sqrt(len(logs)) for logs in (duet, alone)]
    figure = results.Figure(
        key="duet.width", part="duet", unit="± %", better="lower", measured_on=bench.today, peer="one after the other",
        title=f"95 % interval of two servers' ratio, a duet, {len(alone)} blocks of equal time",
        ours=widths[0], theirs=widths[1], ratio=float(np.std(duet, ddof=1) / np.std(alone, ddof=1)),
        low=float(low), high=float(high), rounds=len(alone),
    )  # fmt: skip
    bench.figures.append(figure)
    bench.say(results.sentence(figure))
