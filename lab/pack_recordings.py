"""`python -m lab.pack_recordings FOLDER TARGET`: packs recordings of real servers, one sample a second, into one file.

FOLDER holds single_120s and galera_120s: SHOW GLOBAL STATUS and /proc of every second (`*.status.ndjson.zst`,
`*.proc.ndjson.zst`), server variables, and the times of each load (`phase*.meta`). TARGET (npz) is replayed by
apps.rig: for each node the numbers that the agent's samplers would have sent, integers as differences; without host
names, paths and addresses.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from workers.agent.samplers import host, mysql, process

TICKS, PAGE_SIZE = 100, 4096
RECORDINGS = {"single_120s": ("single",), "galera_120s": ("g1", "g2", "g3")}
KINDS = ("read_write", "read_only", "write_only")
PRIVATE = re.compile(
    r"host|address|uuid|server_u?id|port|socket|file|node|dir|auth|user|password|version|provider_options"
)


def main() -> None:
    folder, target = map(Path, sys.argv[1:])
    arrays: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for name, nodes in RECORDINGS.items():
        loads = list(_loads(folder / name))
        hosts = list(_rows(folder / name, "proc"))
        status = list(_rows(folder / name, "status"))
        for node in nodes:
            rows = [
                (row["t"], _numbers(row, node, _nearest(hosts, row["t"])))
                for row in status
                if row["node"] == node and "status" in row
            ]
            clock = np.array([t for t, _ in rows])
            keys = [key for key in rows[0][1] if all(key in values for _, values in rows)]
            columns = {key: [values[key] for _, values in rows] for key in keys}
            moving = [key for key in keys if len(set(columns[key])) > 1]
            whole = [key for key in moving if all(isinstance(value, int) for value in columns[key])]
            decimal = [key for key in moving if key not in whole]
            arrays[f"{node}.clock"] = clock - clock[0]
            arrays[f"{node}.whole"] = np.diff(np.array([columns[key] for key in whole]), axis=1, prepend=0)
            arrays[f"{node}.decimal"] = np.array([columns[key] for key in decimal], dtype=np.float64)
            found[node] = {
                "whole": whole,
                "decimal": decimal,
                "constants": {key: columns[key][0] for key in keys if key not in moving},
                "loads": [(start - clock[0], end - clock[0], kind) for start, end, kind in loads],
                "variables": _variables(folder / name, node),
            }
    arrays["told"] = np.frombuffer(json.dumps(found).encode(), dtype=np.uint8)
    np.savez_compressed(target, **arrays)


def _rows(folder: Path, what: str) -> Iterator[dict[str, Any]]:
    (path,) = folder.glob(f"*.{what}.ndjson.zst")
    text = subprocess.run(["zstd", "-dc", str(path)], check=True, capture_output=True, text=True).stdout
    yield from map(json.loads, text.splitlines())


def _nearest(rows: list[dict[str, Any]], t: float) -> dict[str, Any]:
    return min(rows, key=lambda row: abs(float(row["t"]) - t))


def _loads(folder: Path) -> Iterator[tuple[float, float, str]]:
    for path in sorted(folder.glob("phase*.meta")):
        found = dict(line.partition("=")[::2] for line in path.read_text().splitlines())
        yield float(found["start"]), float(found["end"]), next(kind for kind in KINDS if kind in found["cmd"])


def _numbers(row: dict[str, Any], node: str, hosts: dict[str, Any]) -> dict[str, Any]:
    own = hosts["pids"][node]
    return {
        **mysql.numbers(tuple(row["status"].items())),
        **host.parse(hosts["files"], ticks=TICKS, disks=frozenset({"vda"})),
        **process.parse(own["stat"], own["io"], ticks=TICKS, page_size=PAGE_SIZE),
    }


def _variables(folder: Path, node: str) -> dict[str, str]:
    (path,) = folder.glob(f"*{node}.variables.tsv")
    pairs = (line.partition("\t")[::2] for line in path.read_text().splitlines())
    return {name: value for name, value in pairs if "/" not in value and not PRIVATE.search(name)}


if __name__ == "__main__":
    main()
