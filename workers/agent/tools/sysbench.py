"""sysbench's OLTP tests. The password goes through an option file, so that `ps` shows user, host and schema only."""

import math
import re
import subprocess
from collections.abc import Callable, Mapping
from typing import Any

from workers.agent.measure import database
from workers.agent.runtime.config import SystemConfig
from workers.agent.tools import (
    DataSet,
    Finished,
    InvalidToolParameters,
    Invocation,
    Plain,
    RunCheckResult,
    Target,
    ToolMissing,
)
from workers.protocol.wire import LoadLevelMessage
from workers.protocol.workloads.sysbench import TESTS

START_GRACE = 30.0  # s, to connect all threads
END_GRACE = 30.0  # s, for the last transactions: sysbench outlives --time when its threads block
PREPARE_TIMEOUT = 6 * 3600.0  # s
CLEAN_UP_TIMEOUT = 120.0  # s
PREPARE_THREADS = 4
# Errors after which sysbench retries an event by itself: deadlock, changed record, lock wait timeout.
RETRIED = "1213,1020,1205"
# Without transactions two threads may delete a row before either reinserts it.
DUPLICATE = 1062
INSTALL = "install it, for example: apt-get install sysbench"

Spelling = Callable[[Any], str | None]  # the option's text, or None when the value is not allowed


def _whole(low: int, high: int) -> tuple[str, Spelling]:
    def check(value: Any) -> str | None:
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value)
        fits = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        return str(value) if fits else None

    return f"a whole number from {low} to {high}", check


def _switch() -> tuple[str, Spelling]:
    def check(value: Any) -> str | None:
        if isinstance(value, bool):
            return "on" if value else "off"
        return value if value in ("on", "off") else None

    return '"on" or "off"', check


def _one_of(*allowed: str) -> tuple[str, Spelling]:
    return f"one of {', '.join(allowed)}", lambda value: value if value in allowed else None


def _share(value: Any) -> str | None:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return str(value) if fits else None


ROWS = 2**31 - 1  # the id is a signed INTEGER
REQUIRED: dict[str, tuple[str, Spelling]] = {
    "test": _one_of(*TESTS),
    "tables": _whole(1, 10_000),
    "table_size": _whole(1, ROWS),
}
OPTIONS: dict[str, tuple[str, Spelling]] = {
    **{
        name: _whole(0, 10_000)
        for name in (
            "point_selects",
            "simple_ranges",
            "sum_ranges",
            "order_ranges",
            "distinct_ranges",
            "index_updates",
            "non_index_updates",
            "delete_inserts",
            "random_points",
            "number_of_ranges",
            "delta",
        )
    },
    **{name: _switch() for name in ("auto_inc", "create_secondary", "range_selects", "secondary", "skip_trx")},
    "range_size": _whole(1, ROWS),
    "mysql_storage_engine": _one_of("innodb", "myrocks", "rocksdb", "aria", "myisam"),
    "db_ps_mode": _one_of("auto", "disable"),
    "rand_type": _one_of("uniform", "gaussian", "special", "pareto"),
    "rand_seed": _whole(0, ROWS),
    "rand_spec_iter": _whole(1, 1000),
    "rand_spec_pct": _whole(1, 100),
    "rand_spec_res": _whole(1, 100),
    "rand_pareto_h": ("a number from 0 to 1", _share),
    "percentile": _whole(1, 100),
}


