"""sysbench's fileio in its own directory; the output is sysbench's text."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from workers.agent.programs.order import Order, obey
from workers.agent.programs.report import Failed

DIRECTORY = "splashboard-fileio"
SPARE = 256 * 1024 * 1024  # bytes kept free beside the files
MEBIBYTE = 1024 * 1024


def directory(order: Order) -> Path:
    """Below the system's `scratch` directory, else the agent's own."""
    scratch = json.loads(order.secrets_file.read_bytes()).get("scratch")
    return (Path(scratch) if scratch else order.work) / DIRECTORY


def argv(order: Order, step: str) -> list[str]:
    chosen = order.parameters
    found = ["sysbench", "fileio", f"--file-total-size={chosen['size_mb']}M", f"--file-num={chosen['files']}"]
    found += [f"--file-block-size={chosen['block_kb'] * 1024}", f"--file-test-mode={chosen['mode']}"]
    found += [f"--file-fsync-freq={chosen['fsync_freq']}"]
    if chosen["direct"]:
        found.append("--file-extra-flags=direct")
    if step == "run":
        found += [f"--threads={order.threads}", f"--time={order.warmup + order.duration:.0f}", "--report-interval=1"]
        found += ["--histogram=on", "--percentile=95"]
        if order.rate is not None:
            found.append(f"--rate={order.rate:g}")
        if order.warmup:
            found.append(f"--report-checkpoints={order.warmup:.0f}")
    return [*found, step]


def prepare(order: Order) -> None:
    place, wanted = directory(order), order.parameters["size_mb"] * MEBIBYTE
    if place.exists():
        raise Failed(f"{place} exists already: another run uses it, or was interrupted; remove it")
    free = shutil.disk_usage(place.parent).free
    if free < wanted + SPARE:
        raise Failed(
            f"{place.parent} has {free // MEBIBYTE} MiB free; the files take {wanted // MEBIBYTE} MiB and "
            f"{SPARE // MEBIBYTE} MiB must stay: name another directory as the system's `scratch`, or a smaller size_mb"
        )
    place.mkdir(mode=0o700)
    _sysbench(order, "prepare")
    sizes = sum(file.stat().st_size for file in place.iterdir())
    if sizes != wanted // order.parameters["files"] * order.parameters["files"]:
        raise Failed(f"the files in {place} have {sizes} bytes, not {wanted}")


def run(order: Order) -> None:
    _sysbench(order, "run")


def clean_up(order: Order) -> None:
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(directory(order))


def _sysbench(order: Order, step: str) -> None:
    sys.stdout.flush()
    done = subprocess.run(
        argv(order, step),
        stdin=subprocess.DEVNULL,
        cwd=directory(order),
        env={**os.environ, "LC_ALL": "C"},
        check=False,
    )
    if done.returncode:
        raise Failed(f"sysbench fileio {step} ended with code {done.returncode}")


if __name__ == "__main__":
    obey({"prepare": prepare, "run": run, "clean_up": clean_up})
