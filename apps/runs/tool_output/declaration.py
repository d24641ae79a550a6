"""Declaration of a format: its name, parser, how it is recognised and what stands of it in the documentation. Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from apps.runs.tool_output import plain_text
from apps.runs.tool_output.once import held
from apps.runs.tool_output.parsers.attachments.statements import StatementCounts
from apps.runs.tool_output.parsers.parsed_output import OutputTable
from apps.runs.tool_output.plain_text import PlainText
from apps.runs.tool_output.values import Output

__all__ = ["Attached", "FormatFacts", "FormatMark", "Submitted", "SubmittedOutput", "mark"]


@dataclass(frozen=True)
class SubmittedOutput:
    """A parsed file, and the load, the repetition and the workload's parameters that it states; None: not stated.
    `is_rated`: whether a rate limited the load."""

    output: Output
    threads: int | None = None
    rate: float | None = None
    repetition: int | None = None
    is_rated: bool | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FormatMark:
    """What an output has: `words` for people; all `patterns` occur at its begin or end, `unless` does not."""

    words: str
    patterns: tuple[re.Pattern[bytes], ...]
    unless: re.Pattern[bytes] | None = None

    def place(self, text: bytes) -> int | None:
        """Where the first pattern is; None: the text is not of this format."""
        found = [pattern.search(text) for pattern in self.patterns]
        if not all(found) or (self.unless and self.unless.search(text)):
            return None
        return found[0].start() if found[0] else None


def mark(words: str, *patterns: bytes, unless: bytes = b"") -> FormatMark:
    """Patterns in which `^` is the begin of a line."""
    compiled = tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns)
    return FormatMark(words, compiled, re.compile(unless, re.MULTILINE) if unless else None)


@dataclass(frozen=True)
class FormatFacts:
    """What the documentation has of a format. `sample`: "real" or "imitated", as it is in the tests. `commas`: where
    its decimals may be commas; empty: never."""

    versions: str
    sample: str
    reads: str
    omits: str = ""
    commas: str = ""


@dataclass(frozen=True)
class Submitted:
    """A format of a run's output. `tool`: the tool of its workloads. `made_by`: the file's source. `parse`: reads its
    plain text. `series_of`: for a format with series, the format of the same tool's totals that they supplement.
    `mark`: how it is recognised where the sender names no format. `states_work`: the output states the workload's
    parameters. `parse_if`: a switch of the workload that the output may not state, and how it is read where the sender
    says that it was on. `counts_all`: such series count all transactions of the totals but those of one interval.
    `mapping`: of the sender, kept beside the file, for a format that needs one; see `formats.mapped`.
    """

    name: str
    title: str
    tool: str
    extension: str
    made_by: str
    parse: Callable[[bytes], SubmittedOutput]
    series_of: str = ""
    mark: FormatMark | None = None
    facts: FormatFacts | None = None
    states_work: bool = False
    parse_if: tuple[str, Callable[[bytes], SubmittedOutput]] | None = None
    counts_all: bool = False
    mapping: bytes | None = None

    @property
    def artifact(self) -> str:
        return f"{self.name}.{self.extension}"

    def read(self, content: bytes, parameters: Mapping[str, Any] | None = None) -> SubmittedOutput:
        """Parses the file as it came. `parameters`: of its workload. Raises NotThisFormat."""
        is_on = self.parse_if is not None and (parameters or {}).get(self.parse_if[0]) is True
        parse = self.parse_if[1] if self.parse_if and is_on else self.parse
        return held((self.name, self.mapping, is_on, content), lambda: self._read(plain_text.of(content), parse))

    def _read(self, plain: PlainText, parse: Callable[[bytes], SubmittedOutput]) -> SubmittedOutput:
        found = parse(plain.content)
        return replace(found, output=plain.placed(found.output))


@dataclass(frozen=True)
class Attached:
    """A format of a further file of a run, such as a profile. `parse`: reads its plain text; `parse_statements`: of one
    that lists statements. `clean`: its plain text without what is not kept."""

    name: str
    title: str
    extension: str
    made_by: str
    parse: Callable[[bytes], OutputTable]
    parse_statements: Callable[[bytes], tuple[StatementCounts, ...]] | None = None
    clean: Callable[[bytes], bytes] | None = None

    def kept(self, content: bytes) -> bytes:
        """What is stored of the file, once it was read: as it came, where nothing is left out."""
        plain = plain_text.of(content).content
        cleaned = self.clean(plain) if self.clean else plain
        return content if cleaned == plain else cleaned

    def read(self, content: bytes) -> OutputTable:
        """Parses the file as it came. Raises NotThisFormat."""
        return self.parse(plain_text.of(content).content)

    def statements(self, content: bytes) -> tuple[StatementCounts, ...]:
        """Those of the file as it came; none of a format without. Raises NotThisFormat."""
        return self.parse_statements(plain_text.of(content).content) if self.parse_statements else ()
