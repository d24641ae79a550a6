"""The failover probe: what it refuses, what it counts; and on a real Galera cluster, what a killed writer does."""

import contextlib
import json
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymysql
import pytest

from tests.paths import ROOT
from tests.support.waiting import LIMIT, eventually
from workers.agent.faults import __main__ as program
from workers.agent.faults import faults, transfer
from workers.agent.faults import system as faults_system
from workers.agent.faults.faults import STRUCK, Fault, Faulty, plan, run
from workers.agent.faults.readback import account, errant
from workers.agent.faults.system import TargetSystem
from workers.agent.programs.order import Order, arguments
from workers.agent.programs.report import Failed
from workers.agent.runtime.config import ServerAddress
from workers.agent.tools import InvalidToolParameters, Target
from workers.agent.tools.failover import Failover
from workers.protocol.wire import LoadLevelMessage

# Freezes and thaws; stopped by SIGTERM while the thawing is under way.
THAWING = """
import signal, sys
from pathlib import Path
from tests.workers.agent.faults.test_probe import a_target
from workers.agent.faults.faults import Fault, Faulty

signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
folder = sys.argv[1]
thaw = ("sh", "-c", "touch $0/begun; sleep 0.4; echo thawed >> $0/thawed", folder)
with Faulty(Fault("freeze", "db1", "writer", ("true",), thaw), a_target(), Path(folder, "struck")) as faulty:
    faulty.strike()
    faulty.undo(timeout=60)
"""
# Stopped by SIGTERM amid a planned switch.
SWITCHING = """
import signal, sys
from pathlib import Path
from tests.workers.agent.faults.test_probe import a_target
from workers.agent.faults.faults import Fault, Faulty

signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
folder = sys.argv[1]
switch = ("sh", "-c", "touch $0/begun; sleep 0.4; touch $0/switched", folder)
with Faulty(Fault("switch", "db1", "from", switch), a_target(), Path(folder, "struck")) as faulty:
    faulty.strike()
"""
NODE = {name: (f"{name} it",) for name in ("kill", "start", "freeze", "thaw")}


def a_target(platform: str = "galera", **controls: Any) -> TargetSystem:
    nodes = {name: ServerAddress(port=number) for number, name in enumerate(("db1", "db2"), start=1)}
    return TargetSystem(
        host="127.0.0.1",
        port=0,
        socket="",
        user="u",
        schema="s",
        platform=platform,
        password="p",
        nodes=nodes,
        controls=controls,
    )


@pytest.mark.parametrize(
    ("fault", "system", "words"),
    [
        ("kill_writer", a_target(), r"kill_writer needs a control of node db1: add `kill` to \[systems.controls.db1\]"),
        ("kill_writer", a_target(db1={"kill": ("k",)}), "could not be undone on node db1: add `start`"),
        ("cut_writer", a_target(db1=NODE), "cut_writer needs a control of node db1: add `cut`"),
        ("switch", a_target(db1=NODE), r"switch needs the system's own control: add `switch` to \[systems.controls\]"),
        ("crash", a_target(), "crash is Aurora's ALTER SYSTEM CRASH; platform galera has no such statement"),
        ("rds_failover", a_target(), "needs AWS; platform galera has switch instead"),
        ("rds_failover", a_target("aurora"), "needs the system's own control: add `switch`"),
    ],
)
def test_a_fault_that_the_system_cannot_have_is_refused_with_what_is_missing(
    fault: str, system: TargetSystem, words: str
) -> None:
    with pytest.raises(Failed, match=words):
        plan(fault, system=system, writer="db1", readers=["db2"])


def test_the_reader_that_is_killed_is_one_that_can_be_and_not_the_writer() -> None:
    found = plan("kill_reader", system=a_target(db2=NODE), writer="db1", readers=["db2"])
    assert found == Fault("kill", "db2", "reader", ("kill it",), ("start it",))
    with pytest.raises(Failed, match="needs a reader, and no other node than the writer db1"):
        plan("kill_reader", system=a_target(db1=NODE), writer="db1", readers=[])


