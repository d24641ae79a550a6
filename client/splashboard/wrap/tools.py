"""Load tools by their command lines: which one it is, its workload, threads and target."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from splashboard.wrap import key_value_tools, postgresql
from splashboard.wrap.tool_command import PLAIN, ToolCommand, Value, short, value_of, whole

# sysbench's own tests: the server knows the work of these alone.
SYSBENCH_TESTS = (
    "oltp_read_write",
    "oltp_read_only",
    "oltp_write_only",
    "oltp_point_select",
    "oltp_insert",
    "oltp_delete",
    "oltp_update_index",
    "oltp_update_non_index",
    "select_random_points",
    "select_random_ranges",
)
MACHINE_TESTS = ("cpu", "memory", "fileio")
# Tools without a database.
WITHOUT_DATABASE = (*MACHINE_TESTS, "fio")
# Formats that state the workload's parameters: the server reads them there.
STATES_WORK = ("pgbench", "fio")
# Neither the data set nor the work done on it.
NO_PARAMETER = re.compile(
    r"(mysql|pgsql)[-_](?!storage-engine).*|db[-_](driver|debug)|threads|num-threads|time|max-time|rate|tx-rate|events|max-requests"
    r"|warmup-time|report[-_].*|percentile|histogram|verbosity|debug|forced-shutdown|thread-.*|rand-seed|validate"
    r"|luajit-cmd|config-file|test|help|version|concurrency|host|port|socket|user|password|protocol|csv|silent|verbose"
    r"|iterations|create-schema|no-drop|defaults.*|ssl.*|delimiter|query|create|pre-.*|post-.*|plugin-dir|default-auth"
)
SIZE = re.compile(r"(\d+)([KMGT]?)", re.IGNORECASE)
# They run a command in another place, for which the options of a connection hold.
CARRIERS = ("ssh", "docker", "podman", "kubectl", "nerdctl", "lxc")
SHELLS = ("sh", "bash", "dash", "ksh", "zsh")
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
MIB = 2**20
GO_TOOLS = ("go-tpc", "tiup-bench", "go-ycsb")
# Parameters that no default supplies, by tool.
REQUIRED = {
    "sysbench": ("test",),
    "tpcc-mysql": ("warehouses",),
    "hammerdb": ("warehouses",),
    "benchbase": ("benchmark", "scale_factor"),
    "fileio": ("mode",),
    "ycsb": ("workload",),
    "go-ycsb": ("workload",),
    "own": ("benchmark",),
}


def find(argv: Sequence[str]) -> ToolCommand | None:
    """The tool that measures in this command line, also behind `taskset` or `ssh`; None: none is known. What a shell
    starts is seen when it does."""
    if argv and argv[0].rpartition("/")[2] in SHELLS and any(re.fullmatch(r"-\w*c", word) for word in argv[1:3]):
        return None
    words = _words(argv)
    for place, word in enumerate(words):
        read = READERS.get(word.rpartition("/")[2])
        if read is not None:
            return read(words[place + 1 :])
    return None


def own_place(argv: Sequence[str]) -> int | None:
    """Where a known tool stands as a word of its own, so that its options can be set."""
    return next((place for place, word in enumerate(argv) if word.rpartition("/")[2] in READERS), None)


def is_carried(argv: Sequence[str]) -> bool:
    """Whether the command runs on another machine, or in a container."""
    return any(word.rpartition("/")[2] in CARRIERS for word in argv[: own_place(argv)])


def family(form: str) -> str:
    """The format by what a tool prints first: that of sysbench's machine tests is sysbench's."""
    return "sysbench" if form in MACHINE_TESTS else form


def lacking(tool: str, parameters: Mapping[str, Value]) -> list[str]:
    return [name for name in REQUIRED.get(tool, ()) if name not in parameters]


def _words(argv: Sequence[str]) -> list[str]:
    words: list[str] = []
    for word in argv:
        if re.search(r"\s", word) and any(name in word for name in READERS):
            try:
                words += shlex.split(word)
                continue
            except ValueError:
                pass  # not a command
        words.append(word)
    return words


def _options(words: Iterable[str]) -> dict[str, str]:
    """`--name=value` -> value, with `-` in names; `--name` alone -> "on"."""
    found = {}
    for word in words:
        match = re.fullmatch(r"--([A-Za-z][\w.-]*)(?:=(.*))?", word, re.DOTALL)
        if match:
            found[match[1].replace("_", "-")] = "on" if match[2] is None else match[2]
    return found


def _free(options: Mapping[str, str]) -> dict[str, Value]:
    """What distinguishes the work, as the server names parameters."""
    return {
        name.replace("-", "_"): value_of(value)
        for name, value in sorted(options.items())
        if not NO_PARAMETER.fullmatch(name) and PLAIN.fullmatch(value)
    }


def _bytes(text: str) -> int:
    match = SIZE.fullmatch(text)
    return int(match[1]) * UNITS[match[2].upper()] if match else 0


def _sysbench(words: Sequence[str]) -> ToolCommand | None:
    if "run" not in words:
        return None
    options = _options(words)
    plain = [word for word in words if not word.startswith("-")]
    named = options.get("test", "") or (plain[0] if plain[0] != "run" else "")
    test = named.rpartition("/")[2]
    test = test[:-4] if test.endswith(".lua") else test
    threads = whole(options.get("threads", options.get("num-threads", "1")))
    if test in MACHINE_TESTS:
        return ToolCommand(test, test, MACHINE[test](options), threads)
    tables = {
        "tables": value_of(options.get("tables", "1")),
        "table_size": value_of(options.get("table-size", "10000")),
    }
    known = f"one of sysbench's own: {', '.join(SYSBENCH_TESTS)}, {', '.join(MACHINE_TESTS)}"
    return ToolCommand(
        "sysbench",
        "sysbench",
        {**_free(options), **tables, "test": test},
        threads,
        host="localhost" if options.get("mysql-socket") else options.get("mysql-host", "localhost"),
        schema=options.get("mysql-db", "sbtest"),
        problem="" if test in SYSBENCH_TESTS else f"workload.parameters.test is {test!r}; it must be {known}",
    )


def _fileio(options: Mapping[str, str]) -> dict[str, Value]:
    found: dict[str, Value] = {
        "size_mb": _bytes(options.get("file-total-size", "2G")) // MIB,
        "files": whole(options.get("file-num", "128")) or 128,
        "block_kb": _bytes(options.get("file-block-size", "16384")) // 1024,
        "direct": "direct" in options.get("file-extra-flags", ""),
        "fsync_freq": whole(options.get("file-fsync-freq", "100")) or 0,
    }
    return {**found, "mode": options["file-test-mode"]} if "file-test-mode" in options else found


MACHINE: Mapping[str, Callable[[Mapping[str, str]], dict[str, Value]]] = {
    "cpu": lambda options: {"max_prime": whole(options.get("cpu-max-prime")) or 10_000},
    "memory": _free,
    "fileio": _fileio,
}


def _tpcc_mysql(words: Sequence[str]) -> ToolCommand | None:
    warehouses = whole(short(words, "w"))
    return ToolCommand(
        "tpcc-mysql",
        "tpcc-mysql",
        {"warehouses": warehouses} if warehouses else {},
        whole(short(words, "c")),
        host=short(words, "h"),
        schema=short(words, "d"),
    )


def _mysqlslap(words: Sequence[str]) -> ToolCommand | None:
    options = _options(words)
    file = options.get("csv", "")
    printed = "print its result as CSV: add --csv, or --csv=FILE"
    several = "," in options.get("concurrency", "")
    return ToolCommand(
        "mysqlslap",
        "mysqlslap",
        _free(options),
        whole(options.get("concurrency") or short(words, "c")),
        host=options.get("host", "") or short(words, "h"),
        schema=options.get("create-schema", "mysqlslap"),
        file="" if file == "on" else file,
        problem=f"mysqlslap does not {printed}" if not file else "give one --concurrency a run" if several else "",
    )


def _hammerdb(_: Sequence[str]) -> ToolCommand | None:
    return ToolCommand("hammerdb", "hammerdb")


def _iibench(words: Sequence[str]) -> ToolCommand | None:
    options = _options(words)
    return ToolCommand("iibench.py", "iibench-py", _free({key.replace("db-", ""): v for key, v in options.items()}))


def _benchbase(words: Sequence[str]) -> ToolCommand | None:
    benchmark = short(words, "b") or _options(words).get("bench", "")
    return ToolCommand(
        "benchbase",
        "benchbase-summary",
        {"benchmark": benchmark} if PLAIN.fullmatch(benchmark) else {},
        file="results/*.summary.json",
    )


def _pgbench(words: Sequence[str]) -> ToolCommand | None:
    found = postgresql.read(words)
    if found is None:
        return None
    return ToolCommand(
        # The report of 13 and older does not state it.
        *("pgbench", "pgbench", {"connect": True} if found.connects else {}, found.clients),
        host=found.host,
        port=found.port,
        rate=found.rate,
        connection=found.connection,
        password=found.password,
        log=found.log,
    )


def _fio(words: Sequence[str]) -> ToolCommand | None:
    options = _options(_joined(words, ("output", "output-format")))
    if not words or {"version", "help", "cmdhelp", "enghelp", "parse-only", "server"} & set(options):
        return None
    formats = options.get("output-format", "normal").split(",")
    problem = "" if {"json", "json+"} & set(formats) else "fio does not print JSON: add --output-format=json, or json+"
    if "status-interval" in options and not options.get("output"):
        problem = problem or "--status-interval prints a result each time: write them to a file by --output=FILE"
    return ToolCommand(
        *("fio", "fio", {}, whole(options.get("numjobs", "1")) if _is_one_fio_job(words) else None),
        file=options.get("output", ""),
        problem=problem,
    )


def _joined(words: Sequence[str], names: Sequence[str]) -> list[str]:
    """`--name value` as `--name=value`."""
    found: list[str] = []
    for word in words:
        if found and found[-1][2:] in names and found[-1].startswith("--"):
            found[-1] += f"={word}"
        else:
            found.append(word)
    return found


def _is_one_fio_job(words: Sequence[str]) -> bool:
    """Whether the command line describes one job itself, so that --numjobs there counts."""
    named = sum(word.startswith("--name") for word in words)
    return named == 1 and not any(re.search(r"\.(?:fio|job|ini)$", word) for word in words)


READERS: Mapping[str, Callable[[Sequence[str]], ToolCommand | None]] = {
    "sysbench": _sysbench,
    "tpcc_start": _tpcc_mysql,
    "mysqlslap": _mysqlslap,
    "mariadb-slap": _mysqlslap,
    "hammerdbcli": _hammerdb,
    "iibench.py": _iibench,
    "benchbase.jar": _benchbase,
    **key_value_tools.READERS,
    "pgbench": _pgbench,
    "fio": _fio,
}


# ---------------------------------------------------------------- load levels


@dataclass(frozen=True)
class Asked:
    """What a run's command line gets beyond what was typed; None and 0: nothing."""

    threads: int | None = None
    warmup: float = 0.0

    def environment(self) -> dict[str, str]:
        """For scripts."""
        stated = {"SPLASHBOARD_THREADS": self.threads, "SPLASHBOARD_WARMUP": f"{self.warmup:g}"}
        return {name: str(value) for name, value in stated.items() if value is not None}


