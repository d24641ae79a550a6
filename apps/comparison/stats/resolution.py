"""Resolution of a run's percentiles, where its tool reads them from a histogram. Pure."""

import re
from collections.abc import Iterable

from apps.runs.pure import SYSBENCH, UnknownGrid, grid_of

# Key of a percentile; `of`: key of its quantity.
PERCENTILE = re.compile(r"^(?P<of>.+)[._]p\d+(?:\.\d+)?(?:_\w+)?$")
# sysbench under the names of its tests.
OF_SYSBENCH = ("sysbench", "cpu", "fileio", "memory")
# go-tpc counts ns from 1 ms to 16 s, with one significant digit; its buckets are of one width (ms) up to 16 ms.
GO_TPC = grid_of("hdr:1000000:16000000000:1:ns")
GO_TPC_WIDTH = GO_TPC.bounds(0)[1]
TPCC = ("new_order", "payment", "order_status", "delivery", "stock_level")
# Tools that read percentiles from this grid whether or not they print the histogram.
GRIDS = {**dict.fromkeys((*OF_SYSBENCH, "index_cost"), SYSBENCH), "fio": grid_of("fio"), "go-tpc": GO_TPC}

# Tool and beginning of a metric's key -> step of what it reports, in the metric's unit: the last decimal printed (ms,
# coarse for a fast server), the narrowest bucket of its histogram, or the marks of the clock that transactions end
# between (s).
PRINTED = {
    **{(tool, "client.latency."): 0.01 for tool in OF_SYSBENCH},
    **{
        (tool, f"client.{what}"): 0.01 for tool, what in (("cpu", "events"), ("fileio", "file_"), ("memory", "memory_"))
    },
    ("index_cost", "index_cost.latency_"): 0.01,
    ("mysqlslap", "client.execution_time."): 0.001,
    **{("go-tpc", f"client.{name}.latency.p"): GO_TPC_WIDTH for name in TPCC},
    **{("ddl_under_load", key): 0.05 for key in ("ddl.gap", "ddl.other_tables.gap")},
}


def printed_step(key: str, *, tool: str) -> float:
    """Step between values of metric `key` as reported by `tool`, in its unit; 0: negligible."""
    steps = (step for (name, beginning), step in PRINTED.items() if name == tool and key.startswith(beginning))
    return max(steps, default=0.0)


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
