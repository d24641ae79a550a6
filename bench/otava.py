"""Apache Otava, the peer of our detector: a library with pinned dependencies, in an environment of its own."""

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from apps.regressions.detection import SHORTEST
from bench import histories
from bench.histories import KnownSeries, Score
from bench.servers import Failed

NAME = "Apache Otava"
REPLAY = Path(__file__).with_name("otava_replay.py")
PINNED = Path(__file__).with_name("otava.txt")
VERSION = next(line.partition("==")[2] for line in PINNED.read_text().splitlines() if line.startswith("apache-otava"))


# It takes five times as long as ours.
PROCESSES = 3


class Unavailable(Exception):
    """Its environment cannot be created; the text is the reason."""


@dataclass(frozen=True)
class Replayed:
    """`indices[k]`: changes found in the first `first + k` runs. `seconds`: CPU time of all analyses."""

    indices: list[list[int]]
    seconds: float


def installed(folder: Path) -> Path:
    """Python of an environment created in `folder`. Raises Unavailable."""
    home = folder / "otava"
    python = home / "bin" / "python"
    base = getattr(sys, "_base_executable", sys.executable)
    try:
        _run([base, "-m", "venv", str(home)])
        _run([str(python), "-m", "pip", "install", "-q", "--no-deps", "--only-binary", ":all:", "-r", str(PINNED)])
    except Failed as failed:
        raise Unavailable(str(failed)) from failed
    return python


def replayed(python: Path, series: Sequence[KnownSeries], *, first: int) -> list[Replayed]:
    """Each series analysed again after every run from `first` on; `first` equal to its length: once. Raises Failed."""
    lines = [json.dumps({"values": history.values.tolist(), "first": first}) for history in series]
    size = math.ceil(len(lines) / PROCESSES)
    shares = ["\n".join(lines[start : start + size]) for start in range(0, len(lines), size)]
    # Isolated mode: the modules beside the script are ours.
    with ThreadPoolExecutor(PROCESSES) as pool:
        found = list(pool.map(lambda text: _run([str(python), "-I", str(REPLAY)], text=text), shares))
    return [Replayed(**json.loads(line)) for own in found for line in own.splitlines()]


def scored(series: Sequence[KnownSeries], replays: Sequence[Replayed], *, first: int) -> list[Score]:
    return [
        histories.scored(history, histories.alarms_of(replay.indices, first=first))
        for history, replay in zip(series, replays, strict=True)
    ]


def scores(python: Path, series: Sequence[KnownSeries], *, first: int = SHORTEST) -> list[Score]:
    return scored(series, replayed(python, series, first=first), first=first)


def _run(command: Sequence[str], *, text: str = "") -> str:
    """Standard output. Raises Failed."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise Failed(last[0] if last else f"{command[0]} ended with {done.returncode}")
    return done.stdout
