"""Parsed output of load tools: one module per kind of output, selected by the tool's name."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from apps.runs.storage.codec import Number
from apps.runs.tool_output import formats, plain_text, report_values, sysbench_values
from apps.runs.tool_output.formats import DEFAULT, MAPPING, OWN, SUBMITTED, NotThisFormat, series_for
from apps.runs.tool_output.values import LATENCY, Headline, Output, ReadDistribution, moved

__all__ = [
    "LATENCY",
    "Headline",
    "Output",
    "ReadDistribution",
    "artifact_name",
    "artifact_names",
    "live",
    "moved",
    "read",
    "read_kept",
]

Reader = Callable[[bytes], Output]
# Tools that do not print the report format, which all our own tools print.
READERS: Mapping[str, Reader] = dict.fromkeys(("sysbench", "fileio", "cpu", "memory"), sysbench_values.read)


def artifact_name(tool: str) -> str:
    """Name of the artifact with the tool's output."""
    return f"{tool}.txt" if tool in READERS else f"{tool}.jsonl"


def artifact_names(tool: str) -> list[str]:
    """`artifact_name`, and the names of the tool's output submitted in other formats, and of what it is read by."""
    found = {artifact_name(tool): None} | {one.artifact: None for one in SUBMITTED.values() if one.tool == tool}
    return [*found, MAPPING] if tool == SUBMITTED[OWN].tool else list(found)


def read(
    tool: str,
    content: bytes,
    *,
    artifact: str = "",
    mapping: bytes = b"",
    parameters: Mapping[str, Any] | None = None,
) -> Output:
    """Parses output stored under the name `artifact`; empty: in the tool's own format. `mapping`: kept with it.
    `parameters`: of its workload."""
    foreign = next((one for one in SUBMITTED.values() if one.artifact == artifact and one.name != DEFAULT), None)
    if foreign is None:
        plain = plain_text.of(content)
        return plain.placed(READERS.get(tool, report_values.read)(plain.content))
    try:
        return (formats.mapped_again(mapping) if mapping else foreign).read(content, parameters).output
    except NotThisFormat as error:
        # Accepted by an older parser.
        return Output(parser=foreign.name, version="", fatal=str(error))


def read_kept(tool: str, contents: Mapping[str, bytes], parameters: Mapping[str, Any]) -> tuple[str, Output]:
    """Name of the file with the totals ("": none exists), and the parsed content of the files of `artifact_names`.
    `parameters`: of the workload."""
    name = next((name for name in artifact_names(tool) if name in contents and name != MAPPING), "")
    mapping = contents.get(MAPPING, b"")
    parsed = read(tool, contents.get(name, b""), artifact=name, mapping=mapping, parameters=parameters)
    chosen = next((one for one in SUBMITTED.values() if one.artifact == name), None)
    apart = series_for(chosen) if chosen else None
    if apart is not None and apart.artifact in contents:
        series = _covered(read(tool, contents[apart.artifact], artifact=apart.artifact), parsed)
        parsed = replace(parsed, intervals=series or parsed.intervals)  # a log may be too short for any
    return name, parsed


def _covered(series: Output, totals: Output) -> Mapping[float, Mapping[str, Number]]:
    """The intervals, with rates of the last one if the totals cover it to its end."""
    end = max(series.intervals, default=0.0)
    if not series.tail or totals.measured is None or totals.measured[1] < end:
        return series.intervals
    return {**series.intervals, end: {**series.intervals[end], **series.tail}}


def live(lines: str) -> Output:
    """Output of a run that is under way; the format is detected from the lines."""
    content = lines.encode()
    return report_values.read(content) if report_values.is_report(content) else sysbench_values.read(content)