def adapted(argv: Sequence[str], asked: Asked) -> list[str]:
    """The command line of a run: placeholders replaced, and the options of a tool that stands in it as a word."""
    typed = list(argv)
    threads = "" if asked.threads is None else str(asked.threads)
    found = [word.replace("{warmup}", f"{asked.warmup:g}") for word in typed]
    if threads:
        found = [word.replace("{threads}", threads) for word in found]
    place = own_place(typed)
    if place is None:
        return found
    name = typed[place].rpartition("/")[2]
    if threads and not any("{threads}" in word for word in typed):
        if name in ("sysbench", *GO_TOOLS):
            found = _with(found, place, "threads", threads)
        elif name in ("mysqlslap", "mariadb-slap"):
            found = _with(found, place, "concurrency", threads)
        elif name == "pgbench":
            found = postgresql.with_clients(found, place, threads)
        elif name == "fio" and _is_one_fio_job(found[place + 1 :]):
            found = _with(found, place, "numjobs", threads)
    if asked.warmup and name == "sysbench" and "report-checkpoints" not in _options(found[place:]):
        # Its totals then begin after the warm-up, and cover as long as was asked for.
        time = float(_options(found[place:]).get("time", "10"))
        found = _with(found, place, "report-checkpoints", f"{asked.warmup:g}")
        if time:
            found = _with(found, place, "time", f"{time + asked.warmup:g}")
    return found


