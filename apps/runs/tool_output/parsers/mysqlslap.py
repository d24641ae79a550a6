"""Parser of the --csv output of mysqlslap (mariadb-slap). Pure.

One line: engine, kind of load, mean, shortest and longest time to run all queries over the iterations (s), clients,
queries per client. There is no header: the format is recognized by the shape of the line.
"""

import re
from decimal import Decimal

from apps.runs.tool_output.parsers.parsed_output import (
    NotThisFormat,
    ParsedOutput,
    ParsedValue,
    TextLine,
    lines,
    number_of,
)

VERSION = "1"
EXPECTED = "“engine,load,mean s,shortest s,longest s,clients,queries per client”, times with three decimals"
ROW = re.compile(
    rb"^(?P<engine>[A-Za-z0-9_]*),(?P<load>mixed|write|read|update|key|[a-z]+),"
    rb"(?P<avg>\d{1,15}\.\d{3}),(?P<min>\d{1,15}\.\d{3}),(?P<max>\d{1,15}\.\d{3}),(?P<clients>\d{1,15}),(?P<queries>\d{1,15})$"
)


def parse(content: bytes) -> ParsedOutput:
    """Parses a file of one result. Raises NotThisFormat, also for several: a run has one engine and client count."""
    row: tuple[TextLine, re.Match[bytes]] | None = None
    for line in lines(content):
        if not line.text.strip():
            continue
        found = ROW.match(line.text)
        if found is None:
            raise line.refuse(EXPECTED)
        if row is not None:
            raise line.refuse("one result; this is a second one: send each line as a file of its own")
        if Decimal(found["min"].decode()) > Decimal(found["max"].decode()):
            raise line.refuse("a shortest time that is not above the longest")
        row = (line, found)
    if row is None:
        raise NotThisFormat(1, "", f"the file is empty; expected {EXPECTED}")
    line, found = row
    # The last number may lack digits.
    if not line.ended:
        return ParsedOutput(reason="the line is cut off", threads=int(found["clients"]))
    return ParsedOutput(threads=int(found["clients"]), values=tuple(_values(line, found)))


def _values(line: TextLine, found: re.Match[bytes]) -> list[ParsedValue]:
    values = [number_of(line, found, group, f"client.execution_time.{group}") for group in ("avg", "min", "max")]
    queries = int(found["clients"]) * int(found["queries"])
    mean = float(Decimal(found["avg"].decode()))
    start, end = line.start + found.start("avg"), line.start + found.end("queries")
    values.append(ParsedValue("client.statements", float(queries), start, end))
    # Printed as 0.000: too short for a rate.
    if mean:
        values.append(ParsedValue("client.queries", queries / mean, start, end))
    return values
