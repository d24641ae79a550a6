"""The workloads that this program brings with it. A new one is one more file and one more line here."""

from collections.abc import Mapping

from workers.workloads import (
    app_ingest,
    app_oltp,
    asyncload,
    data_load,
    ddl_under_load,
    execution_latency,
    failover,
    iibench,
    index_cost,
    machine,
    slap,
    sysbench,
    sysbench_oltp,
    tpcc_like,
)
from workers.workloads.declared import WorkloadSpec

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
        ddl_under_load.SPEC,
        data_load.SPEC,
        index_cost.SPEC,
        asyncload.SPEC,
        slap.SPEC,
        machine.FILEIO,
        machine.CPU,
        failover.SPEC,
    )
}
