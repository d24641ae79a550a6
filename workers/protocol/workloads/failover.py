"""A fault in the middle of a steady, open-loop stream of small writes: client-visible downtime and lost writes."""

from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

FAULTS = (
    "none",
    "kill_writer",
    "kill_reader",
    "stop_writer",
    "freeze_writer",
    "freeze_reader",
    "cut_writer",
    "switch",
    "crash",
    "rds_failover",
)
MOST_WAITING = 1000  # operations waiting for an answer at once: each holds a connection

SPEC = WorkloadSpec(
    tool="failover",
    title="Failover",
    named_by=("fault",),
    description=(
        "Small inserts and reads on a fixed schedule through the system's endpoint, a fault in the middle, and a "
        "read-back of every row: the time without acknowledged writes, its phases, the writes "
        "lost or duplicated, and the return of the affected node."
    ),
    parameters=(
        Parameter(
            "fault", "choice", "the fault; needs the system's control of that name", "kill_writer", choices=FAULTS
        ),
        Parameter("fault_at", "number", "s of the measured phase before the fault", 10, low=1, high=3600),
        Parameter("rate", "number", "inserts/s, on a fixed schedule", 20, low=1, high=200),
        Parameter(
            "read_rate",
            "number",
            "reads/s of the last acknowledged row, at the endpoint and at every node",
            5,
            high=200,
        ),
        Parameter("timeout", "number", "timeout of the client, s", 4, low=0.5, high=30),
        Parameter("retries", "whole", "retries of a failed insert", 0, high=10),
        Parameter("hold", "number", "s for which a node stays frozen or cut off", 10, low=0.1, high=3600),
        Parameter("rejoin_timeout", "number", "deadline for the affected node to catch up, s", 120, low=5, high=7200),
        Parameter("baseline_seconds", "whole", "consecutive s as before the fault", 3, low=1, high=60),
        Parameter(
            "baseline_share",
            "number",
            "share of the acknowledged writes/s before the fault that counts as back",
            0.9,
            high=1,
        ),
        Parameter(
            "baseline_latency",
            "number",
            "median latency, as a multiple of that before the fault, that counts as back",
            3,
            low=1,
            high=1000,
        ),
    ),
    # A phase that was not reached has no value, only an event.
    metrics=(
        "failover.outage",
        "failover.detect",
        "failover.promote",
        "failover.client_recovered",
        "failover.baseline",
        "failover.rejoin",
        "failover.rejoin_outage",
        "failover.acknowledged_missing",
        "failover.errant_rows",
        "failover.failed_present",
        "failover.duplicated",
        "failover.stale_reads",
        "failover.errors",
    ),
    primary_metric="failover.outage",
    seeds=({}, {"fault": "kill_reader"}, {"fault": "switch"}),
    load="none",
    unsteady="a fault interrupts it on purpose",
    faults=True,
)
