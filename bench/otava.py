"""Apache Otava, the peer of our detector: a library with pins of its own, so it gets an environment of its own."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.histories import History
from config.launch import places

NAME = "Apache Otava"
REPLAY = Path(__file__).with_name("otava_replay.py")
PINNED = Path(__file__).with_name("otava.txt")
VERSION = next(line.partition("==")[2] for line in PINNED.read_text().splitlines() if line.startswith("apache-otava"))


class Unavailable(Exception):
    """Its environment cannot be made; the text says why."""


@dataclass(frozen=True)
class Replayed:
    """`indices[k]`: changes found in the first `first + k` runs. `seconds` of CPU for all of them."""

    indices: list[list[int]]
    seconds: float


def installed() -> Path:
    """The Python of its environment below var/, made when it is not there. Raises Unavailable."""
    pinned = hashlib.sha256(PINNED.read_bytes()).hexdigest()[:16]
    home = places.from_environment().var / "otava" / pinned
    python, done = home / "bin" / "python", home / ".done"
    if done.exists():
        return python
    shutil.rmtree(home, ignore_errors=True)
    base = getattr(sys, "_base_executable", sys.executable)
    _run([base, "-m", "venv", str(home)])
    _run([str(python), "-m", "pip", "install", "-q", "--no-deps", "--only-binary", ":all:", "-r", str(PINNED)])
    done.touch()
    return python


def replayed(python: Path, histories: Sequence[History], *, first: int) -> list[Replayed]:
    """Each series again from its beginning after every run from `first` on; `first` the whole length: once. Raises
    Unavailable."""
    lines = [json.dumps({"values": history.values.tolist(), "first": first}) for history in histories]
    told = _run([str(python), str(REPLAY)], text="\n".join(lines))
    return [Replayed(**json.loads(line)) for line in told.splitlines()]


def _run(command: Sequence[str], *, text: str = "") -> str:
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    except subprocess.CalledProcessError as failed:
        last = (failed.stderr or failed.stdout).strip().splitlines()[-1:]
        raise Unavailable(f"not installed: {last[0] if last else failed}") from failed
    return done.stdout
