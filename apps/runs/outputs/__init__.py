"""What a load tool printed, read: one file a kind of output, found by the tool's name."""

from collections.abc import Callable, Mapping

from apps.runs.outputs import report, sysbench
from apps.runs.outputs.values import LATENCY, Headline, Output, ReadDistribution, moved

__all__ = ["LATENCY", "Headline", "Output", "ReadDistribution", "artifact_name", "live", "moved", "nothing", "read"]

Reader = Callable[[bytes], Output]
# Tools that print another form than the report format, which is that of all tools of ours.
READERS: Mapping[str, Reader] = {"sysbench": sysbench.read}


def artifact_name(tool: str) -> str:
    """Of what the tool printed."""
    return f"{tool}.txt" if tool in READERS else f"{tool}.jsonl"


def read(tool: str, content: bytes) -> Output:
    return READERS.get(tool, report.read)(content)


def nothing(tool: str) -> Output:
    """Of a run whose output never came."""
    return read(tool, b"")


def live(lines: str) -> Output:
    """As far as a run has come; its tool shows in the lines themselves."""
    content = lines.encode()
    return report.read(content) if report.is_report(content) else sysbench.read(content)
