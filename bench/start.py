"""Time of `make run` where it ran before: from the command until it prints its address."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from bench import rounds, warehouse
from bench.context import Bench
from bench.servers import Failed
from config.launch import processes
from config.launch.places import ROOT
from lab.ports import free_port

ROUNDS = 9
LIMIT = 5_000.0  # ms
READY = b"Ctrl-C"  # in the last line printed


def measure(bench: Bench, folder: Path) -> None:
    """Raises Failed if a run ends before it prints its address."""
    var = folder / "start"
    var.mkdir(mode=0o711)  # PostgreSQL runs as another user if we are root
    stores = ("DATABASE_URL", "REDIS_URL")
    env = {name: value for name, value in processes.clean_environment().items() if name not in stores}
    env |= {"SPLASHBOARD_VAR": str(var), "SPLASHBOARD_PORT": str(free_port(var))}
    _started(env)
    sides: dict[str, Callable[[], float]] = {"ours": partial(_started, env), "django": _checked}
    found = rounds.interleaved(sides, rounds=ROUNDS)
    bench.report(
        key="start.again", part="start", title="`make run` again, until it says its address",
        peer="`manage.py check`, which loads all of the product once", unit="ms", better="lower", limit_ours=LIMIT,
        found=rounds.compared(found["ours"], found["django"]),
    )  # fmt: skip


def _started(env: Mapping[str, str]) -> float:
    """Time in ms; stops it again."""
    began = time.monotonic()
    argv = [sys.executable, "-m", "config.launch", "--with-parent", "run"]
    with subprocess.Popen(argv, env=dict(env), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as run:
        assert run.stdout is not None  # noqa: S101 - a pipe was asked for
        lines = []
        for line in run.stdout:
            lines.append(line)
            if READY in line:
                took = time.monotonic() - began
                run.terminate()
                run.communicate()
                return took * 1000
    raise Failed(f"`make run` ended: {b''.join(lines).decode(errors='replace')[-500:]}")


def _checked() -> float:
    """Time in ms."""
    began = time.monotonic()
    warehouse.manage("check")
    return (time.monotonic() - began) * 1000
