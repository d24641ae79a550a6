"""The agent's tools. A new tool is one more file and one more line here."""

from workers.agent.tools import Tool
from workers.agent.tools.app_ingest import AppIngest
from workers.agent.tools.app_oltp import AppOltp
from workers.agent.tools.data_load import DataLoad
from workers.agent.tools.execution_latency import ExecutionLatency
from workers.agent.tools.failover import Failover
from workers.agent.tools.generators import AsyncLoad, Slap
from workers.agent.tools.iibench import IIBench
from workers.agent.tools.index_cost import IndexCost
from workers.agent.tools.machine import Cpu, FileIO
from workers.agent.tools.schema_changes import SchemaChangesUnderLoad
from workers.agent.tools.sysbench import Sysbench
from workers.agent.tools.sysbench_oltp import SysbenchOltp
from workers.agent.tools.tpcc_like import TpccLike

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Sysbench(),
        SysbenchOltp(),
        IIBench(),
        AppIngest(),
        AppOltp(),
        TpccLike(),
        ExecutionLatency(),
        SchemaChangesUnderLoad(),
        DataLoad(),
        IndexCost(),
        AsyncLoad(),
        Slap(),
        FileIO(),
        Cpu(),
        Failover(),
    )
}


class UnknownTool(Exception):
    """The job's tool does not exist on this agent."""


def tool_named(name: str) -> Tool:
    """Raises UnknownTool."""
    try:
        return TOOLS[name]
    except KeyError as error:
        raise UnknownTool(f"this agent has no tool {name!r}; it has {', '.join(sorted(TOOLS))}") from error
