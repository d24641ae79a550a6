"""Converts the results of parsers of foreign tools to Output. Pure."""

from apps.runs.ingest.clean_text import printable
from apps.runs.storage.codec import Number
from apps.runs.tool_output.parsers.parsed_output import ParsedOutput
from apps.runs.tool_output.sysbench_values import LABEL_LIMIT, unparsed_lines
from apps.runs.tool_output.values import Headline, Output
from workers.protocol.wire import EventMessage


def output_of(told: ParsedOutput, *, parser: str, version: str) -> Output:
    return Output(
        parser=parser,
        version=version,
        tool_version=told.version,
        complete=not told.reason,
        fatal=told.reason,
        headlines=tuple(Headline(value.metric, value.value, value.start, value.end) for value in told.values),
        intervals=_intervals(told),
        measured=told.measured,
        events=tuple(_events(told)),
        unparsed=tuple(unparsed_lines(list(told.unparsed))),
    )


def _intervals(told: ParsedOutput) -> dict[float, dict[str, Number]]:
    rows: dict[float, dict[str, Number]] = {second: {} for second in told.clock}
    for metric, values in told.series.items():
        for second, value in zip(told.clock, values, strict=True):
            rows[second][metric] = value
    return rows


def _events(told: ParsedOutput) -> list[EventMessage]:
    found = []
    for said in told.events:
        text = printable(said.label)
        detail: dict[str, object] = {"count": said.count}
        if len(text) > LABEL_LIMIT:
            detail["text"] = text
        found.append(
            EventMessage(kind=said.kind, label=text[:LABEL_LIMIT], starts_at=said.at, node="client", detail=detail)
        )
    return found
