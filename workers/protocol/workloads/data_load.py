"""Loading a dump as in a restore: with the server's own client."""

from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

SPEC = WorkloadSpec(
    tool="data_load",
    title="data load",
    description="Loads a dump of four tables, of which two refer to others, with the server's own client, and measures "
    "the time, with or without foreign key checks. The run lasts as long as the load. Where the server runs on "
    "the agent's machine and the kernel permits it, its CPU is sampled by perf.",
    parameters=(
        Parameter("rows", "whole", "rows of the largest table; the others have a tenth and less", 200_000, low=100),
        Parameter("row_bytes", "whole", "bytes of text in each row", 100, low=1, high=10_000),
        Parameter("batch", "whole", "rows of each INSERT", 500, low=1, high=100_000),
        Parameter("foreign_key_checks", "switch", "whether each reference is looked up", True),
        Parameter("profile", "switch", "sample the server's CPU", True),
    ),
    data_set=("rows", "row_bytes"),
    metrics=("data_load.duration", "client.rows", "data_load.bytes"),
    primary_metric="data_load.duration",
    seeds=({"foreign_key_checks": True}, {"foreign_key_checks": False}),
    load="none",
    is_timed=False,
    unsteady="it is one piece of work, timed as a whole",
)