def _with(argv: Sequence[str], place: int, name: str, value: str) -> list[str]:
    """The option set once: in its place, else before the tool's command, or at the end."""
    option, given = f"--{name}={value}", re.compile(rf"--{name}(=.*)?")
    places = [at for at, word in enumerate(argv) if at > place and given.fullmatch(word)]
    if places:
        return [option if at == places[0] else word for at, word in enumerate(argv) if at not in places[1:]]
    at = len(argv) - 1 if argv[-1] == "run" else len(argv)
    return [*argv[:at], option, *argv[at:]]


def takes_threads(argv: Sequence[str]) -> bool:
    """Whether `--threads` reaches the tool without a script's help."""
    place = own_place(argv)
    name = "" if place is None else argv[place].rpartition("/")[2]
    names = ("sysbench", "mysqlslap", "mariadb-slap", "pgbench", *GO_TOOLS)
    if any("{threads}" in word for word in argv) or name in names:
        return True
    return name == "fio" and place is not None and _is_one_fio_job(argv[place + 1 :])


def shown(argv: Sequence[str]) -> str:
    """As a shell would get it."""
    return " ".join(shlex.quote(word) for word in argv)


def blocks(levels: Sequence[int | None], repeat: int) -> list[tuple[int, int | None]]:
    """(repetition, threads) in the order of measurement: each repetition has all levels, every second one backwards."""
    return [
        (repetition, threads)
        for repetition in range(1, repeat + 1)
        for threads in (levels if repetition % 2 else list(reversed(levels)))
    ]


def problem_of(found: ToolCommand | None, parameters: Mapping[str, Any]) -> str:
    """Why the server would refuse this workload; empty: it would not."""
    if found is None:
        return ""
    missing = lacking(found.tool, {**found.parameters, **parameters})
    if missing:
        names = " ".join(f"--parameter {name}=…" for name in missing)
        return f"workload.parameters.{missing[0]} is not in the command line of {found.tool}: add {names}"
    return "" if "test" in parameters else found.problem
