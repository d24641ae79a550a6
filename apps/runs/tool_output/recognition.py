"""The format of an output, recognised by its content. Pure.

Each format declares its mark (formats.py); an output has the mark of one format. Without any, it is sysbench's where
sysbench's parser knows a line of it, since outputs without their first lines were always taken as such.
"""

from apps.runs.tool_output import plain_text
from apps.runs.tool_output.declaration import Submitted
from apps.runs.tool_output.formats import FORMAT_OF, SUBMITTED
from apps.runs.tool_output.parsers import sysbench
from apps.runs.tool_output.parsers.parsed_output import first_line, lines

# Bytes at the begin and at the end in which marks are looked for.
WINDOW = 256 * 1024


class NotRecognised(ValueError):
    """No format, or several; `remedy`: what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def recognised(content: bytes) -> Submitted:
    """Raises NotRecognised."""
    text = plain_text.of(content).content
    window = text if len(text) <= 2 * WINDOW else text[:WINDOW] + b"\n" + text[-WINDOW:]
    found = {
        one.name: place for one in SUBMITTED.values() if one.mark and (place := one.mark.place(window)) is not None
    }
    if len(found) > 1:
        raise _several(text, window, found)
    name = next(iter(found), "") or _without_first_lines(text)
    if name not in SUBMITTED:
        raise _unknown(text)
    return SUBMITTED[name]


def _without_first_lines(text: bytes) -> str:
    """The format of sysbench's lines without the first ones; empty: there are none."""
    parsed = sysbench.parse(text)
    return FORMAT_OF[parsed.kind or "oltp"] if parsed.has_known_lines else ""


def _several(text: bytes, window: bytes, found: dict[str, int]) -> NotRecognised:
    seen = []
    for name, place in sorted(found.items(), key=lambda each: each[1]):
        start = window.rfind(b"\n", 0, place) + 1
        line = next(lines(window[start:]), first_line(text))
        number = text.count(b"\n", 0, text.find(line.text)) + 1
        seen.append(f"{name} by line {number}, {line.shown!r}")
    return NotRecognised(
        f"is of several formats: {'; '.join(seen)}", "send the output of each run by itself, or state format"
    )


def _unknown(text: bytes) -> NotRecognised:
    first = first_line(text)
    looked_for = "; ".join(f"{one.mark.words} ({one.name})" for one in SUBMITTED.values() if one.mark)
    broken = plain_text.break_of(text)
    return NotRecognised(
        f"has no format that is recognised: line {first.number} is {first.shown!r}"
        f"{f'; {broken}' if broken else ''}; looked for {looked_for}",
        f"state format, one of {', '.join(SUBMITTED)}, and send the file as its tool wrote it",
    )
