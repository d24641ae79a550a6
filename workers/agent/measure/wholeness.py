"""Whether all of a system is there: a run on what a fault left of it would measure something else."""

from typing import Any

import pymysql
from pymysql.cursors import Cursor

from workers.agent.measure import database, group
from workers.agent.runtime.config import SystemConfig
from workers.agent.samplers.replication import STATEMENTS, connection_name, from_sources

TIMEOUT = 5.0  # s for each node
# Galera's states of a node that serves.
GALERA = {"wsrep_local_state_comment": "Synced", "wsrep_cluster_status": "Primary"}
THREADS = ("Slave_IO_Running", "Slave_SQL_Running", "Replica_IO_Running", "Replica_SQL_Running")
REMEDY = 'it gets no jobs until that is put right (in the lab: `make lab ARGS="up {slug}"`)'


class NotWhole(database.DatabaseFailed):
    """The system answers, but not all of it is in sync. The text names the node and the remedy."""


def require_whole(system: SystemConfig) -> None:
    """Every node that is queried answers; Galera's are in sync, and all members of a group ONLINE; of servers of which
    some replicate, all but one do.

    Raises NotWhole. What this account may not see is taken for right.
    """
    nodes = [node for node in system.nodes if node.asked]
    if len(nodes) < 2 or system.aws:
        return
    sources: list[str] = []
    replicas = 0
    for node in nodes:
        try:
            with database.session(system, doing="look at it", address=node.address, timeout=TIMEOUT) as cursor:
                in_cluster = is_galera(cursor)
                problem_of_cluster = _galera_problem(cursor) if in_cluster else ""
                view = None if in_cluster else group.look(cursor)
                rows = None if in_cluster or view else _replication(cursor)
        except database.DatabaseFailed as problem:
            raise _broken(system, f"node {node.name} does not answer ({problem})") from problem
        if problem_of_cluster:
            raise _broken(system, f"node {node.name} is not in sync: {problem_of_cluster}")
        if view and (problem_of_group := view.problem(len(nodes))):
            raise _broken(system, f"node {node.name} {problem_of_group}")
        if stopped := [thread for row in rows or () for thread in _stopped(row)]:
            raise _broken(system, f"node {node.name} does not replicate: {' and '.join(stopped)} is not Yes")
        if rows:
            replicas += 1
        elif rows is not None:
            sources.append(node.name)
    if replicas and len(sources) > 1:
        raise _broken(system, f"nodes {' and '.join(sources)} have no source: there is more than one writer")


def _broken(system: SystemConfig, what: str) -> NotWhole:
    return NotWhole(f"system {system.slug} is not whole: {what}; {REMEDY.format(slug=system.slug)}")


def is_galera(cursor: Cursor) -> bool:
    """As sessions have it: in Percona XtraDB Cluster wsrep_on is no global variable. Raises pymysql.MySQLError or
    OSError."""
    cursor.execute("SHOW SESSION VARIABLES LIKE 'wsrep_on'")
    row = cursor.fetchone()
    return row is not None and str(row[1]).upper() == "ON"


def _galera_problem(cursor: Cursor) -> str:
    """Empty: none."""
    for name, healthy in GALERA.items():
        cursor.execute("SHOW GLOBAL STATUS LIKE %s", (name,))
        row = cursor.fetchone()
        if row and row[1] != healthy:
            return f"Galera's state is {row[1]}"
    return ""


def _replication(cursor: Cursor) -> list[dict[str, Any]] | None:
    """The state of its replication from each source; empty: it has none; None: this account may not see it."""
    for statement in STATEMENTS:
        try:
            cursor.execute(statement)
        except pymysql.MySQLError:
            continue
        names = [column[0] for column in cursor.description or ()]
        return from_sources([dict(zip(names, row, strict=True)) for row in cursor.fetchall()])
    return None


def _stopped(row: dict[str, Any]) -> list[str]:
    """Its threads that do not run."""
    name = connection_name(row)
    of = f" of {name}" if name else ""
    return [f"{thread}{of}" for thread in THREADS if thread in row and row[thread] != "Yes"]
