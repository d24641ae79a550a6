"""Latency of a failover: only operations that succeeded have one, so that the longer an outage is, the less of it is
seen. Pure."""

from collections.abc import Iterable

LATENCY, TOOL = "client.latency", "failover"
WHY = "writes that failed have no latency"


def why_unjudged(key: str, tools: Iterable[str]) -> str:
    """Why metric `key` of runs of these tools gets no verdict; empty: it gets one."""
    return WHY if key.startswith(LATENCY) and TOOL in tools else ""
