"""pgbench's command line, and what the server that it names says of itself."""

from __future__ import annotations

import getopt
import json
import os
import re
import subprocess
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from splashboard.wrap import redact

SHORT = "b:c:CdD:f:F:h:iI:j:lL:M:nNp:P:qrR:s:St:T:U:v"
LONG = [
    *("builtin=", "client=", "connect", "dbname=", "debug", "define=", "file=", "fillfactor=", "host=", "initialize"),
    *("init-steps=", "jobs=", "log", "latency-limit=", "no-vacuum", "port=", "progress=", "protocol=", "quiet"),
    *("report-per-command", "report-latencies", "rate=", "scale=", "select-only", "skip-some-updates", "time="),
    *("transactions=", "username=", "vacuum-all", "unlogged-tables", "tablespace=", "index-tablespace="),
    *("sampling-rate=", "aggregate-interval=", "progress-timestamp", "log-prefix=", "foreign-keys", "random-seed="),
    *("show-script=", "partitions=", "partition-method=", "failures-detailed", "max-tries=", "verbose-errors"),
    *("exit-on-abort", "continue-on-error"),
]
PORT = 5432
ANSWERS_WITHIN = 10.0  # s
FACT = re.compile(r"\b(host|port)\s*=\s*'?([^\s']+)")
URI = ("postgresql://", "postgres://")
IN_URI = re.compile(r"(?<=://)([^:@/?]*):([^@/?]*)(?=@)")
IN_QUERY = re.compile(r"(?<=[?&])password=([^&]*)&?")
IN_WORDS = re.compile(r"(?<!\w)password\s*=\s*('(?:\\.|[^'\\])*'|[^\s']+)\s*")


@dataclass(frozen=True)
class PgbenchCommand:
    """`host`: empty for a socket of this machine; `rate`: 1/s; `connection`: psql's arguments for the same database,
    without its `password`. `connects`: anew for each transaction. `log`: what the names of its logs begin with; empty:
    it writes none, or only some transactions."""

    clients: int
    jobs: int
    rate: float | None
    host: str
    port: int
    connection: Sequence[str]
    connects: bool = False
    log: str = ""
    password: str = field(default="", repr=False)


def read(words: Sequence[str]) -> PgbenchCommand | None:
    """None: it makes tables (-i), shows a script, or cannot be understood."""
    try:
        options, rest = getopt.gnu_getopt(list(words), SHORT, LONG)
    except getopt.GetoptError:
        return None
    given = dict(options)
    if any(name in given for name in ("-i", "--initialize", "--show-script")):
        return None

    def value(short: str, long: str, default: str = "") -> str:
        # The last one counts, in either spelling.
        return next((text for name, text in reversed(options) if name in (f"-{short}", f"--{long}")), default)

    database, password = without_password(value("-", "dbname") or (rest[0] if rest else ""))
    host = value("h", "host") or of(database, "host") or os.environ.get("PGHOST", "")
    port = value("p", "port") or of(database, "port") or os.environ.get("PGPORT", "")
    is_sampled = "--sampling-rate" in given
    named = [("-h", value("h", "host")), ("-p", value("p", "port")), ("-U", value("U", "username")), ("-d", database)]
    return PgbenchCommand(
        clients=_whole(value("c", "client"), 1),
        jobs=_whole(value("j", "jobs"), 1),
        rate=_number(value("R", "rate")),
        host="" if host.startswith(("/", "@")) else host,
        port=_whole(port, PORT),
        connection=[word for name, text in named if text for word in (name, text)],
        password=password,
        connects=bool({"-C", "--connect"} & set(given)),
        log=value("-", "log-prefix", "pgbench_log") if {"-l", "--log"} & set(given) and not is_sampled else "",
    )


