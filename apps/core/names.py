"""Display names composed of two names. Pure."""

from workers.protocol.workloads import WORKLOADS


def with_tool(tool: str, name: str) -> str:
    """A workload's name prefixed with its tool, unless the name already starts with the tool or its title, ignoring
    case and underscores.

    "sysbench oltp_read_only", but "sysbench OLTP" of the tool sysbench_oltp and "Failover" of failover.
    """
    spec = WORKLOADS.get(tool)
    starts = (tool, spec.title) if spec else (tool,)
    return name if any(_plain(name).startswith(_plain(start)) for start in starts) else f"{tool} {name}"


def _plain(text: str) -> str:
    return text.replace("_", " ").casefold()
