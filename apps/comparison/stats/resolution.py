"""Resolution of a run's percentiles, where its tool reads them from a histogram. Pure."""

import re
from collections.abc import Iterable

from apps.runs.pure import SYSBENCH, UnknownGrid, grid_of

# Key of a percentile; `of`: key of its quantity.
PERCENTILE = re.compile(r"^(?P<of>.+)[._]p\d+(?:\.\d+)?(?:_\w+)?$")
# Tools that read percentiles from this grid whether or not they print the histogram.
GRIDS = {"sysbench": SYSBENCH, "index_cost": SYSBENCH}

# Last decimal of latencies printed by a tool, ms: coarse for a fast server.
PRINTED = {"sysbench": 0.01}


def printed_step(key: str, *, tool: str) -> float:
    """Step of the last decimal of metric `key` as printed by `tool`, in its unit; 0: negligible."""
    return PRINTED.get(tool, 0.0) if key.startswith("client.latency.") else 0.0


def measured_on(key: str) -> str:
    """Quantity of a percentile: "client.latency" for "client.latency.p95"; empty for other metrics."""
    found = PERCENTILE.match(key)
    return found["of"] if found else ""


def resolution(key: str, *, tool: str, grids: Iterable[str]) -> float:
    """Relative step between neighbouring values of metric `key`; 0 if it is not read from a grid. `grids`: ids of the
    grids of its histograms; the coarsest counts."""
    if not measured_on(key):
        return 0.0
    found = [GRIDS[tool].resolution] if tool in GRIDS else []
    for text in grids:
        try:
            found.append(grid_of(text).resolution)
        except UnknownGrid:
            continue
    return max(found, default=0.0)
