"""Clocks that are set: the wall clock of a program is ahead by what a file says, its monotonic clock goes on.

A preloaded library (clock.c) does it. libfaketime of Debian 12 does not: with it Python's `time.sleep` fails.
"""

import shutil
import subprocess
from pathlib import Path

COMPILER = "cc"  # tests of clocks need it
SOURCE = Path(__file__).with_name("clock.c")
HOUR = 3600  # s


def set_ahead(var: Path, name: str, seconds: int) -> None:
    """Of the machine's clock goes that of `name`, "agent" or "server"; negative: behind."""
    with _file(var, name).open("r+b") as file:  # in place: it is mapped
        file.write(seconds.to_bytes(8, "little", signed=True))


def under(var: Path, name: str) -> tuple[str, ...]:
    """The beginning of a command line, which gives the program that clock; empty without a compiler."""
    library, file = var / "clock.so", _file(var, name)
    if not shutil.which(COMPILER):
        return ()
    if not library.exists():
        options = ("-shared", "-fPIC", "-nostdlib", "-O2", "-Wall", "-Werror")
        subprocess.run([COMPILER, *options, "-o", str(library), str(SOURCE)], check=True)
    if not file.exists():
        file.write_bytes(bytes(8))
    return "/usr/bin/env", f"LD_PRELOAD={library}", f"CLOCK_AHEAD={file}"


def _file(var: Path, name: str) -> Path:
    return var / f"{name}-clock"
