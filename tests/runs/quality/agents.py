"""Agents of their own for some systems, so that these are measured at the same time."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.paths import ROOT

FOLDER = ROOT / "var" / "record"
GROUPS = Path("/sys/fs/cgroup/cpu")
MOST = "200000"  # shares of a processor; programs of no group have 1024 each


@contextmanager
def one_for_each(systems: Sequence[str], server: str) -> Iterator[None]:
    """`server`: its address. They run until the end of the block; they and this process go before other programs."""
    go_before_others(GROUPS / "splashboard-agents", os.getpid())
    with ExitStack() as stack:
        for slug in systems:
            process = subprocess.Popen(
                [sys.executable, "-m", "workers.agent", "run", "--config", _config(slug, server)]
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
        yield


def go_before_others(group: Path, pid: int | None) -> None:
    """Puts a process, with what it starts from now on, into a control group that whatever else runs must wait for."""
    group.mkdir(exist_ok=True)
    (group / "cpu.shares").write_text(MOST)
    (group / "cgroup.procs").write_text(str(pid))


def _config(slug: str, server: str) -> Path:
    from apps.core.problems import Invalid  # noqa: PLC0415  (Django is set up by the caller)
    from apps.dispatch.api import register_agent, rotate_agent  # noqa: PLC0415

    name = f"record-{slug}"
    try:
        secret = register_agent(name=name, is_trusted=True)[1]
    except Invalid:
        secret = rotate_agent(name=name)[1]
    folder = FOLDER / slug
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent.token").write_text(secret)
    file = folder / "agent.toml"
    file.write_text(
        f"""include = ["../../agent.d/lab-{slug}.toml"]
[server]
url = "{server}"
token_file = "agent.token"
[agent]
name = "{name}"
spool = "spool"
"""
    )
    return file
