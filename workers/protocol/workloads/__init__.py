"""The built-in workloads. A new one is one more file and one more line here."""

from collections.abc import Mapping

from workers.protocol.workloads import (
    app_ingest,
    app_oltp,
    asyncload,
    data_load,
    execution_latency,
    failover,
    iibench,
    index_cost,
    machine,
    schema_changes,
    slap,
    sysbench,
    sysbench_oltp,
    tpcc_like,
)
from workers.protocol.workloads.declaration import WorkloadSpec

WORKLOADS: Mapping[str, WorkloadSpec] = {
    spec.tool: spec
    for spec in (
        sysbench.SPEC,
        sysbench_oltp.SPEC,
        iibench.SPEC,
        app_ingest.SPEC,
        app_oltp.SPEC,
        tpcc_like.SPEC,
        execution_latency.SPEC,
        schema_changes.SPEC,
        data_load.SPEC,
        index_cost.SPEC,
        asyncload.SPEC,
        slap.SPEC,
        machine.FILEIO,
        machine.CPU,
        failover.SPEC,
    )
}
