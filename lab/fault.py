"""The command by which the agent controls a system of the lab: `fault.py VAR SYSTEM NODE CONTROL`.

A standalone script, so that it works from any directory, and fast: a kill imports nothing more than it needs. Exit code
0: done. Otherwise the reason is the last line on standard error.
"""

import os
import signal
import sys

SIGNALS = {"kill": signal.SIGKILL, "freeze": signal.SIGSTOP, "thaw": signal.SIGCONT}


def main(var: str, slug: str, node: str, control: str) -> None:
    """Raises OSError, ValueError, LookupError or LabError with the reason."""
    if control in SIGNALS:
        directory = f"{var}/lab/{slug}/{node}"
        os.kill(process_id(directory if os.path.isdir(directory) else f"{var}/lab/{slug}"), SIGNALS[control])
        return
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from pathlib import Path  # noqa: PLC0415

    from lab import cpus  # noqa: PLC0415
    from lab.systems import locked  # noqa: PLC0415
    from lab.table import system_named  # noqa: PLC0415

    system = system_named(slug, var)
    cpus.restrict(Path(var), slug)  # the caller has the load generator's
    if control == "start":
        with locked(Path(var), slug):
            system.start(node)
    elif control == "stop":
        system.stop(node)
    elif control == "restart":
        with locked(Path(var), slug):
            system.down()
            system.up(lambda _: None)
    elif control in ("switch", "start_alone"):
        with locked(Path(var), slug):
            system.do(control, node)
    else:
        system.do(control, node)


def process_id(directory: str) -> int:
    """Process id of the server in `directory`. Raises LookupError when none runs."""
    try:
        with open(f"{directory}/pid") as file:
            pid = int(file.read())
        with open(f"/proc/{pid}/cmdline", "rb") as line:
            runs = f"--datadir={directory}/data\0".encode() in line.read()
    except OSError:
        runs = False
    if not runs:
        raise LookupError(f"no server runs in {directory}")
    return pid


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as problem:
        sys.exit(str(problem) or type(problem).__name__)
