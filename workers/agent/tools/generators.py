"""The generators other than sysbench: our asynchronous client and mysqlslap."""

from collections.abc import Mapping
from typing import Any

from workers.agent.programs.order import Order
from workers.agent.programs.tables import table
from workers.agent.tools import DataSet, InvalidToolParameters
from workers.agent.tools.program import ProgramTool
from workers.protocol.workloads import asyncload, slap


def _data_set(chosen: Mapping[str, Any]) -> DataSet:
    return DataSet(tuple(table(number) for number in range(1, chosen["tables"] + 1)), chosen["table_size"])


class AsyncLoad(ProgramTool):
    spec = asyncload.SPEC
    module = "workers.agent.programs.asyncload"
    packages = ("aiomysql",)

    def data_set(self, parameters: Mapping[str, Any]) -> DataSet:
        return _data_set(self.chosen(parameters))


class Slap(ProgramTool):
    spec = slap.SPEC
    module = "workers.agent.programs.slap"
    programs = ("mysqlslap",)
    is_optional = True

    def data_set(self, parameters: Mapping[str, Any]) -> DataSet:
        return _data_set(self.chosen(parameters))

    def accept(self, order: Order) -> None:
        if order.rate is not None:
            raise InvalidToolParameters("mysqlslap knows no fixed rate; leave the rate out of the load level")
