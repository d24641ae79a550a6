"""The CPU time of a load tool and of its host's other programs, told apart by real processes."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.waiting import eventually
from workers.agent.measure import share
from workers.agent.measure.clock import RunClock
from workers.agent.measure.neighbours import Neighbours, taken
from workers.agent.samplers.load_tool import LoadTool, ProcessTime, processes, quota

BUSY = "import time\nwhile time.process_time() < 60: pass"
FORKS = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BUSY!r}])"


@contextmanager
def busy(code: str = BUSY) -> Iterator[int]:
    """Process id of a session that takes CPU time."""
    with subprocess.Popen([sys.executable, "-c", code], start_new_session=True) as process:
        try:
            yield process.pid
        finally:
            os.killpg(process.pid, 9)


def spent(tool: LoadTool) -> float:
    return float(tool.read().values.get("agent.tool.cpu.seconds") or 0.0)


@pytest.mark.parametrize("code", [BUSY, FORKS], ids=["itself", "a child"])
def test_the_tools_cpu_time_is_that_of_all_processes_of_its_session(code: str) -> None:
    with busy(code) as pid:
        tool = LoadTool(lambda: pid)
        eventually(lambda: spent(tool) > 0.2, what="its CPU time is seen")
    last = spent(tool)
    assert last > 0.2, "what it had spent is still known once it has ended"


def test_before_the_tool_is_started_it_has_spent_nothing_that_is_known() -> None:
    assert LoadTool(lambda: None).read().values == {}


def test_a_program_beside_the_run_is_named_with_its_share_and_those_of_the_run_are_not(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    # A child of this process would be the agent's own.
    code = f"import os\nopen({str(file)!r}, 'w').write(str(os.getpid()))\nopen('/proc/self/comm', 'w').write('crowd')\n"
    neighbours = Neighbours(RunClock())
    subprocess.run(["setsid", "--fork", sys.executable, "-c", code + BUSY], check=True)
    eventually(lambda: file.exists() and file.read_text().isdigit(), what="the other program has begun")
    other = int(file.read_text())
    try:
        eventually(lambda: processes()[other].seconds > 0.3, what="the other program worked")
        found, without = (neighbours.event(node="agent", ours=ours) for ours in ((), (other,)))
    finally:
        os.kill(other, 9)
    assert found is not None
    assert found.detail["cpus"]["crowd"] > 0.01
    assert "crowd 0." in found.label or "crowd 1." in found.label
    assert without is None or "crowd" not in without.detail["cpus"]


def test_time_of_a_process_that_got_an_ended_ones_number_is_counted_from_its_own_beginning() -> None:
    before = {
        7: ProcessTime("old", 1, 7, started=10, own=50.0),
        8: ProcessTime("same", 1, 8, started=10, own=5.0),
    }
    after = {
        7: ProcessTime("new", 1, 7, started=99, own=2.0),
        8: ProcessTime("same", 1, 8, started=10, own=6.0),
    }
    assert taken(before, after, ours=(), seconds=10.0) == {"new": 0.2, "same": pytest.approx(0.1)}


def test_what_a_child_had_before_the_run_is_not_its_parents_when_it_ends() -> None:
    before = {
        2: ProcessTime("manager", 1, 2, started=1, own=1.0),
        3: ProcessTime("shell", 2, 3, started=2, own=4.0),
        4: ProcessTime("build", 3, 3, started=3, own=800.0),
        5: ProcessTime("careless", 1, 5, started=4, own=1.0),
        6: ProcessTime("ignored", 5, 5, started=5, own=300.0),
    }
    # The build took 3 s more, its shell none, and the manager, which collects both, 2 s. Nobody collects the last one.
    after = {
        2: ProcessTime("manager", 1, 2, started=1, own=1.0, ended=4.0 + 800.0 + 3.0 + 2.0),
        5: ProcessTime("careless", 1, 5, started=4, own=1.0),
    }
    assert taken(before, after, ours=(), seconds=10.0) == {"manager": pytest.approx(0.5), "careless": 0.0}


@pytest.mark.parametrize("parent", [0, 40], ids=["machine or container", "a container seen from its host"])
def test_the_life_of_an_orphan_before_the_run_is_not_that_of_the_process_that_collects_it(parent: int) -> None:
    """The first process of a container collects orphans of others that entered it."""
    first = 1 if parent == 0 else 41
    before = {
        40: ProcessTime("runtime", 1, 40, started=1, own=0.1),
        first: ProcessTime("collector", parent, first, started=1, own=1.0, ended=7.0),
        50: ProcessTime("shell", parent, 50, started=2, own=0.5),
        51: ProcessTime("database", 50, 50, started=3, own=300.0),
    }
    after = {
        40: ProcessTime("runtime", 1, 40, started=1, own=0.1),
        first: ProcessTime("collector", parent, first, started=1, own=2.0, ended=7.0 + 300.0 + 0.5),
    }
    assert taken(before, after, ours=(), seconds=10.0) == {"runtime": 0.0, "collector": pytest.approx(0.1)}


def test_parents_that_seem_to_form_a_ring_do_not_stop_the_run() -> None:
    before = {
        8: ProcessTime("one", 9, 8, started=5, own=1.0),
        9: ProcessTime("other", 8, 9, started=5, own=1.0),
    }
    after = {7: ProcessTime("new", 1, 7, started=6, own=2.0)}
    assert taken(before, after, ours=(), seconds=10.0) == {"new": 0.2}


@pytest.mark.parametrize("version", ["0::/pods/a", "4:memory:/x\n3:cpu,cpuacct:/pods/a"], ids=["two", "one"])
def test_the_quotas_of_a_process_are_those_of_its_groups_and_of_the_groups_above(tmp_path: Path, version: str) -> None:
    root = tmp_path / "cgroup" / (version.rsplit(":", 2)[-2] if "cpuacct" in version else "")
    for path, throttled in (("pods/a", 30), ("pods", 5), ("", 0)):
        (root / path).mkdir(parents=True, exist_ok=True)
        (root / path / "cpu.stat").write_text(f"nr_periods {100 if throttled else 0}\nnr_throttled {throttled}\n")
    process = tmp_path / "7"
    process.mkdir()
    (process / "cgroup").write_text(version + "\n")
    assert quota(process, tmp_path / "cgroup") == {
        "agent.tool.quota.periods": 200,
        "agent.tool.quota.throttled": 35,
    }
    assert quota(tmp_path / "gone", tmp_path / "cgroup") == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="a raised priority takes root")
def test_a_thread_that_goes_first_gives_its_priority_to_no_program() -> None:
    seen = []

    def first() -> None:
        seen.append(share.go_first())
        seen.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == share.NICE)

    thread = threading.Thread(target=first)
    thread.start()
    thread.join()
    assert seen == [True, True]
    shown = subprocess.run(["nice"], capture_output=True, text=True, check=True).stdout
    assert int(shown) == os.getpriority(os.PRIO_PROCESS, 0) != share.NICE
