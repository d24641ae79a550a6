"""Executions of a run's statements, from the files that list them. Pure.

A statement is known by its normalised text, so that it is the same in every run and schema, and on every shard.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from apps.runs.tool_output.parsers.parsed_output import readable

TEXT_KEPT = 1000
SPACE, QUOTES = re.compile(r"\s+"), re.compile(r"[`\"]")
# sbtest1 and sbtest27, customer3 and customer4: shards of one table.
NUMBERED = re.compile(r"(?<=[a-z_])\d+\b")
AROUND = re.compile(r" ?([(),.=<>]) ?")


@dataclass(frozen=True)
class StatementCounts:
    """Totals of one statement in the measured phase. `seconds` is the time of the server. `rows_examined` None: not
    reported. `span`: s over which it was counted; None: the measured phase."""

    text: str
    count: float
    seconds: float
    rows_examined: float | None
    span: float | None


def normalised(text: str) -> str:
    """Lower case, one space, no quotes, numbers at the end of names as N: “select c from sbtestN where id=?”."""
    plain = SPACE.sub(" ", QUOTES.sub("", text)).strip().lower()
    return NUMBERED.sub("N", AROUND.sub(r"\1", plain))[:TEXT_KEPT]


def merged(found: Iterable[StatementCounts]) -> tuple[StatementCounts, ...]:
    """Sums over nodes, schemas and shards: one entry per text, the longest-running first. Spans overlap: the longest
    counts."""
    texts: dict[str, list[StatementCounts]] = {}
    for each in found:
        if each.count > 0 and (text := readable(normalised(each.text))):
            texts.setdefault(text, []).append(each)
    summed = [
        StatementCounts(
            text=text,
            count=sum(each.count for each in own),
            seconds=sum(each.seconds for each in own),
            rows_examined=None
            if any(each.rows_examined is None for each in own)
            else sum(each.rows_examined or 0.0 for each in own),
            span=max((each.span for each in own if each.span is not None), default=None),
        )
        for text, own in texts.items()
    ]
    return tuple(sorted(summed, key=lambda each: (-each.seconds, each.text)))
