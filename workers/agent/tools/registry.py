"""The tools that this agent knows. A new tool is one more file and one more line here."""

from workers.agent.tools import Tool
from workers.agent.tools.ddl_under_load import DdlUnderLoad
from workers.agent.tools.failover import Failover
from workers.agent.tools.generators import AsyncLoad, Slap
from workers.agent.tools.iibench import IIBench
from workers.agent.tools.sysbench import Sysbench
from workers.agent.tools.sysbench_oltp import SysbenchOltp

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Sysbench(),
        SysbenchOltp(),
        IIBench(),
        DdlUnderLoad(),
        AsyncLoad(),
        Slap(),
        Failover(),
    )
}


class UnknownTool(Exception):
    """The job asks for a tool that this agent does not have."""


def tool_named(name: str) -> Tool:
    """Raises UnknownTool."""
    try:
        return TOOLS[name]
    except KeyError as error:
        raise UnknownTool(f"this agent has no tool {name!r}; it has {', '.join(sorted(TOOLS))}") from error
