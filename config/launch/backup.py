"""`make backup` and `make restore`: manage.py's commands with the PostgreSQL that serves, or would serve, var/."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from config.launch import environment, postgres, processes, programs, stores, suite
from config.launch.children import Children, RunLock
from config.launch.console import Screen
from config.launch.places import PYTHON, ROOT, Places, make_folders


def back_up(places: Places, screen: Screen, arguments: Sequence[str], kept: Callable[[], dict[str, str]]) -> int:
    """Of a running installation, and of one at rest. `kept`: the environment of the running programs.

    Exit code of the command. Raises LaunchProblem.
    """
    make_folders(places)
    if RunLock.holder(places.var / "supervisor.lock"):
        return _command("backup", arguments, places, kept())
    environment.ensure(places=places, screen=screen)
    with _own_stores(places, screen) as env:
        return _command("backup", arguments, places, env)


def restore(places: Places, screen: Screen, arguments: Sequence[str]) -> int:
    """Into an installation that does not run; `--verify` reads the backup alone. Exit code. Raises LaunchProblem."""
    make_folders(places)
    environment.ensure(places=places, screen=screen)
    if "--verify" in arguments:
        return _command("restore", arguments, places, processes.clean_environment())
    with _own_stores(places, screen) as env:
        return _command("restore", arguments, places, env)


@contextlib.contextmanager
def _own_stores(places: Places, screen: Screen) -> Iterator[dict[str, str]]:
    """The environment of programs, with stores that run during the block."""
    children = Children(places, RunLock(places, screen))
    try:
        children.stop_leftovers(screen)
        children.start_guard()
        found = stores.start_stores(places, children, screen)
        yield programs.environ(places, database_url=found.database_url, redis_url=found.redis_url)
    finally:
        children.stop_all(screen)


def _command(name: str, arguments: Sequence[str], places: Places, env: dict[str, str]) -> int:
    argv: list[str | Path] = [PYTHON, ROOT / "manage.py", name, *arguments]
    if not places.database_url and "--programs" not in arguments:
        argv += ["--programs", postgres.client_programs(places)]
    return suite.in_front(argv, env)
