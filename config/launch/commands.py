"""The commands of `python -m config.launch`, with short names in the Makefile."""

import argparse
import errno
import os
import shlex
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from config.launch import backup, bench, checks, environment, guard, places, processes, programs, suite, supervisor
from config.launch.children import RunLock
from config.launch.console import LaunchProblem, LaunchStep, Screen
from config.launch.places import Places

# Variables that give a shell the environment of the running programs.
SHOWN = (
    *("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "REDIS_URL"),
    *("SPLASHBOARD_SECRET_KEY", "SPLASHBOARD_VAR", "SPLASHBOARD_PORT"),
)

# Commands whose further arguments are passed to another program.
PASSING_ON = ("test", "bench", "manage", "backup", "restore")


def main(argv: Sequence[str]) -> int:
    """Exit code. Every problem is one sentence on standard error."""
    screen = Screen()
    processes.Signals.install()
    if os.geteuid() == 0:
        os.umask(0o022)  # PostgreSQL runs as another user and needs access; secrets have modes of their own
    try:
        processes.require_linux()
        return _dispatch(argv, screen)
    except LaunchProblem as problem:
        screen.problem(str(problem))
        return 1
    except processes.Interrupted as interrupted:
        return 128 + interrupted.signum
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        screen.problem(f"The disk is full ({error.filename or places.ROOT}): free some space and try again.")
        return 1


def _dispatch(argv: Sequence[str], screen: Screen) -> int:
    parser = argparse.ArgumentParser(prog="python -m config.launch", description=__doc__)
    parser.add_argument("--with-parent", action="store_true", help="stop when the process that started this one ends")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run", help="start everything")
    commands.add_parser("stop", help="stop what `run` started")
    commands.add_parser("check", help="formatting, lint, types, imports, templates, front end, packages, secrets")
    commands.add_parser("sbom", help="write bills of materials in CycloneDX to var/sbom")
    commands.add_parser("types", help="renew the types of the API, of the front end and the client")
    commands.add_parser("test", help="run every check and every test; further arguments are passed to pytest")
    commands.add_parser("bench", help="measure speed and size beside named peers; further arguments: parts to measure")
    commands.add_parser("lock", help="renew requirements.txt and requirements-server.txt from pyproject.toml")
    commands.add_parser("env", help="print the environment of the running programs for a shell's eval")
    commands.add_parser("manage", help="run manage.py with that environment; further arguments are passed to it")
    commands.add_parser("backup", help="back up rows and artifacts; further arguments are passed to manage.py backup")
    commands.add_parser("restore", help="restore a backup; further arguments are passed to manage.py restore")
    # argparse would parse a leading option (`test -k seal`) as its own.
    end = next((place + 1 for place, word in enumerate(argv) if word in PASSING_ON), len(argv))
    options, arguments = parser.parse_args(argv[:end]), list(argv[end:])
    if options.with_parent:
        processes.follow_parent()

    setup = places.from_environment()
    actions: dict[str, Callable[[], int]] = {
        "run": lambda: supervisor.run(setup, screen),
        "stop": lambda: stop(setup, screen),
        "check": lambda: checks.run(setup, screen),
        "sbom": lambda: checks.run(setup, screen, checks.BILLS),
        "types": lambda: checks.run(setup, screen, checks.API_TYPES),
        "test": lambda: suite.run(setup, screen, arguments),
        "bench": lambda: bench.run(setup, screen, arguments),
        "backup": lambda: backup.back_up(setup, screen, arguments, lambda: _environ(setup)),
        "restore": lambda: backup.restore(setup, screen, arguments),
        "lock": lambda: lock(setup, screen),
        "env": lambda: show_environment(setup, screen),
        "manage": lambda: programs.manage(arguments, _environ(setup)),
    }
    return actions[options.command]()


def lock(setup: Places, screen: Screen) -> int:
    places.make_folders(setup)
    environment.lock(places=setup, screen=screen)
    return 0


def show_environment(setup: Places, screen: Screen) -> int:
    for name, value in _kept(setup).items():
        screen.line(f"export {name}={shlex.quote(value)}")
    return 0


def stop(setup: Places, screen: Screen) -> int:
    """Asks the supervisor to stop and waits until it has."""
    pid = RunLock.holder(setup.var / "supervisor.lock")
    if pid is None:
        screen.line("Splashboard is not running.")
        return 0
    os.kill(pid, signal.SIGTERM)
    step = LaunchStep(screen, "Stopping")
    while guard.started_at(pid) != "-":
        processes.Signals.check()
        step.tick()
        time.sleep(processes.POLL)
    step.done()
    return 0


def _environ(setup: Places) -> dict[str, str]:
    """Of a program beside the running ones. Raises LaunchProblem before the first `make run`."""
    return {**processes.clean_environment(), **_kept(setup)}


def _kept(setup: Places) -> dict[str, str]:
    """Raises LaunchProblem before the first `make run`."""
    try:
        kept = {name: (setup.var / name).read_text().strip() for name in ("database_url", "redis_url", "port")}
    except FileNotFoundError as error:
        raise LaunchProblem(f"{setup.var} has no {error.filename} yet: start `make run` first.") from error
    env = programs.environ(
        replace(setup, port=setup.port or int(kept["port"])),
        database_url=setup.database_url or kept["database_url"],
        redis_url=setup.redis_url or kept["redis_url"],
    )
    return {name: env[name] for name in SHOWN}
