"""`make check`: every static check of the code, and of what it consists of."""

import contextlib
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from config.launch import environment, frontend, processes
from config.launch.console import LaunchStep, Screen
from config.launch.places import FRONTEND, PYTHON, ROOT, VENV, Places, make_folders

# Exit code of a check that could not be made, as automake's tests have it; the last line printed is the reason.
SKIPPED = 77


@dataclass(frozen=True)
class CodeCheck:
    name: str
    argv: tuple[str | Path, ...]
    cwd: Path = ROOT
    node: bool = False  # `argv` is npm's
    waits: bool = False  # mostly for a registry: made beside the others


WRITE_CLIENT_TYPES = (PYTHON, "manage.py", "write_client_types")
# Of the API, for the front end and for the client.
API_TYPES = [
    CodeCheck("types", ("run", "api-types"), FRONTEND, node=True),
    CodeCheck("client's types", WRITE_CLIENT_TYPES),
]
BILLS = [CodeCheck("bills of materials", (PYTHON, "-m", "config.supply_chain.bills"))]
ADVISORIES = (PYTHON, "-m", "config.supply_chain.advisories")


def all_checks() -> list[CodeCheck]:
    tools = VENV / "bin"
    return [
        CodeCheck("formatting", (tools / "ruff", "format", "--check", ".")),
        CodeCheck("lint", (tools / "ruff", "check", ".")),
        CodeCheck("imports", (tools / "lint-imports",)),
        CodeCheck("types", (tools / "mypy",)),
        CodeCheck("templates", (tools / "djlint", "--lint", "apps")),
        CodeCheck("migrations", (PYTHON, "manage.py", "makemigrations", "--check", "--dry-run")),
        CodeCheck("client's types of the API", (*WRITE_CLIENT_TYPES, "--check")),
        CodeCheck("front end's formatting", ("run", "--if-present", "format"), FRONTEND, node=True),
        CodeCheck("front end's lint", ("run", "--if-present", "lint"), FRONTEND, node=True),
        CodeCheck("front end's types of the API", ("run", "api-types", "--", "--check"), FRONTEND, node=True),
        CodeCheck("front end's types", ("run", "--if-present", "typecheck"), FRONTEND, node=True),
        CodeCheck("front end's tests", ("run", "--if-present", "test"), FRONTEND, node=True),
        CodeCheck("licences", (PYTHON, "-m", "config.supply_chain.licences")),
        CodeCheck("secrets", (PYTHON, "-m", "config.supply_chain.tracked_secrets")),
        *BILLS,
        CodeCheck("known vulnerabilities of Python packages", (*ADVISORIES, "python"), waits=True),
        CodeCheck("known vulnerabilities of npm packages", (*ADVISORIES, "npm"), waits=True),
    ]


def run(places: Places, screen: Screen, wanted: Sequence[CodeCheck] | None = None) -> int:
    """Exit code of `make check`, or of those `wanted`. Raises LaunchProblem when the set-up fails."""
    make_folders(places)
    environment.ensure(places=places, screen=screen)
    node = frontend.ensure_packages(places=places, screen=screen)
    chosen = wanted or all_checks()
    with _beside([check for check in chosen if check.waits], places, node) as waiting:
        passed = [_passes(check, places, screen, node) for check in chosen if not check.waits]
        passed += [_passes_beside(check, process, places, screen) for check, process in waiting]
    return 0 if all(passed) else 1


def command(check: CodeCheck, node: Path) -> tuple[list[str | Path], dict[str, str]]:
    """Arguments and environment. `node`: the folder of node and npm."""
    if check.node:
        return [*frontend.npm(node), *check.argv], frontend.environ(node)
    return list(check.argv), processes.clean_environment()


def _passes(check: CodeCheck, places: Places, screen: Screen, node: Path) -> bool:
    step = LaunchStep(screen, f"Checking {check.name}")
    argv, env = command(check, node)
    code = processes.run(argv, step=step, log=_log(check, places), env=env, cwd=check.cwd)
    return _report(check, code, step, places, screen)


Running = list[tuple[CodeCheck, "subprocess.Popen[bytes]"]]


@contextlib.contextmanager
def _beside(checks: Sequence[CodeCheck], places: Places, node: Path) -> Iterator[Running]:
    """Starts them all; none is left running afterwards."""
    waiting: Running = []
    try:
        for check in checks:
            argv, env = command(check, node)
            with open(_log(check, places), "wb") as log:
                waiting.append((check, processes.spawn(argv, output=log.fileno(), env=env, cwd=check.cwd)))
        yield waiting
    finally:
        for _, process in waiting:
            if process.poll() is None:
                processes.kill_group(process.pid)
                process.wait()


def _passes_beside(check: CodeCheck, process: "subprocess.Popen[bytes]", places: Places, screen: Screen) -> bool:
    step = LaunchStep(screen, f"Checking {check.name}")
    while process.poll() is None:
        processes.Signals.check()
        step.tick()
        time.sleep(processes.POLL)
    return _report(check, process.returncode, step, places, screen)


def _log(check: CodeCheck, places: Places) -> Path:
    return places.log_of(f"check-{check.name.replace(' ', '-')}")


def _report(check: CodeCheck, code: int, step: LaunchStep, places: Places, screen: Screen) -> bool:
    step.failed()
    result = {0: "ok     ", SKIPPED: "skipped"}.get(code, "FAILED ")
    lines = processes.tail(_log(check, places), 60)
    why = f": {lines[-1]}" if code == SKIPPED and lines else ""
    screen.line(f"  {result} {check.name} ({step.elapsed:.1f} s){why}")
    if code not in (0, SKIPPED):
        for line in lines:
            screen.line(f"    | {line}")
    return code in (0, SKIPPED)
