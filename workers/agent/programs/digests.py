"""Server time per statement digest over a period.

Read from performance_schema where it is enabled; else from the slow log, opened for all statements of new connections
and restored afterwards, through pt-query-digest; else not observable, with the reason.
"""

import contextlib
import json
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pymysql
from pymysql.cursors import Cursor

from workers.agent.measure.database import error_text
from workers.agent.programs.report import Failed, Secrets
from workers.agent.runtime.spool import write_durably

PICOSECONDS = 1e9  # in a ms
SUMMARY = (
    "SELECT digest, digest_text, count_star, sum_timer_wait, sum_rows_examined "
    "FROM performance_schema.events_statements_summary_by_digest "
    "WHERE schema_name = %s AND digest IS NOT NULL AND digest_text NOT LIKE '%%performance_schema%%'"
)
WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")
LOG_FILE = "splashboard-slow.log"
ONE_OF = 10  # one of this many statements is logged, if the server supports sampling
DIGEST_TIMEOUT = 600.0  # s
GLOBALS = "index_cost.globals"  # in the work directory: variables to restore, while they are changed
RESTORE_FOR = 60.0  # s of attempts
PAUSE = 1.0  # s between them


@dataclass(frozen=True)
class Digest:
    """One normalized statement: `time` is the total, ms; `examined`: rows."""

    text: str
    count: int
    time: float
    examined: int

    @property
    def mean(self) -> float:
        return self.time / self.count if self.count else 0.0


