"""Converts the results of parsers of foreign tools to Output. Pure."""

from itertools import pairwise

from apps.runs.ingest.clean_text import printable
from apps.runs.storage.codec import Number
from apps.runs.tool_output.parsers.parsed_output import ParsedOutput, ParsedValue
from apps.runs.tool_output.sysbench_values import LABEL_LIMIT, unparsed_lines
from apps.runs.tool_output.values import Headline, Output, ReadDistribution
from workers.protocol.wire import EventMessage

THROUGHPUT, TRANSACTIONS = "client.throughput", "client.transactions"
ERRORS, FAILED, ELAPSED = "client.errors", "client.errors.total", "client.elapsed"


def output_of(parsed: ParsedOutput, *, parser: str, version: str) -> Output:
    return Output(
        parser=parser,
        version=version,
        tool_version=printable(parsed.version),
        complete=not parsed.reason,
        fatal=printable(parsed.reason),
        headlines=tuple(
            Headline(value.metric, value.value, value.start, value.end)
            for value in (*parsed.values, *_error_rate(parsed))
        ),
        intervals=_intervals(parsed),
        tail=parsed.tail,
        measured=parsed.measured,
        distributions=tuple(
            ReadDistribution(one.metric, *(parsed.measured or (0.0, 0.0)), one.counts, one.start, one.end)
            for one in parsed.distributions
        ),
        events=tuple(_events(parsed)),
        unparsed=tuple(unparsed_lines(list(parsed.unparsed))),
    )


def _error_rate(parsed: ParsedOutput) -> list[ParsedValue]:
    """Errors a second, which are compared, of an output that has their number alone; at the bytes of what it is made
    of."""
    printed = {value.metric: value for value in parsed.values}
    failed, elapsed = printed.get(FAILED), printed.get(ELAPSED)
    start, end = parsed.measured or (0.0, 0.0)
    length = elapsed.value if elapsed else end - start
    if failed is None or ERRORS in printed or length <= 0:
        return []
    places = [failed, elapsed] if elapsed else [failed]
    first, last = min(place.start for place in places), max(place.end for place in places)
    return [ParsedValue(ERRORS, failed.value / length, first, last)]


def _headline(output: Output, metric: str) -> float | None:
    return next((one.value for one in output.headlines if one.metric == metric), None)


def lacking_transactions(totals: Output, series: Output) -> str:
    """Why separate series are not of these totals: they lack the transactions of more than one interval, or have more.
    Empty: they fit, or one of the two does not count."""
    said, counted = _headline(totals, TRANSACTIONS), _headline(series, TRANSACTIONS)
    if said is None or counted is None:
        return ""
    # pgbench's shortest; of one interval it cannot be seen, and of few the last may be the busiest.
    length = min((b - a for a, b in pairwise(sorted(series.intervals))), default=1.0)
    rates = [float(row.get(THROUGHPUT) or 0) for row in series.intervals.values()]
    busiest = max([_headline(totals, THROUGHPUT) or 0.0, *rates])
    if said - 1.5 * busiest * length - 1 <= counted <= 1.01 * said + 1:
        return ""
    remedy = "send the logs of all worker threads in one file, and of all transactions"
    return f"counts {counted:,.0f} of {said:,.0f} transactions: {remedy}"


def _intervals(parsed: ParsedOutput) -> dict[float, dict[str, Number]]:
    rows: dict[float, dict[str, Number]] = {second: {} for second in parsed.clock}
    for metric, values in parsed.series.items():
        for second, value in zip(parsed.clock, values, strict=True):
            rows[second][metric] = value
    return rows


def _events(parsed: ParsedOutput) -> list[EventMessage]:
    found = []
    for message in parsed.events:
        text = printable(message.label)
        detail: dict[str, object] = {"count": message.count}
        if len(text) > LABEL_LIMIT:
            detail["text"] = text
        found.append(
            EventMessage(
                kind=message.kind, label=text[:LABEL_LIMIT], starts_at=message.at, node="client", detail=detail
            )
        )
    return found
