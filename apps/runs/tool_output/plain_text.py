"""A tool's output without what terminals, redirections and logs put around its lines. Pure.

Applied before recognition and before every parser, on submission and when a run is sealed again; the file is kept as it
came. It removes, and changes nothing else: line numbers stay, and an output without any of this is the same bytes.

- a byte order mark; UTF-16 that begins with one becomes UTF-8;
- ANSI escapes (colours);
- what begins every line: times of `ts`, `kubectl logs --timestamps` and `--prefix`, `docker compose logs`, the journal.
  A prefix is removed only where every line that is not blank begins with one of its kind; the last line may be cut off.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from apps.runs.tool_output.once import once
from apps.runs.tool_output.values import Headline, Output, ReadDistribution

Read = TypeVar("Read", Headline, ReadDistribution)

# First bytes of files that people compress outputs to.
COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"PK\3\4": "ZIP",
}
UTF8 = b"\xef\xbb\xbf"
UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
# Control sequences, commands of the operating system, and the short ones.
ESCAPE = re.compile(
    rb"\x1b(?:\[[0-?]{0,60}[ -/]{0,10}[@-~]|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)|[()][0-9A-Za-z]|[@-Z\\^_=>])"
)

_TIME = rb"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_DAY = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d " + _TIME
_ISO = rb"\d{4}-\d\d-\d\d[T ]" + _TIME + rb"(?:Z|[+-]\d\d:?\d\d)?"
_END = rb"(?: |(?=\r?$))"
# In this order: a time stands before the host in the journal. `name`: the same in every line.
PREFIXES: tuple[tuple[str, re.Pattern[bytes]], ...] = tuple(
    (title, re.compile(pattern, re.MULTILINE))
    for title, pattern in (
        ("kubectl logs --prefix", rb"(?P<name>\[pod/[^\]\s]{1,300}/[^\]\s]{1,300}\])" + _END),
        ("docker compose logs", rb"(?P<name>[\w.-]{1,200}) +\|" + _END),
        *(
            ("journalctl", time + rb" [^\s:\[\]]{1,255} (?:kernel|[^\s:\[\]]{1,255}\[\d{1,10}\]):" + _END)
            for time in (_DAY, _ISO)
        ),
        *(("times", time + _END) for time in (_DAY, _ISO, rb"\[" + _ISO + rb"\]", _TIME, rb"\d{1,10}\.\d{6,9}")),
    )
)
LAYERS = 3  # docker compose logs --timestamps of a command piped to ts
# Lines of the journal itself.
JOURNAL = re.compile(
    rb"-- (?:Logs begin at|Journal begins at|Boot [0-9a-f]{32}|Reboot|No entries).*--\r?$", re.MULTILINE
)


@dataclass(frozen=True)
class PlainText:
    """`steps`: each gives the offset before it of an offset after it, the first step first."""

    content: bytes
    steps: tuple[Callable[[int], int], ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The bytes of the file at `content[start:end]`, which ends with a sign of ASCII."""
        first, last = start, end - 1
        for step in reversed(self.steps):
            first, last = step(first), step(last)
        return first, last + (2 if self.steps and isinstance(self.steps[0], _Utf16) else 1)

    def placed(self, output: Output) -> Output:
        """`output`, parsed from `content`, with byte ranges of the file."""
        if not self.steps:
            return output
        return replace(
            output,
            headlines=tuple(map(self._moved, output.headlines)),
            distributions=tuple(map(self._moved, output.distributions)),
        )

    def _moved(self, read: Read) -> Read:
        start, end = self.span(read.byte_start, read.byte_end)
        return replace(read, byte_start=start, byte_end=end)


def compression_of(content: bytes) -> str:
    """Name of the compression; empty: none."""
    return next((name for begin, name in COMPRESSED.items() if content.startswith(begin)), "")


@once
def of(content: bytes) -> PlainText:
    """The same content where nothing is around it."""
    steps: list[Callable[[int], int]] = []
    coding = UTF16.get(content[:2])
    if coding is not None:
        content = content[2:].decode(coding, "replace").encode("utf-8", "replace")
        steps.append(_Utf16(content))
    # A mark of its own may stand in UTF-16 as well, after concatenation.
    if content.startswith(UTF8):
        content = _without(content, [(0, len(UTF8))], steps)
    if b"\x1b" in content:
        content = _without(content, (found.span() for found in ESCAPE.finditer(content)), steps)
    for _ in range(LAYERS):
        ranges = next((found for _, pattern in PREFIXES if (found := _prefixes(content, pattern))), None)
        if ranges is None:
            break
        content = _without(content, zip(ranges[::2], ranges[1::2], strict=True), steps)
    return PlainText(content, tuple(steps))


def break_of(content: bytes) -> str:
    """In words, where a prefix of the first lines of a plain text ends; empty: they have none."""
    found = {title: start for title, pattern in PREFIXES if (start := _first_without(content, pattern)) is not None}
    if not found:
        return ""
    title = max(found, key=lambda name: found[name])
    number = content.count(b"\n", 0, found[title]) + 1
    return f"line {number} does not begin as the lines of {title} before it: keep those of one program"


def _first_without(content: bytes, pattern: re.Pattern[bytes]) -> int | None:
    """Where the first line without the prefix of the first line begins; None: all have it, or the first has none."""
    name: bytes | None = None
    for start, _ in _lines(content):
        found = pattern.match(content, start)
        own = found["name"] if found and "name" in pattern.groupindex else b""
        if name is None and found is None:
            return None
        if found is None or name not in (None, own):
            return start
        name = own
    return None


def _prefixes(content: bytes, pattern: re.Pattern[bytes]) -> "array[int] | None":
    """Start and end of what begins each line, one after the other; None: a line has no such prefix."""
    ranges = array("q")
    name: bytes | None = None
    for start, end in _lines(content):
        found = pattern.match(content, start)
        if found is None and JOURNAL.match(content, start):
            ranges.extend((start, end))
            continue
        if found is None:
            if end < len(content):
                return None
            continue  # cut off
        if "name" in pattern.groupindex:
            if name not in (None, found["name"]):
                return None
            name = found["name"]
        ranges.extend(found.span())
    return ranges or None


def _lines(content: bytes) -> Iterator[tuple[int, int]]:
    """Start and end, without the line's end, of the lines that are not blank."""
    start = 0
    while start < len(content):
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end
        if content[start:end].strip():
            yield start, end
        start = end + 1


def _without(content: bytes, ranges: Iterable[tuple[int, int]], steps: list[Callable[[int], int]]) -> bytes:
    """`content` without these ranges, which ascend; adds the step back to `steps`."""
    kept, after, before, place = bytearray(), array("q"), array("q"), 0
    for start, end in (*ranges, (len(content), len(content))):
        if start > place:
            after.append(len(kept))
            before.append(place)
            kept += content[place:start]
        place = end
    steps.append(_Removed(after, before))
    return bytes(kept)


class _Removed:
    """Offsets before ranges were removed."""

    def __init__(self, after: "array[int]", before: "array[int]") -> None:
        self.after, self.before = after, before

    def __call__(self, offset: int) -> int:
        piece = max(bisect_right(self.after, offset) - 1, 0)
        return self.before[piece] + offset - self.after[piece] if self.after else offset


class _Utf16:
    """Offsets in UTF-16 after its mark."""

    def __init__(self, content: bytes) -> None:
        self.content, self.is_ascii = content, content.isascii()

    def __call__(self, offset: int) -> int:
        if self.is_ascii:
            return 2 + 2 * offset
        return 2 + len(self.content[:offset].decode("utf-8", "ignore").encode("utf-16-le"))
