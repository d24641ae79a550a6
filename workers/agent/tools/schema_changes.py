"""ALTER TABLE under load, by the program schema_changes."""

from collections.abc import Mapping
from typing import Any

from workers.agent.programs.order import Order
from workers.agent.tools import DataSet, InvalidToolParameters
from workers.agent.tools.program import ProgramTool, whole_rate
from workers.protocol.workloads import schema_changes


class SchemaChangesUnderLoad(ProgramTool):
    spec = schema_changes.SPEC
    module = "workers.agent.programs.schema_changes"
    programs = ("sysbench",)

    def data_set(self, parameters: Mapping[str, Any]) -> DataSet:
        chosen = self.chosen(parameters)
        return DataSet(tuple(f"sbtest{number}" for number in range(1, chosen["tables"] + 1)), chosen["table_size"])

    def accept(self, order: Order) -> None:
        if order.rate is None:
            raise InvalidToolParameters("the load level has no rate; a stall shows against a load at a fixed rate only")
        whole_rate(order)
        chosen = order.parameters
        last = chosen["at"] + (chosen["count"] - 1) * chosen["pause"] + chosen["count"] * chosen["hold"]
        if last >= order.duration:
            raise InvalidToolParameters(
                f"the last statement would come after {last:g} s; the measured phase has {order.duration:g} s"
            )

    def timeout_factor(self) -> float:
        return 3.0
