"""`make check`: every static check of the code."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from config.launch import environment, frontend, processes
from config.launch.console import LaunchStep, Screen
from config.launch.places import FRONTEND, ROOT, VENV, Places, make_folders


@dataclass(frozen=True)
class CodeCheck:
    name: str
    argv: tuple[str | Path, ...]
    cwd: Path = ROOT
    node: bool = False  # `argv` is npm's


WRITE_CLIENT_TYPES = (VENV / "bin" / "python", "manage.py", "write_client_types")
# Of the API, for the front end and for the client.
API_TYPES = [
    CodeCheck("types", ("run", "api-types"), FRONTEND, node=True),
    CodeCheck("client's types", WRITE_CLIENT_TYPES),
]


def all_checks() -> list[CodeCheck]:
    tools = VENV / "bin"
    return [
        CodeCheck("formatting", (tools / "ruff", "format", "--check", ".")),
        CodeCheck("lint", (tools / "ruff", "check", ".")),
        CodeCheck("imports", (tools / "lint-imports",)),
        CodeCheck("types", (tools / "mypy",)),
        CodeCheck("templates", (tools / "djlint", "--lint", "apps")),
        CodeCheck("migrations", (tools / "python", "manage.py", "makemigrations", "--check", "--dry-run")),
        CodeCheck("client's types of the API", (*WRITE_CLIENT_TYPES, "--check")),
        CodeCheck("front end's formatting", ("run", "--if-present", "format"), FRONTEND, node=True),
        CodeCheck("front end's lint", ("run", "--if-present", "lint"), FRONTEND, node=True),
        CodeCheck("front end's types of the API", ("run", "api-types", "--", "--check"), FRONTEND, node=True),
        CodeCheck("front end's types", ("run", "--if-present", "typecheck"), FRONTEND, node=True),
        CodeCheck("front end's tests", ("run", "--if-present", "test"), FRONTEND, node=True),
    ]


def run(places: Places, screen: Screen, wanted: Sequence[CodeCheck] | None = None) -> int:
    """Exit code of `make check`, or of those `wanted`. Raises LaunchProblem when the set-up fails."""
    make_folders(places)
    environment.ensure(places=places, screen=screen)
    node = frontend.ensure_packages(places=places, screen=screen)
    passed = [_passes(check, places, screen, node) for check in wanted or all_checks()]
    return 0 if all(passed) else 1


def command(check: CodeCheck, node: Path) -> tuple[list[str | Path], dict[str, str]]:
    """Arguments and environment. `node`: the folder of node and npm."""
    if check.node:
        return [*frontend.npm(node), *check.argv], frontend.environ(node)
    return list(check.argv), processes.clean_environment()


def _passes(check: CodeCheck, places: Places, screen: Screen, node: Path) -> bool:
    step, log = LaunchStep(screen, f"Checking {check.name}"), places.log_of(f"check-{check.name.replace(' ', '-')}")
    argv, env = command(check, node)
    code = processes.run(argv, step=step, log=log, env=env, cwd=check.cwd)
    step.failed()
    screen.line(f"  {'ok    ' if code == 0 else 'FAILED'}  {check.name} ({step.elapsed:.1f} s)")
    if code:
        for line in processes.tail(log, 60):
            screen.line(f"    | {line}")
    return code == 0
