"""PostgreSQL's cumulative statistics, sessions by state and wait, and the position in its log; from version 10 on."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workers.agent.samplers import HiddenFromSampler, SourceFailed, SourceReading
from workers.agent.samplers.psql import PsqlSession
from workers.protocol.wire import Number

PREFIX = "postgresql."
# By the newest version's names: up to 16 those of the checkpointer stood in pg_stat_bgwriter.
RENAMED = {
    "bgwriter.checkpoints_timed": "checkpointer.num_timed",
    "bgwriter.checkpoints_req": "checkpointer.num_requested",
    "bgwriter.checkpoint_write_time": "checkpointer.write_time",
    "bgwriter.checkpoint_sync_time": "checkpointer.sync_time",
    "bgwriter.buffers_checkpoint": "checkpointer.buffers_written",
}
# Views of one row, by the first word of their keys.
VIEWS = {"bgwriter": "pg_stat_bgwriter", "checkpointer": "pg_stat_checkpointer", "wal": "pg_stat_wal"}
# Zero unless the setting is on.
TIMED = {
    "track_io_timing": ("database.blk_read_time", "database.blk_write_time"),
    "track_wal_io_timing": ("wal.wal_write_time", "wal.wal_sync_time"),
}
STATES = ("active", "idle", "idle_in_transaction")
WAITS = ("lock", "lwlock", "io", "client")
LOOK = """
SELECT json_build_object(
  'views', (SELECT json_agg(viewname) FROM pg_catalog.pg_views
            WHERE schemaname = 'pg_catalog' AND viewname LIKE 'pg_stat_%'),
  'untimed', (SELECT json_agg(name) FROM pg_catalog.pg_settings
              WHERE setting = 'off' AND name LIKE 'track_%timing'),
  'user', current_user,
  'sees_all', pg_catalog.pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'))
"""
# Autovacuum's workers have a database too; of other roles' sessions not even the kind is shown without pg_monitor.
SAMPLE = """
SELECT json_build_object(
  'backend', pg_backend_pid(),
  'standby', pg_is_in_recovery(),
  'uptime', extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()),
  'position', pg_wal_lsn_diff(
    CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, '0/0'),
  'standbys', (SELECT count(*) FROM pg_stat_replication),
  'unreplayed', (SELECT max(pg_wal_lsn_diff(
    CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, replay_lsn))
    FROM pg_stat_replication),
  'sessions', (SELECT json_agg(json_build_array(shown, wait_event_type, number)) FROM (
    SELECT CASE WHEN backend_type IS NOT NULL THEN COALESCE(state, 'starting') END AS shown, wait_event_type,
      count(*) AS number FROM pg_stat_activity
    WHERE datid IS NOT NULL AND COALESCE(backend_type, 'client backend') = 'client backend' AND pid <> pg_backend_pid()
    GROUP BY shown, wait_event_type) AS grouped),
  'database', (SELECT to_json(d) FROM pg_stat_database d WHERE datname = current_database())%s)