class SysbenchProgram(Plain):
    """The common command line and output handling of all sysbench tests."""

    prepare_threads = PREPARE_THREADS

    def version(self) -> str:
        try:
            answer = subprocess.run(["sysbench", "--version"], capture_output=True, text=True, timeout=10, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            raise ToolMissing(f"sysbench cannot be started ({error}); {INSTALL}") from error
        return answer.stdout.strip()

    def test(self, parameters: Mapping[str, Any]) -> tuple[str, ...]:
        """The test and its own options. Raises InvalidToolParameters."""
        raise NotImplementedError

    def limits(self, parameters: Mapping[str, Any]) -> tuple[str, ...]:
        """Options that end a run early. Raises InvalidToolParameters."""
        del parameters
        return ()

    def secrets(self, system: SystemConfig, schema: str) -> str:
        """sysbench strips the outer quotes and has no escapes; the configuration rejects passwords that need any."""
        del schema
        return f'mysql-password="{system.password}"\n'

    def prepare(self, target: Target, parameters: Mapping[str, Any]) -> Invocation:
        argv = (*self._command(target, parameters), f"--threads={self.prepare_threads}", "prepare")
        return Invocation(argv, PREPARE_TIMEOUT)

    def clean_up(self, target: Target, parameters: Mapping[str, Any]) -> Invocation:
        return Invocation((*self._command(target, parameters), "cleanup"), CLEAN_UP_TIMEOUT)

    def run(
        self,
        target: Target,
        parameters: Mapping[str, Any],
        *,
        load_level: LoadLevelMessage,
        warmup: float,
        duration: float,
    ) -> Invocation:
        # sysbench accepts whole seconds only.
        before, measured = math.ceil(warmup), max(1, math.ceil(duration))
        argv = [
            *self._command(target, parameters),
            f"--threads={load_level.threads}",
            f"--time={before + measured}",
            *self.limits(parameters),
            "--report-interval=1",
            "--histogram=on",
        ]
        if "percentile" not in parameters:
            argv.append("--percentile=95")
        if "--skip-trx=on" in argv:
            argv.append(f"--mysql-ignore-errors={RETRIED},{DUPLICATE}")
        if load_level.rate is not None:
            if load_level.rate < 1 or load_level.rate != round(load_level.rate):
                raise InvalidToolParameters(f"rate is {load_level.rate}/s; sysbench takes whole numbers from 1 only")
            argv.append(f"--rate={round(load_level.rate)}")
        if before:
            # The statistics restart here, so that the totals cover the measured phase alone.
            argv.append(f"--report-checkpoints={before}")
        timeout = before + measured + START_GRACE + END_GRACE
        return Invocation((*argv, "run"), timeout, warmup=before, measured=measured)

    def starts_clock(self, line: bytes) -> bool:
        return line.startswith(b"Threads started!")

    def failure(self, code: int, output: bytes) -> str:
        if code == 0:
            return ""
        fatal = [line.decode(errors="replace") for line in re.findall(rb"^FATAL: (.*)$", output, re.MULTILINE)]
        if fatal:
            remedy = "; give db_ps_mode=disable, or fewer tables or threads" if b"error: 1461" in output else ""
            return f"sysbench: {'; '.join(fatal[:3])}{remedy}"
        if code in (-11, 139):
            return "sysbench crashed (segmentation fault): it does so when it loses its connection to the server"
        return f"sysbench ended with code {code}" if code > 0 else f"sysbench was ended by signal {-code}"

    def _command(self, target: Target, parameters: Mapping[str, Any]) -> tuple[str, ...]:
        where = (
            [f"--mysql-socket={target.address.socket}"]
            if target.address.socket
            else [f"--mysql-host={target.address.host}", f"--mysql-port={target.address.port}"]
        )
        name, *options = self.test(parameters)
        return (
            "sysbench",
            name,
            f"--config-file={target.secrets}",
            "--db-driver=mysql",
            *where,
            f"--mysql-user={target.user}",
            f"--mysql-db={target.schema}",
            *options,
        )


class Sysbench(SysbenchProgram):
    name = "sysbench"
    artifact = "sysbench.txt"

    def data_set(self, parameters: Mapping[str, Any]) -> DataSet:
        chosen = options(parameters)
        tables = tuple(f"sbtest{number}" for number in range(1, int(chosen["tables"]) + 1))
        # It draws ids of 32 bits: those inserted by prepare or another run would soon be drawn again.
        is_empty = parameters["test"] == "oltp_insert" and chosen.get("auto_inc") == "off"
        return DataSet(tables=tables, rows=0 if is_empty else int(chosen["table_size"]), is_emptied=is_empty)

    def test(self, parameters: Mapping[str, Any]) -> tuple[str, ...]:
        chosen = options(parameters)
        return parameters["test"], *(f"--{name.replace('_', '-')}={value}" for name, value in chosen.items())

    def verify(self, finished: Finished) -> list[RunCheckResult]:
        return [] if options(finished.parameters).get("auto_inc") == "off" else [ids_are_dense(finished)]


def ids_are_dense(finished: Finished) -> RunCheckResult:
    """Checks that the server assigns every id, as sysbench assumes: otherwise most updates match nothing.

    Raises DatabaseFailed.
    """
    with database.session(finished.system, doing="ask for the step of its ids") as cursor:
        cursor.execute("SELECT @@auto_increment_increment")
        step = int((cursor.fetchone() or (1,))[0])
    label = f"the server steps its ids by {step}" + ("; give auto_inc=off" if step > 1 else "")
    return RunCheckResult("ids", step == 1, label)


def options(parameters: Mapping[str, Any]) -> dict[str, str]:
    """sysbench's options for the test. Raises InvalidToolParameters with the parameter and its allowed values."""
    missing = [name for name in REQUIRED if name not in parameters]
    if missing:
        raise InvalidToolParameters(f"parameter {missing[0]} is missing; it is {REQUIRED[missing[0]][0]}")
    known = REQUIRED | OPTIONS
    found = {}
    for name, value in parameters.items():
        if name not in known:
            raise InvalidToolParameters(f"parameter {name} is unknown; known are {', '.join(sorted(known))}")
        allowed, check = known[name]
        text = check(value)
        if text is None:
            raise InvalidToolParameters(f"parameter {name} is {value!r}; it must be {allowed}")
        if name != "test":
            found[name] = text
    return found
