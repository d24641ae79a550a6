"""Latencies counted on the grid of sysbench's histogram, which the warehouse stores. Pure."""

import itertools
import math
from bisect import bisect_left
from collections.abc import Mapping

SIZE, LOWEST, HIGHEST = 1024, 0.001, 100_000.0  # ms
PER_LOG = (SIZE - 1) / (math.log(HIGHEST) - math.log(LOWEST))


def bucket(latency: float) -> int:
    """Index of the bucket of a latency in ms."""
    if latency <= LOWEST:
        return 0
    return min(math.floor((math.log(latency) - math.log(LOWEST)) * PER_LOG + 0.5), SIZE - 1)


def value(place: int) -> float:
    """ms, as printed by sysbench for the bucket."""
    return round(math.exp(place / PER_LOG + math.log(LOWEST)), 3)


def printed(counts: Mapping[int, int]) -> list[tuple[float, int]]:
    """The buckets of a `histogram` line of the report."""
    return [(value(place), counts[place]) for place in sorted(counts)]


def percentile(counts: Mapping[int, int], percent: float) -> float:
    """ms, computed like sysbench: the first bucket at which the share is reached. `counts` must not be empty."""
    places = sorted(counts)
    reached = list(itertools.accumulate(counts[place] for place in places))
    return value(places[min(bisect_left(reached, math.floor(reached[-1] * percent / 100 + 0.5)), len(places) - 1)])
