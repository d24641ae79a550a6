"""A folder of its own for each test, which PostgreSQL's user can enter, and a look at what still runs in it."""

import contextlib
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.launch import guard
from config.launch.places import Places, make_folders


@pytest.fixture
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="sb-"))  # pytest's own folders are closed to other users
    path.chmod(0o711)
    yield path
    for pid in pids_in(path):
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(path)


@pytest.fixture
def places(folder: Path) -> Places:
    return some_places(folder)


def some_places(folder: Path) -> Places:
    made = Places(
        var=folder,
        host="127.0.0.1",
        port=0,
        web_workers=1,
        database_url="",
        redis_url="",
        binaries="auto",
    )
    make_folders(made)
    return made


def variables(places: Places, **more: str) -> dict[str, str]:
    """The environment that says what `places` says."""
    set_here = ("DATABASE_URL", "REDIS_URL", "SPLASHBOARD_PORT")
    kept = {name: value for name, value in os.environ.items() if name not in set_here}
    port = {"SPLASHBOARD_PORT": str(places.port)} if places.port else {}
    return {**kept, "SPLASHBOARD_VAR": str(places.var), **port, **more}


def pids_in(folder: Path) -> list[int]:
    """Processes that work in the folder, were started with it on their command line, or in their environment."""
    needle, found = str(folder).encode(), []
    for entry in os.listdir("/proc"):
        if not entry.isdecimal() or int(entry) == os.getpid() or guard.started_at(int(entry)) == "-":
            continue
        process = Path("/proc") / entry
        try:
            seen = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            seen += os.fsencode(os.readlink(process / "cwd"))
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue
        if needle in seen:
            found.append(int(entry))
    return found


def programs_in(folder: Path) -> set[str]:
    """Paths of the programs of those processes; one that ends meanwhile is not among them."""
    found = set()
    for pid in pids_in(folder):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found.add(os.readlink(f"/proc/{pid}/exe"))
    return found


def leader(places: Places, pattern: str) -> int:
    """Process of the supervisor's own whose command line has this; 0: there is none now."""
    for line in (places.var / "children").read_text().splitlines():
        pid = int(line.split()[1])
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if re.search(pattern.encode(), Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")):
                return pid
    return 0