def identified(monkeypatch: pytest.MonkeyPatch, **hosts: str) -> None:
    """The servers' hostnames by the nodes' addresses; all listen on one port with one server_id."""
    nodes = a_target().nodes
    found = {nodes[node]: (host, "3306", "1") for node, host in hosts.items()}
    monkeypatch.setattr(faults_system, "identity_at", lambda _, address: found[address])


def test_nodes_that_are_one_server_are_refused_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    identified(monkeypatch, db1="here", db2="here")
    with pytest.raises(Failed, match=r"nodes db1 and db2 are the same server, or have the same .* \(here:3306:1\)"):
        faults_system.node_names(a_target())


def test_an_instance_of_rds_keeps_its_name_on_another_host_beside_a_replica(monkeypatch: pytest.MonkeyPatch) -> None:
    system = replace(a_target("rds-mysql"), port=a_target().nodes["db1"].port)
    identified(monkeypatch, db1="ip-10-0-0-1", db2="ip-10-0-0-2")
    names = faults_system.node_names(system)
    identified(monkeypatch, db1="ip-10-0-1-9", db2="ip-10-0-0-2")
    assert faults_system.writer(system, names) == "db1"


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (
            b"WSREP: SST received: u:1\nWSREP: Receiving IST: 3 writesets, seqnos 2-4\n",
            "by a whole transfer, 3 writesets",
        ),
        (
            b"WSREP_SST: [INFO] rsync SST completed on joiner (20261127 06:24:50.923)\nWSREP: SST received: u:1\n",
            "by a whole transfer (rsync); 77 bytes from the group",
        ),
        (
            b"WSREP_SST: [INFO] rsync IST completed on joiner (20261127 06:24:50.923)\nWSREP: SST received: u:1\n"
            b"WSREP: Receiving IST: 3 writesets, seqnos 2-4\n",
            "by an incremental transfer, 3 writesets",
        ),
        (
            b"WSREP: Receiving IST: 1200 writesets, seqnos 2-1201\n",
            "by an incremental transfer, 1,200 writesets; 77 bytes",
        ),
        (b"WSREP: Synchronized with group\n", "db1 needed no state transfer"),
    ],
)
def test_how_a_galera_node_got_its_state_is_read_from_its_log(log: bytes, words: str) -> None:
    assert words in transfer.read(log, received=77).words("db1")


def test_a_control_that_fails_is_reported_in_its_own_words_and_with_the_command() -> None:
    with pytest.raises(Failed, match="kill did not work: no such node; run: sh -c echo no such node; exit 3"):
        run(("sh", "-c", "echo no such node; exit 3"), "kill did not work", LIMIT)
    with pytest.raises(Failed, match="it had not ended after 0 s"):
        run(("sleep", "60"), "kill did not work", 0.2)
    with pytest.raises(Failed, match="nowhere cannot be started"):
        run(("nowhere",), "kill did not work", LIMIT)


