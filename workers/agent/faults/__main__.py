"""`python -m workers.agent.faults prepare|run|restore|clean_up --secrets FILE …`."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pymysql

from workers.agent.faults import faults, readback
from workers.agent.faults import system as faults_system
from workers.agent.faults.run import ProbeRun
from workers.agent.faults.system import ASK_TIMEOUT, TABLE, TargetSystem
from workers.agent.measure.database import error_text
from workers.agent.programs.order import Order, obey
from workers.agent.programs.report import Failed

CREATE = (
    "CREATE TABLE `{schema}`.`{table}` (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, "
    # Not unique, so that duplicate writes show.
    "run CHAR(16) NOT NULL, seq INT UNSIGNED NOT NULL, KEY run_seq (run, seq), "
    "worker INT NOT NULL, made_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)) ENGINE=InnoDB"
)
COME_BACK = 20.0  # s for a node to recover by itself before it is started
START_TIMEOUT = 90.0  # s
PROMOTED = 5.0  # s that a manager may need from its conclusion to the closing of the endpoint
RETRIED = 30.0  # s of attempts to restore; each may take longer
PAUSE = 0.2  # s between polls


def prepare(order: Order) -> None:
    system = faults_system.read(order.secrets_file)
    system.ask(system.endpoint, CREATE.format(schema=system.schema, table=TABLE), timeout=ASK_TIMEOUT)


def run(order: Order) -> None:
    ProbeRun(order).perform()


def restore(order: Order) -> None:
    """Undoes what a killed run left: a node frozen or cut off, one stopped that has a `start` control, or a source that
    was replaced meanwhile; the others also where one fails, and all again for a while. Raises Failed."""
    deadline = time.monotonic() + RETRIED
    while problems := list(_problems(order)):
        if time.monotonic() > deadline:
            raise Failed("; ".join(problems))
        time.sleep(PAUSE)


def _problems(order: Order) -> Iterator[str]:
    try:
        faults.undo_left(order.work / faults.STRUCK)
    except Failed as problem:
        yield str(problem)
    system = faults_system.read(order.secrets_file)
    yield from _problems_of_nodes(system)
    try:
        _follow_successor(system, order.work / faults.STRUCK)
    except Failed as problem:
        yield str(problem)


def _problems_of_nodes(system: TargetSystem) -> Iterator[str]:
    for node, controls in system.controls.items():
        if node in system.nodes and "start" in controls:
            try:
                _start(system, node, controls["start"])
            except Failed as problem:
                yield str(problem)


def _start(system: TargetSystem, node: str, control: Sequence[str]) -> None:
    """Unless it answers or comes back by itself. Raises Failed."""
    deadline = time.monotonic() + COME_BACK
    while not _answers(system, node):
        if time.monotonic() > deadline:
            faults.run(control, f"node {node} does not answer and could not be started", START_TIMEOUT)
            break
        time.sleep(PAUSE)


def _follow_successor(system: TargetSystem, file: Path) -> None:
    """Makes the node of an undone fault a replica of the source that took over: it would stay a second one for good,
    and the system get no jobs. Raises Failed."""
    fault = faults.unsettled(file)
    if fault is None:
        return
    start = system.controls.get(fault.node, {}).get("start")
    if start and fault.node in system.nodes and _is_replaced(system, fault.node):
        faults.run(start, f"node {fault.node}, which was replaced, could not be made a replica", START_TIMEOUT)
    faults.settled(file)


def _is_replaced(system: TargetSystem, node: str) -> bool:
    """Whether a source has a successor, now or soon. Raises Failed."""
    deadline = time.monotonic() + PROMOTED
    if not _answers(system, node):
        raise Failed(f"node {node} does not answer")
    while readback.has_no_source(system, node):
        try:
            at_endpoint, own = (faults_system.identity_at(system, at) for at in (system.endpoint, system.nodes[node]))
        except (pymysql.MySQLError, OSError) as error:
            raise Failed(f"the system does not answer: {error_text(error)}") from error
        if at_endpoint != own:
            return True
        if len(system.nodes) == 1 or time.monotonic() > deadline:
            break
        time.sleep(PAUSE)
    return False


def clean_up(_: Order) -> None:
    """The agent drops the table."""


def _answers(system: TargetSystem, node: str) -> bool:
    try:
        system.ask(system.nodes[node], "SELECT 1", timeout=1)
    except (pymysql.MySQLError, OSError):
        return False
    return True


if __name__ == "__main__":
    obey({"prepare": prepare, "run": run, "restore": restore, "clean_up": clean_up})
