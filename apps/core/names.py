"""Display names composed of two names. Pure."""


def with_tool(tool: str, name: str) -> str:
    """A workload's name prefixed with its tool, unless the name already starts with it, ignoring case and underscores.

    "sysbench oltp_read_only", but "sysbench OLTP" of the tool sysbench_oltp.
    """
    return name if _plain(name).startswith(_plain(tool)) else f"{tool} {name}"


def _plain(text: str) -> str:
    return text.replace("_", " ").casefold()
