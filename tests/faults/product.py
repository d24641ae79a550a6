"""Run as a program: the whole product as `make run` starts it, in a hurry, with the agent of these tests."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from config.launch import places, processes, programs, pulses, supervisor, watchdog
from config.launch.console import LaunchProblem, Screen
from config.launch.places import PYTHON, Places
from config.launch.programs import Program
from tests.faults import clocks

SYSTEM = """
[[hardware]]
slug = "box"
vcpu = 2
memory_mb = 4096

[[systems]]
slug = "seeded"
platform = "mariadb"
hardware_class = "box"
host = "127.0.0.1"
port = 3306
user = "nobody"
password = "none"
"""


def _agent(setup: Places) -> Program:
    argv = (PYTHON, "-m", "tests.faults.agent", "run", "--config", setup.var / "agent.toml")
    return Program("agent", (*clocks.under(setup.var, "agent"), *argv))


def _in_a_hurry(program: Program) -> Program:
    return replace(
        program, argv=tuple("tests.e2e.hurried" if word == "workers.celery" else word for word in program.argv)
    )


def _with_clock(setup: Places, program: Program) -> Program:
    return replace(program, argv=(*clocks.under(setup.var, "server"), *program.argv))


def _web(setup: Places, *, real: Any = programs.web) -> Program:
    return _with_clock(setup, real(setup))


def _environ(*arguments: Any, real: Any = programs.environ, **named: Any) -> dict[str, str]:
    return {**real(*arguments, **named), "DJANGO_SETTINGS_MODULE": "tests.faults.settings"}


if __name__ == "__main__":
    processes.Signals.install()
    setup, screen = places.from_environment(), Screen()
    pulses.ASK_EVERY, pulses.ANSWER_WITHIN, pulses.FIRST_ASKED_AFTER = 1.0, 3.0, 20.0
    pulses.SILENT_FOR = 40.0
    watchdog.HEALTHY_AFTER = 5.0  # many faults one after the other are no program that ends again and again
    worker, beat = (_with_clock(setup, _in_a_hurry(each)) for each in (programs.worker(), programs.beat(setup)))
    for name, instead in (
        *(("web", _web), ("worker", lambda: worker), ("beat", lambda _places: beat)),
        *(("agent", _agent), ("environ", _environ)),
    ):
        patch.object(programs, name, instead).start()
    folder = Path(setup.var) / "agent.d"
    folder.mkdir(exist_ok=True)
    (folder / "seeded.toml").write_text(SYSTEM)
    (folder / "seeded.toml").chmod(0o600)
    try:
        sys.exit(supervisor.run(setup, screen))
    except LaunchProblem as problem:
        screen.problem(str(problem))
        sys.exit(1)