"""
ROW = ", '{}', (SELECT to_json(v) FROM {} v)"


class PostgreSQLStatistics:
    """`arguments`, `password`: as of PsqlSession."""

    name = "postgresql"
    interval = 1
    prompt = False

    def __init__(self, arguments: Sequence[str], password: str = "") -> None:
        self._server = PsqlSession(arguments, password)
        self._statement = ""
        self._untimed: list[str] = []
        self._hidden: list[HiddenFromSampler] = []
        self._backend: int | None = None

    def read(self) -> SourceReading:
        before = self._server.statements
        if not self._server.is_open:
            self._look(self._server.ask(LOOK))
        found = sampled(self._server.ask(self._statement))
        self._backend, values = found.backend, dict(found.values)
        for key in (key for name in self._untimed for key in TIMED.get(name, ())):
            values.pop(PREFIX + key, None)
        states = {"recovery": "standby" if found.is_standby else "primary"}
        return SourceReading(values, states=states, hidden=self._hidden, statements=self._server.statements - before)

    def close(self) -> None:
        self._server.close()

    def server_pid(self) -> int | None:
        """Process id of the server's first process on this host: the parent of the one that serves this source."""
        return parent_of(self._backend) if self._backend is not None else None

    def _look(self, found: Mapping[str, Any]) -> None:
        views = found["views"] or ()
        parts = [ROW.format(word, view) for word, view in VIEWS.items() if view in views]
        self._statement = SAMPLE % "".join(parts)
        self._untimed = found["untimed"] or []
        self._hidden = []
        if not found["sees_all"]:
            what = "states and waits of other roles' sessions"
            reason = f"role {found['user']} may not read them"
            self._hidden.append(HiddenFromSampler(what, reason, f"GRANT pg_monitor TO {found['user']}"))
        if "track_io_timing" in self._untimed:
            reason = "track_io_timing is off"
            self._hidden.append(HiddenFromSampler("times of reads and writes", reason, "turn it on, which costs time"))


@dataclass(frozen=True)
class SampledRow:
    """`backend`: process id of the session that was asked."""

    backend: int
    is_standby: bool
    values: Mapping[str, Number]


def sampled(row: Mapping[str, Any]) -> SampledRow:
    """Of the SAMPLE statement. Raises SourceFailed where a server answers something else."""
    try:
        return SampledRow(int(row["backend"]), bool(row["standby"]), numbers(row))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise SourceFailed(f"PostgreSQL's answer is not understood: {type(error).__name__}: {error!s:.200}") from error


def numbers(row: Mapping[str, Any]) -> dict[str, Number]:
    """Metric keys and values of the SAMPLE statement's row."""
    found: dict[str, Number] = {
        f"{PREFIX}uptime": row["uptime"],
        f"{PREFIX}wal.position": row["position"],
        f"{PREFIX}replication.standbys": row["standbys"],
        f"{PREFIX}replication.unreplayed_bytes": row["unreplayed"],
    }
    for word in ("database", *VIEWS):
        for name, value in (row.get(word) or {}).items():
            key = f"{word}.{name}"
            if name != "datid" and name.isidentifier():
                found[PREFIX + RENAMED.get(key, key)] = value
    found |= _sessions(row["sessions"] or ())
    # Texts and times are left out, as are booleans.
    return {key: value for key, value in found.items() if type(value) in (int, float)}


def _sessions(rows: Iterable[Sequence[Any]]) -> dict[str, Number]:
    """Client sessions without the sampler's own: all, those of each state, and those at work that wait; only all where
    the state of one is not shown."""
    rows = list(rows)
    if any(state is None for state, _, _ in rows):
        return {f"{PREFIX}sessions.total": sum(number for _, _, number in rows)}
    found = dict.fromkeys([*(f"sessions.{state}" for state in STATES), *(f"waiting.{kind}" for kind in WAITS)], 0)
    all_of_them = 0
    for state, waits_for, number in rows:
        all_of_them += number
        key = f"sessions.{_word(state)}"
        found[key] = found.get(key, 0) + number
        if state == "active" and waits_for is not None:
            key = f"waiting.{_word(waits_for)}"
            found[key] = found.get(key, 0) + number
    return {f"{PREFIX}sessions.total": all_of_them, **{PREFIX + key: number for key, number in found.items()}}


def _word(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def parent_of(backend: int, proc: Path = Path("/proc")) -> int | None:
    """None: it is no process of PostgreSQL on this host."""
    try:
        stat = (proc / str(backend) / "stat").read_text()
        parent = int(stat.rpartition(")")[2].split()[1])
        names = {(proc / str(pid) / "comm").read_text().strip() for pid in (backend, parent)}
    except (OSError, ValueError):
        return None
    return parent if names <= {"postgres", "postmaster"} else None
