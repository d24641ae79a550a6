"""The machine's performance without a database: sysbench's fileio and cpu, as baselines of a hardware class."""

from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

MODES = ("rndrd", "rndwr", "rndrw", "seqrd", "seqwr", "seqrewr")
FILEIO = WorkloadSpec(
    tool="fileio",
    title="fileio",
    named_by=("mode",),
    description="sysbench's fileio on the disk of the system's `scratch` directory, on the machine that the agent runs "
    "on. Buffered reads may come from the page cache: they then measure memory.",
    parameters=(
        Parameter("mode", "choice", "order and kind of requests", "rndrw", choices=MODES),
        Parameter("size_mb", "whole", "MiB of all files together", 1024, low=8, high=10_000_000),
        Parameter("files", "whole", "files", 8, low=1, high=10_000),
        Parameter("block_kb", "whole", "KiB of a request", 16, low=1, high=65_536),
        Parameter("direct", "switch", "O_DIRECT, past the page cache", True),
        Parameter("fsync_freq", "whole", "requests between two fsyncs; 0: one fsync at the end", 100, high=1_000_000),
    ),
    data_set=("size_mb", "files"),
    metrics=(
        "client.file_reads",
        "client.file_writes",
        "client.file_fsyncs",
        "client.file_read_mib",
        "client.file_write_mib",
        "client.latency.p95",
    ),
    primary_metric="client.latency.p95",
    seeds=({"mode": "rndrd"}, {"mode": "rndwr"}, {"mode": "rndrw"}),
    needs_database=False,
)
CPU = WorkloadSpec(
    tool="cpu",
    title="cpu",
    description="sysbench's cpu: each event finds the primes up to a limit. On the machine that the agent runs on.",
    parameters=(Parameter("max_prime", "whole", "limit of the search for primes", 10_000, low=100),),
    metrics=("client.events", "client.latency.p95"),
    primary_metric="client.events",
    needs_database=False,
)
