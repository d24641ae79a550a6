"""mysqlslap (mariadb-slap), run repeatedly: a third generator, in C, that comes with the server."""

from workers.protocol.workloads.asyncload import TABLES
from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

SPEC = WorkloadSpec(
    tool="slap",
    title="mysqlslap",
    named_by=("mix",),
    description="mysqlslap with as many clients as the load level has threads, restarted until the time "
    "is over; each round is one interval. It reconnects in each round and reports no latency of single statements.",
    parameters=(
        Parameter("mix", "choice", "kind of each statement", choices=("insert", "point_select")),
        *TABLES[1:],
        Parameter("round", "number", "intended length of a round, s", 2, low=0.2, high=60),
    ),
    data_set=("tables", "table_size"),
    metrics=("client.throughput", "client.queries"),
    seeds=({"mix": "insert"}, {"mix": "point_select"}),
)