def crash_answered_with(code: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(*_: Any, **_timeout: float) -> None:
        raise pymysql.OperationalError(code, "in words")

    monkeypatch.setattr(TargetSystem, "ask", ask)
    Faulty(Fault("crash", "db1", "writer"), a_target("aurora"), folder / STRUCK).strike()


@pytest.mark.parametrize("code", [1044, 1142, 1227, 1290])
def test_a_refused_crash_is_a_failure(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Failed, match=f"ALTER SYSTEM CRASH writer db1 did not work: {code} in words"):
        crash_answered_with(code, tmp_path, monkeypatch)


@pytest.mark.parametrize("code", [1053, 2006, 2013])
def test_a_crash_that_ends_its_own_connection_worked(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash_answered_with(code, tmp_path, monkeypatch)


def test_a_program_that_has_to_stop_puts_the_node_right_behind_it(tmp_path: Path) -> None:
    struck, right = tmp_path / "struck", tmp_path / "right"
    fault = Fault("kill", "db1", "writer", ("touch", str(struck)), ("touch", str(right)))
    with contextlib.suppress(SystemExit), Faulty(fault, a_target(), tmp_path / STRUCK) as faulty:
        faulty.strike()
        assert (struck.exists(), right.exists()) == (True, False)
        raise SystemExit(143)
    assert faulty.undoing is not None
    assert faulty.undoing.wait(LIMIT) == 0
    assert right.exists()


def test_a_program_stopped_while_it_thaws_a_node_leaves_it_thawed(tmp_path: Path) -> None:
    program = subprocess.Popen([sys.executable, "-c", THAWING, str(tmp_path)], cwd=ROOT)
    try:
        eventually((tmp_path / "begun").exists, what="the node is being thawed")
        program.send_signal(signal.SIGTERM)
        assert program.wait(LIMIT) == 143
        eventually((tmp_path / "thawed").exists, what="the node is thawed")
        eventually(lambda: not (tmp_path / "struck").exists(), what="nothing is left to be undone")
        assert (tmp_path / "thawed").read_text() == "thawed\n"  # once
    finally:
        program.kill()
        program.wait()


def test_a_planned_switch_ends_though_the_program_is_stopped_meanwhile(tmp_path: Path) -> None:
    program = subprocess.Popen([sys.executable, "-c", SWITCHING, str(tmp_path)], cwd=ROOT)
    try:
        eventually((tmp_path / "begun").exists, what="the switch is under way")
        program.send_signal(signal.SIGTERM)
        assert program.wait(LIMIT) == 143
        eventually((tmp_path / "switched").exists, what="the switch has ended")
    finally:
        program.kill()
        program.wait()


def test_a_system_whose_manager_is_not_back_in_time_is_not_ready_for_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faults, "READY_PAUSE", 0.0)
    # Fails the first time.
    check = ("sh", "-c", 'test -e "$0" && exit; touch "$0"; echo mha is stopped; exit 2', str(tmp_path / "asked"))
    faults.await_ready(replace(a_target(), controls={"": {"check": check}}))
    (tmp_path / "asked").unlink()
    monkeypatch.setattr(faults, "READY_TIMEOUT", 0.0)
    with pytest.raises(Failed, match="the system is not ready for a fault: mha is stopped; run: sh -c"):
        faults.await_ready(replace(a_target(), controls={"": {"check": check}}))


def test_a_thawed_node_is_remembered_until_its_trial_has_settled(tmp_path: Path) -> None:
    file = tmp_path / STRUCK
    fault = Fault("freeze", "db1", "writer", ("true",), ("true",))
    with contextlib.suppress(SystemExit), Faulty(fault, a_target(), file) as faulty:
        faulty.strike()
        faulty.undo(timeout=LIMIT)
        raise SystemExit(143)
    assert faults.unsettled(file) == fault
    with Faulty(fault, a_target(), file) as faulty:
        faulty.strike()
        faulty.undo(timeout=LIMIT)
    assert faults.unsettled(file) is None


def left(folder: Path, fault: Fault, **more: Any) -> Order:
    """The order of the step restore, where a program died after it had injected the fault."""
    fields = {"host": "", "port": 0, "socket": "", "user": "", "password": "", "schema": "", "platform": "galera"}
    (folder / "secrets").write_text(json.dumps({**fields, "nodes": {}, "controls": {}, **more}))
    Faulty(fault, a_target(), folder / STRUCK).__enter__()
    return Order(folder / "secrets", parameters={}, threads=1, rate=None, warmup=0, duration=0)


def restored(folder: Path, fault: Fault) -> "subprocess.CompletedProcess[str]":
    argv = [sys.executable, "-m", "workers.agent.faults", *arguments("restore", left(folder, fault))]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_node_that_a_program_which_died_left_frozen_is_thawed_by_another(tmp_path: Path) -> None:
    fault = Fault("freeze", "db1", "writer", ("true",), ("touch", str(tmp_path / "thawed")))
    assert restored(tmp_path, fault).returncode == 0
    assert (tmp_path / "thawed").exists()
    assert not (tmp_path / STRUCK).exists()


def test_a_node_that_cannot_be_thawed_is_reported_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "RETRIED", 0.0)
    fault = Fault("freeze", "db1", "writer", ("true",), ("sh", "-c", "echo no such node; exit 3"))
    with pytest.raises(Failed, match=r"^freeze writer db1 could not be undone: no such node; run: sh -c"):
        program.restore(left(tmp_path, fault))
    assert (tmp_path / STRUCK).exists()


