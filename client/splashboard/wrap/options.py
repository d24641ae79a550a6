"""The options of `splashboard run`, read into a plan; each refusal names its option and the remedy."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

from splashboard.failures import Misuse
from splashboard.wrap import target
from splashboard.wrap.baseline import TOLERANCE
from splashboard.wrap.plan import BenchmarkPlan, SystemOptions
from splashboard.wrap.tool_command import value_of

WORDS = "run a benchmark as it is, submit what it measured, and compare: splashboard run [OPTIONS] -- COMMAND"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
MOST_RUNS = 1000
MOST_CPUS, MOST_MEMORY = 10_000, 100_000  # GiB


def add(command: argparse.ArgumentParser) -> None:
    command.usage = "splashboard run [OPTIONS] -- COMMAND [ARGUMENT …]"
    one = command.add_argument
    one("--dsn", metavar="DSN", help=f"the server, to record and sample it (needs the extra `sampling`): {target.FORM}")
    one("--defaults-file", metavar="FILE", help="the same from an option file of mysql's, group [client]")
    one("--no-samples", action="store_true", help="do not sample the server of PostgreSQL that pgbench loads")
    one("--repeat", type=int, default=1, metavar="N", help="measure each load level N times (default 1)")
    one("--threads", metavar="N,N,…", help="load levels: for sysbench, mysqlslap, {threads} and $SPLASHBOARD_THREADS")
    one(
        "--warmup", type=float, default=0.0, metavar="S", help="warm-up, s: for sysbench, {warmup}, $SPLASHBOARD_WARMUP"
    )
    one("--variant", metavar="NAME", help="what is special about the server, for example 8g-pool: a system of its own")
    one("--baseline", metavar="WHICH", help="compare with: ids of runs, a tag, a variant, a system's key or a release")
    one("--tolerance", type=float, default=TOLERANCE, metavar="SHARE", help="as of the gate (default 0.1)")
    one("--tag", action="append", default=[], help="may be repeated")
    one("--session", metavar="NAME", help="equal for runs measured together; default: by host, server's start and time")
    one("--system", metavar="KEY", help="key of the system; default: from host, platform, version and variant")
    one("--platform", metavar="KEY", help="mariadb, mysql, galera, …; default: as the server says")
    one("--server-version", metavar="TEXT", help="SELECT VERSION(), where --dsn is not given")
    one("--hardware", metavar="KEY", help="hardware class of the server's machine; default: this machine")
    one("--cpus", type=int, metavar="N", help="CPUs of the machine of --hardware, where the catalog lacks that class")
    one("--memory", type=float, metavar="GIB", help="its memory, GiB")
    one("--format", help="format of the output; default: recognised")
    one(
        "--result", metavar="FILE", help="file (or pattern) that the tool writes its result to, if it does not print it"
    )
    one("--workload", metavar="NAME", help="name of the workload, or id of a known one; default: by its parameters")
    one("--parameter", action="append", default=[], metavar="NAME=VALUE", help="of the workload; may be repeated")


def plan_of(options: argparse.Namespace) -> BenchmarkPlan:
    """Raises Misuse."""
    if not options.argv:
        raise Misuse("which command? Write it after --, for example: splashboard run -- ./bench.sh")
    if options.dsn and options.defaults_file:
        raise Misuse("--dsn and --defaults-file are both given: leave one out")
    if options.variant is not None and not NAME.fullmatch(options.variant):
        raise Misuse("--variant: write 1 to 40 letters, digits, - _ .")
    if options.warmup < 0 or options.warmup > 86_400:
        raise Misuse("--warmup: write seconds, 0 to 86400")
    if not 0 < options.tolerance <= 1:
        raise Misuse("--tolerance: write a share between 0 and 1, for example 0.1")
    _require_machine(options)
    levels = _levels(options.threads)
    if not 1 <= options.repeat * len(levels) <= MOST_RUNS:
        raise Misuse(f"--repeat: with {len(levels)} load levels write 1 to {MOST_RUNS // len(levels)}")
    return BenchmarkPlan(
        argv=options.argv,
        levels=levels,
        repeat=options.repeat,
        warmup=options.warmup,
        system=SystemOptions(
            system=options.system,
            platform=options.platform,
            server_version=options.server_version,
            hardware=options.hardware,
            cpus=options.cpus,
            memory=options.memory,
            variant=options.variant,
        ),
        target=target.of_dsn(options.dsn)
        if options.dsn
        else target.of_file(options.defaults_file)
        if options.defaults_file
        else None,
        format=options.format,
        workload=options.workload,
        parameters=dict(map(_parameter, options.parameter)),
        result=options.result or "",
        session=options.session,
        tags=options.tag,
        baseline=options.baseline,
        tolerance=options.tolerance,
        samples=not options.no_samples,
        timeout=options.timeout,
    )


def _require_machine(options: argparse.Namespace) -> None:
    """Raises Misuse when a machine is described in part, or without its name."""
    if options.cpus is None and options.memory is None:
        return
    if options.hardware is None or options.cpus is None or options.memory is None:
        raise Misuse("--hardware: describe a machine by --hardware KEY, --cpus N and --memory GIB together")
    if not 1 <= options.cpus <= MOST_CPUS:
        raise Misuse(f"--cpus: write 1 to {MOST_CPUS}")
    if not 0 < options.memory <= MOST_MEMORY:
        raise Misuse(f"--memory: write GiB, up to {MOST_MEMORY}")


def _levels(text: str | None) -> Sequence[int | None]:
    if text is None:
        return [None]
    words = text.split(",")
    if not all(re.fullmatch(r"[1-9]\d{0,5}", word) for word in words) or len(set(words)) < len(words):
        raise Misuse(f"--threads: {text!r} is no list of different numbers of threads: write it as 1,4,16,64")
    return [int(word) for word in words]


def _parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,59}", name) or not equals or not value:
        raise Misuse(f"--parameter: {text!r} is no parameter: write it as warehouses=10")
    return name.replace("-", "_"), value_of(value)
