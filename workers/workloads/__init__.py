"""The workloads that this program brings with it. A new one is one more file and one more line here."""

from collections.abc import Mapping

from workers.workloads import asyncload, ddl_under_load, failover, iibench, slap, sysbench, sysbench_oltp
from workers.workloads.declared import WorkloadSpec

WORKLOADS: Mapping[str, WorkloadSpec] = {
    spec.tool: spec
    for spec in (
        sysbench.SPEC,
        sysbench_oltp.SPEC,
        iibench.SPEC,
        ddl_under_load.SPEC,
        asyncload.SPEC,
        slap.SPEC,
        failover.SPEC,
    )
}