def test_a_node_that_cannot_be_thawed_at_once_is_thawed_a_little_later(tmp_path: Path) -> None:
    # Fails the first time.
    thaw = ("sh", "-c", 'test -e "$0/tried" && touch "$0/thawed"; code=$?; touch "$0/tried"; exit $code', str(tmp_path))
    assert restored(tmp_path, Fault("freeze", "db1", "writer", ("true",), thaw)).returncode == 0
    assert (tmp_path / "thawed").exists()
    assert not (tmp_path / STRUCK).exists()


def test_a_node_is_started_although_another_cannot_be_thawed_or_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "COME_BACK", 0.0)
    monkeypatch.setattr(program, "RETRIED", 0.0)
    monkeypatch.setattr(faults, "UNDO_UNDER_WAY", 0.0)
    fault = Fault("freeze", "db1", "writer", ("true",), ("false",))
    closed = {"host": "127.0.0.1", "port": 1}
    starts = {"db2": ["false"], "db3": ["touch", str(tmp_path / "started")]}
    controls = {node: {"start": start} for node, start in starts.items()}
    order = left(tmp_path, fault, nodes=dict.fromkeys(controls, closed), controls=controls)
    with pytest.raises(Failed, match=r"db1 could not be undone: .*; node db2 does not answer and could not be started"):
        program.restore(order)
    assert (tmp_path / "started").exists()


def test_a_fault_of_an_earlier_trial_is_not_undone_after_a_later_one(tmp_path: Path) -> None:
    freeze = Fault("freeze", "db1", "writer", ("true",), ("touch", str(tmp_path / "thawed")))
    order = left(tmp_path, freeze)
    # Killed in the middle of a trial of another fault.
    Faulty(Fault("kill", "db1", "writer", ("true",), ("true",)), a_target(), tmp_path / STRUCK).__enter__()
    program.restore(order)
    assert not (tmp_path / "thawed").exists()


def test_writes_are_counted_by_what_the_client_saw_and_what_the_table_has() -> None:
    outcomes = [(1, True), (2, True), (3, False), (3, True), (4, False), (5, False)]
    found = account(outcomes, Counter({1: 1, 3: 2, 4: 1, 9: 1}))
    assert found.missing == [2]
    assert found.failed_present == [4]
    assert (found.duplicated, found.twice) == (1, [3])  # the third, which was sent twice
    assert found.unknown == [9]
    assert (found.rows, found.expected()) == (5, 4)


def test_a_row_of_the_old_source_is_errant_though_the_insert_was_sent_again_and_is_in_its_successors_table() -> None:
    own = Counter({(1, 7, "1.5"): 1, (2, 8, "1.6"): 1, (3, 9, "1.7"): 1})
    present = Counter({(1, 7, "1.5"): 1, (2, 8, "9.2"): 1})
    assert errant(own, present) == {8: 1, 9: 1}
    assert errant(own, own).total() == 0


def invocation(parameters: dict[str, Any], duration: float) -> None:
    target = Target(address=ServerAddress(), user="u", schema="s", secrets=Path("secrets"))
    level = LoadLevelMessage(threads=1)
    Failover().run(target, parameters, load_level=level, warmup=0, duration=duration)


def test_a_run_that_ends_with_its_fault_or_needs_thousands_of_connections_is_refused() -> None:
    with pytest.raises(InvalidToolParameters, match=r"the fault would come after 10 s .* which lasts 12 s; 5 s more"):
        invocation({}, 12)
    with pytest.raises(InvalidToolParameters, match="rate × timeout × tries is 4000"):
        invocation({"rate": 200, "timeout": 20}, 60)
