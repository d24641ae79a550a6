"""How finely a run's percentiles are known, where its tool reads them from a histogram. Pure."""

import re
from collections.abc import Iterable

from apps.runs.pure import SYSBENCH, UnknownGrid, grid_of

# A percentile's key, and that of what it is a percentile of.
PERCENTILE = re.compile(r"^(?P<of>.+)[._]p\d+(?:\.\d+)?(?:_\w+)?$")
# Tools that read percentiles from their grid whether or not they print the histogram.
GRIDS = {"sysbench": SYSBENCH, "index_cost": SYSBENCH}

# Of latencies that a tool prints with few decimals, in ms: coarse for those of a fast server.
PRINTED = {"sysbench": 0.01}


def printed_step(key: str, *, tool: str) -> float:
    """Step of the last decimal with which `tool` prints metric `key`, in its unit; 0: too fine to matter."""
    return PRINTED.get(tool, 0.0) if key.startswith("client.latency.") else 0.0


def measured_on(key: str) -> str:
    """What a percentile is one of: "client.latency" of "client.latency.p95"; empty for other metrics."""
    found = PERCENTILE.match(key)
    return found["of"] if found else ""


def resolution(key: str, *, tool: str, grids: Iterable[str]) -> float:
    """Relative step between neighbouring values of metric `key`; 0 where it is read from no grid. `grids`: ids of those
    on which the runs' histograms of what it is a percentile of lie: the coarsest counts."""
    if not measured_on(key):
        return 0.0
    found = [GRIDS[tool].resolution] if tool in GRIDS else []
    for text in grids:
        try:
            found.append(grid_of(text).resolution)
        except UnknownGrid:
            continue
    return max(found, default=0.0)
