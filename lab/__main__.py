"""`python -m lab up|status|down [NAME…]`: ready-made systems on this machine, registered with the agent."""

import argparse
import os
import shutil
import sys
import time
from functools import partial
from pathlib import Path

from lab import cpus, fault, packages
from lab.packages import LabError
from lab.systems import MEBIBYTE, LabSystem, locked, register
from lab.table import SYSTEMS, USUAL, system_named

# MiB per server, with a small data set.
MEMORY = 300
DISK = 500


def var_directory() -> Path:
    return Path(os.environ.get("SPLASHBOARD_VAR") or Path(__file__).resolve().parent.parent / "var").absolute()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab", description=__doc__)
    parser.add_argument("--install", action="store_true", help="install missing packages (as root on Debian)")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, meaning in {
        "up": f"start systems; without names: {', '.join(USUAL)}",
        "status": "show the state of all systems",
        "down": "stop systems; without names: all",
    }.items():
        command = commands.add_parser(name, help=meaning)
        if name == "up":
            command.add_argument("--install", action="store_true", default=argparse.SUPPRESS, help="the same")
            command.add_argument(
                "--cpus", default="", metavar="LIST", help=f"run on these CPUs, as 0,2-3; {cpus.ALL}: on all again"
            )
        command.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SYSTEMS)}")
    one = commands.add_parser("fault", help="apply a control to a node: kill, stop, freeze, thaw, start; or switch")
    one.add_argument("system")
    one.add_argument("node", nargs="?", default="")
    one.add_argument("control")
    options = parser.parse_args()
    var = var_directory()
    try:
        if options.command == "fault":
            fault.main(str(var), options.system, options.node, options.control)
            return 0
        names = options.names or list(USUAL if options.command == "up" else SYSTEMS)
        systems = [system_named(name, var) for name in names]
    except (LabError, LookupError) as problem:
        print(problem, file=sys.stderr)
        return 1 if options.command == "fault" else 2
    if options.command == "up":
        return up(systems, var, install=options.install, on=options.cpus)
    return down(systems, var) if options.command == "down" else status(systems, var)


def up(systems: list[LabSystem], var: Path, *, install: bool, on: str = "") -> int:
    """`on`: CPUs, as `cpus.numbers` reads them; empty: those of before. Exit code: 1 when a system could not be
    started; the others are started."""
    (var / "agent.d" / "lab.toml").unlink(missing_ok=True)  # file of an earlier version
    offer_extras(var, install=install)
    code = 0
    for system in systems:
        began = time.monotonic()
        try:
            require(system, var, install=install)
            with locked(var, system.slug):
                _choose_cpus(system, var, on)
                system.up(partial(_print_step, system.slug))
                register(var, system)
        except LabError as problem:
            print(f"{system.slug}: {problem}", file=sys.stderr, flush=True)
            code = 1
        else:
            print(f"{system.slug}: {system.state()} ({time.monotonic() - began:.1f} s)", flush=True)
    return code


def _choose_cpus(system: LabSystem, var: Path, on: str) -> None:
    """LabError: a running system keeps the CPUs on which it was started."""
    if on and on != (cpus.kept(var, system.slug) or cpus.ALL):
        if system.is_up():
            raise LabError(f"it runs on other CPUs; first: python -m lab down {system.slug}")
        cpus.keep(var, system.slug, on)
    cpus.restrict(var, system.slug)


def offer_extras(var: Path, *, install: bool) -> None:
    """Installs or suggests optional programs. The systems run without them, so nothing fails here."""
    missing = packages.missing(packages.EXTRAS)
    if missing and install and packages.may_install():
        print(f"installing {', '.join(missing)} …", flush=True)
        try:
            packages.install(missing, var / "log" / "lab-apt.log")
        except LabError as problem:
            print(f"{problem}; the systems run without", file=sys.stderr, flush=True)
        missing = packages.missing(missing)
    if missing:
        command = packages.command_for(missing, packages.EXTRAS)
        lacking = "; ".join(f"without {name} no {packages.USES[name]}" for name in missing)
        print(f"{lacking}; if you want them: {command}", flush=True)


def _print_step(slug: str, step: str) -> None:
    print(f"{slug}: {step} …", flush=True)


def available_memory() -> int:
    """MiB available to programs without swapping."""
    lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    return next(int(words[1]) // 1024 for words in lines if words[0] == "MemAvailable:")


def require(system: LabSystem, var: Path, *, install: bool) -> None:
    """Installs missing packages. LabError: with the command to install them, or the resource that is short."""
    if not system.is_up():
        free = shutil.disk_usage(var.parent if not var.exists() else var).free // MEBIBYTE
        for what, there, needed in (
            ("memory", available_memory(), system.size * MEMORY),
            (f"disk in {var}", free, system.size * DISK),
        ):
            if there < needed:
                raise LabError(f"it needs about {needed} MiB of {what}, {there} are free; stop another system first")
    missing = packages.missing(system.needs)
    if not missing:
        return
    if not install or not packages.may_install():
        raise LabError(f"{', '.join(missing)} not installed; install: {packages.command_for(missing)}")
    print(f"{system.slug}: installing {', '.join(missing)} …", flush=True)
    packages.install(missing, var / "log" / "lab-apt.log")


def was_made(system: LabSystem, var: Path) -> bool:
    """Checking a system that never ran must not create its directory."""
    return (var / "lab" / system.slug).exists()


def down(systems: list[LabSystem], var: Path) -> int:
    code = 0
    for system in systems:
        if not was_made(system, var):
            print(f"{system.slug}: is stopped")
            continue
        try:
            with locked(var, system.slug):
                system.down()
            print(f"{system.slug}: {system.state()}", flush=True)
        except LabError as problem:
            print(f"{system.slug}: {problem}", file=sys.stderr)
            code = 1
        register(var, system)
    return code


def status(systems: list[LabSystem], var: Path) -> int:
    for system in systems:
        print(f"{system.slug}: {system.state() if was_made(system, var) else 'is stopped'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
