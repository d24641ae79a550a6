"""The cost of an index, measured by the program of the same name."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workers.agent.programs.index_cost import DIGESTS
from workers.agent.programs.order import Order
from workers.agent.programs.report import secrets_of
from workers.agent.runtime.config import SystemConfig
from workers.agent.tools import DataSet, Invocation, Target
from workers.agent.tools.program import ProgramTool, whole_rate
from workers.protocol.wire import LoadLevelMessage
from workers.protocol.workloads import index_cost

PREPARING = 3600.0  # s, the limit for preparing the tables twice, the index and the digests


class IndexCost(ProgramTool):
    spec = index_cost.SPEC
    module = "workers.agent.programs.index_cost"
    restores = True
    programs = ("sysbench",)

    def data_set(self, parameters: Mapping[str, Any]) -> DataSet:
        chosen = self.chosen(parameters)
        return DataSet(tuple(f"sbtest{number}" for number in range(1, chosen["tables"] + 1)), chosen["table_size"])

    def secrets(self, system: SystemConfig, schema: str) -> str:
        return secrets_of(system, schema, local=any(node.local for node in system.nodes))

    def accept(self, order: Order) -> None:
        whole_rate(order)

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
        return replace(found, timeout=found.timeout + found.warmup + PREPARING, open_ended=True)

    def extras(self, output: Path) -> list[Path]:
        digests = output.with_name(DIGESTS)
        return [digests] if digests.exists() else []
