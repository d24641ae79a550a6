"""`make check`: everything about the code that can be said without running it."""

from dataclasses import dataclass
from pathlib import Path

from config.launch import environment, frontend, processes
from config.launch.places import FRONTEND, ROOT, VENV, Places, make_folders
from config.launch.say import Screen, Step


@dataclass(frozen=True)
class Check:
    name: str
    argv: tuple[str | Path, ...]
    cwd: Path = ROOT
    node: bool = False  # `argv` is npm's


def all_checks() -> list[Check]:
    tools = VENV / "bin"
    return [
        Check("formatting", (tools / "ruff", "format", "--check", ".")),
        Check("lint", (tools / "ruff", "check", ".")),
        Check("imports", (tools / "lint-imports",)),
        Check("types", (tools / "mypy",)),
        Check("templates", (tools / "djlint", "--lint", "apps")),
        Check("migrations", (tools / "python", "manage.py", "makemigrations", "--check", "--dry-run")),
        Check("front end's types", ("run", "--if-present", "typecheck"), FRONTEND, node=True),
        Check("front end's tests", ("run", "--if-present", "test"), FRONTEND, node=True),
    ]


def run(places: Places, screen: Screen) -> int:
    """Exit code of `make check`. Raises Problem when the set-up fails."""
    make_folders(places)
    environment.ensure(places=places, screen=screen)
    return 1 if failed(places, screen) else 0


def failed(places: Places, screen: Screen) -> list[str]:
    """Names of the checks that failed; what they said is shown."""
    node = frontend.ensure_packages(places=places, screen=screen)
    return [check.name for check in all_checks() if not _passes(check, places, screen, node)]


def _passes(check: Check, places: Places, screen: Screen, node: Path) -> bool:
    step, log = Step(screen, f"Checking {check.name}"), places.log_of(f"check-{check.name.replace(' ', '-')}")
    env = frontend.environ(node) if check.node else processes.clean_environment()
    argv = [*frontend.npm(node), *check.argv] if check.node else check.argv
    code = processes.run(argv, step=step, log=log, env=env, cwd=check.cwd)
    step.failed()
    screen.line(f"  {'ok    ' if code == 0 else 'FAILED'}  {check.name} ({step.elapsed:.1f} s)")
    if code:
        for line in processes.tail(log, 60):
            screen.line(f"    | {line}")
    return code == 0
