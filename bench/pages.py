"""Pages of a warehouse of many runs, beside the same pages of one with few."""

from pathlib import Path

from bench.context import Bench


def measure(bench: Bench, folder: Path, *, runs: int) -> None:
    raise NotImplementedError