# Settings of the server with their units and defaults, without those of psql's own session; the tables of the database
# with their indexes.
FACTS = """
SELECT json_build_object(
  'server_version', current_setting('server_version'),
  'host', (SELECT host(s) FROM (SELECT inet_server_addr() AS s, inet_client_addr() AS c) AS a
           WHERE s <> c AND NOT (s <<= '127.0.0.0/8' OR s = '::1')),
  'variables', json_object_agg(name, setting || unit_), 'defaults', json_object_agg(name, boot_val || unit_),
  'data_bytes', (SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                 WHERE c.relkind IN ('r', 'm') AND n.nspname !~ '^(pg_|information_schema)'))
FROM (SELECT name, setting, COALESCE(boot_val, '') AS boot_val, COALESCE(' ' || unit, '') AS unit_ FROM pg_settings
      WHERE source NOT IN ('client', 'session')) AS s
"""


def facts(connection: Sequence[str], password: str = "") -> dict[str, Any]:
    """Version, settings, their defaults, and bytes of the tables, as the server says them by psql, without asking for a
    password; `host`: its address if it is on another machine. Empty: they cannot be had."""
    words = ["psql", "--no-psqlrc", "--no-password", "--tuples-only", "--no-align", f"--command={FACTS}"]
    try:
        done = subprocess.run(
            [*words, *connection],
            capture_output=True,
            encoding="utf-8",
            timeout=ANSWERS_WITHIN,
            check=False,
            env={**os.environ, **({"PGPASSWORD": password} if password else {})},
        )
        found = json.loads(done.stdout) if done.returncode == 0 else {}
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    if not isinstance(found, dict) or not isinstance(found.get("server_version"), str):
        return {}
    return {**found, **{name: redact.variables(found.get(name) or {}) for name in ("variables", "defaults")}}


def with_clients(argv: Sequence[str], place: int, clients: str) -> list[str]:
    """The command with so many clients, and worker threads: as typed, but as many as clients if it had as many, or as
    there are CPUs if it has none. `place`: of the program."""
    words = list(argv)
    typed = read(words[place + 1 :])
    kept, removed = words[: place + 1], ("-c", "--client", "-j", "--jobs")
    skips = False
    has_jobs = False
    for word in words[place + 1 :]:
        name = word.partition("=")[0] if word.startswith("--") else word[:2]
        if skips:
            skips = False
        elif name in removed:
            has_jobs |= name in ("-j", "--jobs")
            skips = word in removed
        else:
            kept.append(word)
    if typed is None or not has_jobs:
        jobs = min(int(clients), os.cpu_count() or 1)
    else:
        jobs = int(clients) if typed.jobs >= typed.clients else min(typed.jobs, int(clients))
    return [*kept[: place + 1], f"--client={clients}", f"--jobs={jobs}", *kept[place + 1 :]]


def of(database: str, name: str) -> str:
    """Host or port of a connection string or URI; empty: it states none."""
    if database.startswith(URI):
        try:
            parts = urllib.parse.urlsplit(database)
            stated = {"host": parts.hostname or "", "port": str(parts.port or "")}[name]
        except ValueError:
            return ""
        return stated or dict(urllib.parse.parse_qsl(parts.query)).get(name, "")
    return next((text for key, text in FACT.findall(database) if key == name), "") if "=" in database else ""


def without_password(database: str) -> tuple[str, str]:
    """A database's name, connection string or URI, and the password that stood in it."""
    found: list[str] = []

    def taken(match: re.Match[str]) -> str:
        found.append(match[match.lastindex or 0])
        return match[1] if match.lastindex == 2 else ""

    if database.startswith(URI):
        for pattern in (IN_URI, IN_QUERY):
            database = pattern.sub(taken, database)
        return database.rstrip("?&"), urllib.parse.unquote(found[-1]) if found else ""
    if "=" not in database:
        return database, ""
    database = IN_WORDS.sub(taken, database).strip()
    text = found[-1] if found else ""
    return database, re.sub(r"\\(.)", r"\1", text[1:-1] if text.startswith("'") else text)


def _whole(text: str, default: int) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else default


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", text) else None
