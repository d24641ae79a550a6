"""`python -m lab up|status|down [NAME…]`: ready systems on this machine, and how the agent finds them."""

import argparse
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from lab.mariadb import LabError, MariaDB

SYSTEMS: Mapping[str, Mapping[str, str]] = {
    "mariadb-flush1": {"innodb_flush_log_at_trx_commit": "1"},
    "mariadb-flush2": {"innodb_flush_log_at_trx_commit": "2"},
}
MEBIBYTE = 1024 * 1024


def var_directory() -> Path:
    return Path(os.environ.get("SPLASHBOARD_VAR") or Path(__file__).resolve().parent.parent / "var").absolute()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab", description=__doc__)
    parser.add_argument("command", choices=["up", "status", "down"])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SYSTEMS)}; without: all")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in SYSTEMS]
    if unknown:
        print(f"the lab has no system {unknown[0]}; it has {', '.join(SYSTEMS)}", file=sys.stderr)
        return 2
    try:
        run(options.command, options.names or list(SYSTEMS), var_directory())
    except LabError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


def run(command: str, names: list[str], var: Path) -> None:
    """Raises LabError."""
    for name in names:
        server = server_named(name, var)
        if command == "up":
            print(f"{name}: starting …", flush=True)
            server.start()
        elif command == "down":
            server.stop()
        print(f"{name}: {state(server)}")
    if command != "status":
        write_fragment(var)


def server_named(name: str, var: Path) -> MariaDB:
    return MariaDB(var / "lab" / name, settings=SYSTEMS[name])


def state(server: MariaDB) -> str:
    return f"runs on 127.0.0.1:{server.port}, process {server.pid}" if server.is_ready() else "is stopped"


def write_fragment(var: Path) -> None:
    """Describes the systems that run now for the agent, which reads the file again when it changes."""
    running = {name: server for name in SYSTEMS if (server := server_named(name, var)).is_ready()}
    file = var / "agent.d" / "lab.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MEBIBYTE
    cpus = os.cpu_count() or 1
    # Named by what it is, so that two machines of different size are never taken for one class.
    hardware = f"local-{cpus}vcpu-{round(memory / 1024)}gib"
    lines = [
        "# Written by `python -m lab`.",
        "[[hardware]]",
        f'slug = "{hardware}"',
        f'name = "local machine, {cpus} vCPU, {round(memory / 1024)} GiB"',
        f"vcpu = {cpus}",
        f"memory_mb = {memory}",
    ]
    for name, server in running.items():
        lines += [
            "",
            "[[systems]]",
            f'slug = "{name}"',
            f'name = "MariaDB, flush log at commit {server.settings["innodb_flush_log_at_trx_commit"]}"',
            'platform = "mariadb"',
            f'hardware_class = "{hardware}"',
            'host = "127.0.0.1"',
            f"port = {server.port}",
            'user = "splashboard"',
            f"password_file = {json.dumps(str(server.password_file))}",
            "[systems.settings]",
            *(f'{key} = "{value}"' for key, value in server.settings.items()),
        ]
    part = file.with_suffix(".part")
    part.write_text("\n".join(lines) + "\n")
    part.replace(file)


if __name__ == "__main__":
    sys.exit(main())
