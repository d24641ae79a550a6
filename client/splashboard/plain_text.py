"""The lines of an output without what terminals, redirections and logs put around them, as the server reads them.

A line stands for the line of the file at its place, so that a file is divided where its plain lines show it. What
begins lines is removed only where every line that is not blank begins with one of its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

UTF8 = b"\xef\xbb\xbf"
UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
ESCAPE = re.compile(
    rb"\x1b(?:\[[0-?]{0,60}[ -/]{0,10}[@-~]|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)|[()][0-9A-Za-z]|[@-Z\\^_=>])"
)
_TIME = rb"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_DAY = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d " + _TIME
_ISO = rb"\d{4}-\d\d-\d\d[T ]" + _TIME + rb"(?:Z|[+-]\d\d:?\d\d)?"
_END = rb"(?: |(?=\r?$))"
# `name`: the same in every line.
PREFIXES = tuple(
    re.compile(pattern + _END, re.MULTILINE)
    for pattern in (
        rb"(?P<name>\[pod/[^\]\s]{1,300}/[^\]\s]{1,300}\])",  # kubectl logs --prefix
        rb"(?P<name>[\w.-]{1,200}) +\|",  # docker compose logs
        *(time + rb" [^\s:\[\]]{1,255} (?:kernel|[^\s:\[\]]{1,255}\[\d{1,10}\]):" for time in (_DAY, _ISO)),
        *(_DAY, _ISO, rb"\[" + _ISO + rb"\]", _TIME, rb"\d{1,10}\.\d{6,9}"),
    )
)
LAYERS = 3
JOURNAL = re.compile(
    rb"-- (?:Logs begin at|Journal begins at|Boot [0-9a-f]{32}|Reboot|No entries).*--\r?$", re.MULTILINE
)


@dataclass(frozen=True)
class FileLines:
    """The lines of a file, each plain and as it came. `mark`: what a file of some of them begins with."""

    plain: Sequence[bytes]
    came: Sequence[bytes]
    mark: bytes = b""

    def part(self, start: int, end: int) -> bytes:
        """The file of these lines."""
        return (self.mark if start else b"") + b"".join(self.came[start:end])


def lines_of(content: bytes) -> FileLines:
    """Of UTF-16 that cannot be read: the file as one line."""
    coding = UTF16.get(content[:2])
    if coding is None:
        came = list(_lines(content))
        text = came
    else:
        try:
            text = list(_lines(content[2:].decode(coding).encode()))
        except UnicodeDecodeError:
            return FileLines([content], [content])
        came = [line.decode().encode(coding) for line in text]
        came[:1] = [content[:2] + line for line in came[:1]]
    plain = [ESCAPE.sub(b"", line) if b"\x1b" in line else line for line in text]
    plain[:1] = [line[len(UTF8) :] if line.startswith(UTF8) else line for line in plain[:1]]
    for _ in range(LAYERS):
        without = next((found for pattern in PREFIXES if (found := _without(plain, pattern))), None)
        if without is None:
            break
        plain = without
    return FileLines(plain, came, content[:2] if coding else b"")


def _without(lines: Sequence[bytes], pattern: re.Pattern[bytes]) -> list[bytes]:
    """The lines without such a prefix; empty: a line has none."""
    kept, name, is_found = [], None, False
    for line in lines:
        found = pattern.match(line)
        if found is not None:
            own = found["name"] if "name" in pattern.groupindex else None
            if name not in (None, own):
                return []
            name, is_found = own, True
            kept.append(line[found.end() :])
        elif JOURNAL.match(line):
            kept.append(b"\n")
        elif line.strip() and line.endswith(b"\n"):
            return []
        else:
            kept.append(line)  # blank, or cut off
    return kept if is_found else []


def _lines(content: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(content):
        end = content.find(b"\n", start) + 1 or len(content)
        yield content[start:end]
        start = end
