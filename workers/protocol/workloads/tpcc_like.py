"""Five transactions in the proportions of TPC-C."""

from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

SPEC = WorkloadSpec(
    tool="tpcc_like",
    title="TPC-C-like",
    description="New orders (45 %), payments (43 %), order status, delivery and stock level (4 % each) on TPC-C's nine "
    "tables, without think times. The districts are the hot rows: ten for each warehouse. Not TPC-C: its results must "
    "not be compared with published tpmC.",
    parameters=(
        Parameter("warehouses", "whole", "warehouses", default=1, low=1, high=100_000),
        Parameter("items", "whole", "items, each in stock at every warehouse", default=1000, low=20, high=100_000),
        Parameter("customers", "whole", "customers of each district", default=100, low=10, high=3000),
    ),
    data_set=("warehouses", "items", "customers"),
    metrics=("client.new_orders", "client.throughput", "client.latency.p95", "client.errors"),
    primary_metric="client.new_orders",
    seeds=({"warehouses": 2},),
)
