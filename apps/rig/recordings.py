"""Recordings replayed by the rig: two minutes of real servers under load, one sample per second."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.catalog.pure import CURATED

FILE = Path(__file__).parent / "data" / "recordings.npz"
SINGLE, GALERA = ("single",), ("g1", "g2", "g3")
QUESTIONS = "mysql.status.Questions"
FIRST = (
    QUESTIONS,
    "mysql.status.Innodb_rows_read",
    "mysql.status.Threads_running",
    "host.cpu.user",
    "mysql.status.Innodb_os_log_written",
    "mysql.status.Innodb_buffer_pool_read_requests",
    "mysql.status.Bytes_sent",
    "host.disk.vda.write_bytes",
    "host.cpu.system",
)
# Seconds cut at both ends of a load: its start and stop.
EDGE = 1.5


@dataclass(frozen=True)
class Recording:
    """One node. `whole` (int64) and `decimal` (float64): series x seconds, in the order of `whole_keys` and
    `decimal_keys`. `loads`: kind of load -> indexes of the seconds of each such load; `constants` never changed;
    `variables` are the server's.
    """

    whole_keys: Sequence[str]
    decimal_keys: Sequence[str]
    whole: NDArray[np.int64]
    decimal: NDArray[np.float64]
    loads: dict[str, list[NDArray[np.intp]]]
    constants: dict[str, int | float]
    variables: dict[str, str]

    def keys(self) -> list[str]:
        """The most viewed first, then the described ones, then the rest."""
        first = {key: place for place, key in enumerate(dict.fromkeys((*FIRST, *CURATED)))}
        return sorted((*self.whole_keys, *self.decimal_keys), key=lambda key: (first.get(key, len(first)), key))

    def statements(self) -> NDArray[np.float64]:
        """Statements in each second; at least one, the recorder's own."""
        total = self.whole[list(self.whole_keys).index(QUESTIONS)]
        steps: NDArray[np.int64] = np.diff(total, prepend=total[0])
        return np.maximum(steps, 1).astype(np.float64)


@cache
def load() -> dict[str, Recording]:
    """By name of the recorded node."""
    with np.load(FILE) as archive:
        nodes: dict[str, Any] = json.loads(bytes(archive["told"]))
        return {
            node: Recording(
                whole_keys=description["whole"],
                decimal_keys=description["decimal"],
                whole=np.cumsum(archive[f"{node}.whole"], axis=1),
                decimal=archive[f"{node}.decimal"],
                loads=_loads(archive[f"{node}.clock"], description["loads"]),
                constants=description["constants"],
                variables=description["variables"],
            )
            for node, description in nodes.items()
        }


def _loads(clock: NDArray[np.float64], loads: Sequence[tuple[float, float, str]]) -> dict[str, list[NDArray[np.intp]]]:
    found: dict[str, list[NDArray[np.intp]]] = {}
    for start, end, kind in loads:
        within = (clock >= start + EDGE) & (clock < end - EDGE)
        found.setdefault(kind, []).append(np.flatnonzero(within))
    return found


def stretches(recorded: int, wanted: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Indexes of `wanted` seconds among the `recorded`, in consecutive stretches of 5 to 20 (block bootstrap)."""
    found: list[NDArray[np.intp]] = []
    while sum(map(len, found)) < wanted:
        start, length = int(rng.integers(recorded)), int(rng.integers(5, 21))
        found.append(np.arange(start, min(start + length, recorded)))
    return np.concatenate(found)[:wanted]
