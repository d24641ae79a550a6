"""The failover probe, run by workers.agent.faults, which invokes the system's controls."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workers.agent.faults.system import TABLE, description
from workers.agent.programs.order import Order
from workers.agent.runtime.config import SystemConfig
from workers.agent.tools import DataSet, InvalidToolParameters, Invocation, Target
from workers.agent.tools.program import ProgramTool
from workers.protocol.wire import LoadLevelMessage
from workers.protocol.workloads import failover

AFTER = 5.0  # s to observe after the fault, at least


class Failover(ProgramTool):
    spec = failover.SPEC
    module = "workers.agent.faults"
    restores = True

    def data_set(self, parameters: Mapping[str, Any]) -> DataSet:
        self.chosen(parameters)
        return DataSet((TABLE,), 0)

    def secrets(self, system: SystemConfig, schema: str) -> str:
        return description(system, schema)

    def accept(self, order: Order) -> None:
        chosen = order.parameters
        if chosen["fault_at"] + AFTER > order.duration:
            raise InvalidToolParameters(
                f"the fault would come after {chosen['fault_at']:g} s of the measured phase, which lasts "
                f"{order.duration:g} s; {AFTER:g} s more are needed to see what follows"
            )
        waiting = chosen["rate"] * chosen["timeout"] * (1 + chosen["retries"])
        if waiting > failover.MOST_WAITING:
            raise InvalidToolParameters(
                f"rate × timeout × tries is {waiting:g}: so many inserts could wait at once, each with a connection; "
                f"at most {failover.MOST_WAITING} may"
            )

    def run(
        self,
        target: Target,
        parameters: Mapping[str, Any],
        *,
        load_level: LoadLevelMessage,
        warmup: float,
        duration: float,
    ) -> Invocation:
        found = super().run(target, parameters, load_level=load_level, warmup=warmup, duration=duration)
        chosen = self.chosen(parameters)
        # Time to rejoin after a fault undone under load, and after one undone later.
        more = chosen["timeout"] * (1 + chosen["retries"]) + chosen["hold"] + 2 * chosen["rejoin_timeout"]
        return replace(found, timeout=found.timeout + more)
