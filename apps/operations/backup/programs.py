"""pg_dump and pg_restore, with the database's address in their environment: command lines are readable by others."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from django.db import connection
from django.db.backends.postgresql.client import DatabaseClient


class ProgramProblem(Exception):
    """The program is missing, too old or failed; the message has the remedy."""


def server_major() -> int:
    return int(connection.cursor().connection.info.server_version) // 10000


def run(name: str, *arguments: str | Path, folder: Path | None) -> None:
    """Runs pg_dump or pg_restore on our database; `folder`: where it is, None: on PATH. Raises ProgramProblem."""
    program = str(folder / name) if folder else name
    _require_as_new_as_the_server(program, name)
    done = subprocess.run(
        [program, "--no-password", *map(str, arguments)], env=_environ(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines: Sequence[str] = [line for line in done.stderr.splitlines() if line.strip()]
        raise ProgramProblem(f"{name} failed: {' | '.join(lines[:3]) or f'exit code {done.returncode}'}")


def _require_as_new_as_the_server(program: str, name: str) -> None:
    server = server_major()
    remedy = f"install PostgreSQL's client programs {server} or later, or name their folder with --programs"
    try:
        printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise ProgramProblem(f"{name} does not run ({error}): {remedy}") from error
    found = re.search(r"\(PostgreSQL\) (\d+)", printed)
    if found is None or int(found[1]) < server:
        raise ProgramProblem(f"{program} is of {printed.strip()} and the server of PostgreSQL {server}: {remedy}")


def _environ() -> dict[str, str]:
    settings = connection.settings_dict
    _, private = DatabaseClient.settings_to_cmd_args_env(settings, [])
    address = {"PGHOST": settings["HOST"], "PGPORT": settings["PORT"], "PGUSER": settings["USER"]}
    address["PGDATABASE"] = settings["NAME"]
    return {**os.environ, **(private or {}), **{name: str(value) for name, value in address.items() if value}}