class Digests:
    """`refusal`: why digests are not observable; else `source` is where they come from."""

    def __init__(self, cursor: Cursor, secrets: Secrets, *, work: Path, is_local: bool) -> None:
        self._cursor = cursor
        self._secrets = secrets
        self._work = work
        self.found: list[Digest] = []
        self.source, self.refusal = self._choose(is_local)

    def _choose(self, is_local: bool) -> tuple[str, str]:
        if self._value("performance_schema") == "1" and self._has_digests():
            return "performance_schema", ""
        if not is_local:
            return "", "performance_schema shows no digests, and the server's slow log is on another machine"
        if not shutil.which("pt-query-digest"):
            return "", (
                "performance_schema shows no digests, and pt-query-digest is not installed; "
                "install it, for example: apt-get install percona-toolkit"
            )
        return "slow log", ""

    def _has_digests(self) -> bool:
        self._cursor.execute("SELECT enabled FROM performance_schema.setup_consumers WHERE name = 'statements_digest'")
        row = self._cursor.fetchone()
        return row is not None and str(row[0]).upper() == "YES"

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Collects the statements of connections opened inside the block into `found`. May set `refusal` instead."""
        self.found = []
        if self.source == "performance_schema":
            before = self._summary()
            yield
            self.found = _difference(before, self._summary())
        elif self.source:
            with self._slow_log() as log:
                yield
            if log:
                self.found = self._of_log(log)
        else:
            yield

    def _summary(self) -> dict[str, Digest]:
        self._cursor.execute(SUMMARY, (self._secrets.schema,))
        return {
            str(digest): Digest(str(text), int(count), int(time) / PICOSECONDS, int(examined))
            for digest, text, count, time, examined in self._cursor.fetchall()
        }

    @contextmanager
    def _slow_log(self) -> Iterator[Path | None]:
        """None: the slow log cannot be opened."""
        restore_globals(self._secrets, self._work / GLOBALS)  # what a run that died left
        wanted = {"slow_query_log_file": LOG_FILE, "long_query_time": "0", "slow_query_log": "ON", "log_output": "FILE"}
        before = {name: self._value(name) for name in wanted}
        # Percona's servers sample sessions by default.
        sampling = {"log_slow_rate_limit": str(ONE_OF), "log_slow_rate_type": "query"}
        known = {name: value for name in sampling if (value := self._value(name))}
        if known:
            before |= known
            wanted |= {name: sampling[name] for name in known}
            self.source = f"slow log, one of {ONE_OF} statements"
        log = Path(self._value("datadir")) / LOG_FILE
        try:
            log.unlink(missing_ok=True)
        except OSError as error:
            self._refuse(f"the slow log {log} is out of the agent's reach: {error.strerror}")
            yield None
            return
        # Closed before its old name is restored; otherwise that file would be opened.
        before = dict(reversed(before.items()))
        try:
            _set(self._cursor, before)  # as they are: shows whether this account may
        except pymysql.MySQLError as error:
            self._refuse(f"the slow log cannot be opened: {error.args[-1]}")
            yield None
            return
        write_durably(self._work / GLOBALS, msgspec.json.encode(before))
        try:
            try:
                _set(self._cursor, wanted)
            except pymysql.MySQLError as error:
                self._refuse(f"the slow log cannot be opened: {error.args[-1]}")
                yield None
                return
            yield log
        finally:
            restore_globals(self._secrets, self._work / GLOBALS)

    def _refuse(self, words: str) -> None:
        self.source, self.refusal = "", words

    def _of_log(self, log: Path) -> list[Digest]:
        ours = f'($event->{{db}} || "") eq "{self._secrets.schema}"'
        argv = [
            "pt-query-digest",
            "--output",
            "json",
            "--limit",
            "100%",
            "--no-version-check",
            "--filter",
            ours,
            str(log),
        ]
        try:
            done = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DIGEST_TIMEOUT, check=True
            )
            classes = json.loads(done.stdout)["classes"]
        except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
            self.refusal = f"pt-query-digest could not read {log}: {error}"[:200]
            return []
        finally:
            with contextlib.suppress(OSError):
                log.unlink(missing_ok=True)
        return [_of_class(each) for each in classes]

    def _value(self, name: str) -> str:
        """Value of a global variable; empty if the server has none of that name."""
        self._cursor.execute("SHOW GLOBAL VARIABLES LIKE %s", (name,))
        row = self._cursor.fetchone()
        value = str(row[1]) if row else ""
        return {"ON": "1", "OFF": "0"}.get(value, value)


def restore_globals(secrets: Secrets, file: Path) -> None:
    """Sets the global variables in `file` over a connection of its own, then removes the file. Raises Failed."""
    try:
        values = msgspec.json.decode(file.read_bytes(), type=dict[str, str])
    except FileNotFoundError:
        return
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Failed(f"the global variables to restore cannot be read from {file}: {error}") from error
    deadline = time.monotonic() + RESTORE_FOR
    while True:
        try:
            with closing(secrets.connect(schema=False)) as connection, connection.cursor() as cursor:
                _set(cursor, values)
            break
        except (pymysql.MySQLError, OSError) as error:
            if time.monotonic() > deadline:
                words = ", ".join(f"{name} = {value!r}" for name, value in values.items())
                raise Failed(
                    f"global variables could not be restored: {error_text(error)}; run: SET GLOBAL {words}"
                ) from error
        time.sleep(PAUSE)
    file.unlink(missing_ok=True)


def _set(cursor: Cursor, values: Mapping[str, str]) -> None:
    for name, value in values.items():
        cursor.execute(f"SET GLOBAL {name} = %s", (_number(value),))


def _number(value: str) -> int | float | str:
    """Numbers as numbers: the server rejects quoted ones."""
    if value.isdigit():
        return int(value)
    return float(value) if value.replace(".", "", 1).isdigit() else value


def _of_class(found: dict[str, object]) -> Digest:
    metrics = found["metrics"]
    assert isinstance(metrics, dict)  # noqa: S101  (as pt-query-digest writes it)
    examined = metrics.get("Rows_examined", {}).get("sum", 0)
    time = float(metrics["Query_time"]["sum"]) * 1000
    return Digest(str(found["fingerprint"]), int(str(found["query_count"])), time, int(float(examined or 0)))


def _difference(before: dict[str, Digest], after: dict[str, Digest]) -> list[Digest]:
    """Longest total time first."""
    found = []
    for digest, now in after.items():
        then = before.get(digest, Digest("", 0, 0.0, 0))
        if now.count > then.count:
            found.append(Digest(now.text, now.count - then.count, now.time - then.time, now.examined - then.examined))
    return sorted(found, key=lambda each: -each.time)


def mean_write_time(found: list[Digest]) -> float | None:
    """Mean ms per writing statement; None without any."""
    writes = [each for each in found if each.text.lstrip("( ").upper().startswith(WRITES)]
    count = sum(each.count for each in writes)
    return sum(each.time for each in writes) / count if count else None


def table_of(stages: dict[str, list[Digest]]) -> str:
    """Tab-separated values."""
    lines = ["stage\tcount\ttotal_ms\tmean_ms\trows_examined\tstatement"]
    for stage, found in stages.items():
        lines += [
            f"{stage}\t{each.count}\t{each.time:.3f}\t{each.mean:.4f}\t{each.examined}\t{' '.join(each.text.split())}"
            for each in found
        ]
    return "\n".join(lines) + "\n"
