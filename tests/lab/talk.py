"""Speaking to a system of the lab as its users do: through HAProxy, and by the commands that the agent is given."""

import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from lab.mariadb import MariaDB
from tests.support.waiting import eventually


class Proxied(Protocol):
    slug: str
    var: Path

    @property
    def ports(self) -> dict[str, int]: ...
    @property
    def servers(self) -> Mapping[str, MariaDB]: ...


def through_proxy(system: Proxied, statement: str) -> str:
    """What the writer answers; empty: nobody does."""
    argv = ["mariadb", "--no-defaults", "-h127.0.0.1", f"-P{system.ports['writer']}", "-usplashboard", "-N", "-B"]
    argv += [f"-p{system.servers['node1'].password}", "--connect-timeout=10", "-e", statement]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()


def await_writer(system: Proxied, *, other_than: str = "") -> str:
    """Name of the node that answers to the writer's port."""
    names = {str(server.port): node for node, server in system.servers.items()}

    def writer() -> str:
        name = names.get(through_proxy(system, "SELECT @@port"), "")
        return name if name != other_than else ""

    return eventually(writer, what="somebody took over", seen=lambda: other_than)


def controls(system: Proxied) -> Any:
    fragment = tomllib.loads((system.var / "agent.d" / f"lab-{system.slug}.toml").read_text())
    return fragment["systems"][0]["controls"]


def run(argv: list[str]) -> None:
    """From a directory where nothing of ours is."""
    answer = subprocess.run(argv, cwd="/", capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


def kill(system: Proxied, node: str) -> None:
    """By the agent's command, which loads nothing but what it needs: when it is done the server has its SIGKILL."""
    argv = controls(system)[node]["kill"]
    assert argv[1:3] == ["-I", "-S"]
    run(argv)
    eventually(lambda: system.servers[node].pid is None, what=f"{node} has ended")
