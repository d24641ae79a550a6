"""What things are called where two names stand together. Pure."""


def with_tool(tool: str, name: str) -> str:
    """A workload's name with its tool before it, unless the name begins with that: "sysbench oltp_read_only", but
    "sysbench OLTP" of sysbench_oltp."""
    return name if _plain(name).startswith(_plain(tool)) else f"{tool} {name}"


def _plain(text: str) -> str:
    return text.replace("_", " ").casefold()
