"""Sources of counters behind one protocol: one file a source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from workers.protocol.wire import Number


class SourceFailed(Exception):
    """Nothing could be read this time; the text says why. The next time may do better."""


@dataclass(frozen=True)
class HiddenFromSampler:
    """Something that cannot be seen as things are: why, and what would change that."""

    what: str
    reason: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}" + (f"; {self.remedy}" if self.remedy else "")


class SeesNothing(Exception):
    """The source can see nothing at all in this run, and is not asked again."""

    def __init__(self, hidden: HiddenFromSampler) -> None:
        super().__init__(str(hidden))
        self.hidden = hidden


@dataclass(frozen=True)
class SourceReading:
    """What a source saw.

    `states`: what it found its node to be in, in words; a change is an event. `hidden`: what it cannot see.
    `statements`: how many the server had to execute for it.
    """

    values: Mapping[str, Number]
    states: Mapping[str, str] = field(default_factory=dict)
    hidden: Sequence[HiddenFromSampler] = ()
    statements: int = 0


class SampleSource(Protocol):
    """Read every `interval` seconds, a whole number, by a thread of its own. `prompt`: reading takes no time, so what
    comes late was read at a moment that nobody knows, and is left out."""

    name: str
    interval: int
    prompt: bool

    def read(self) -> SourceReading:
        """Metric key -> value now. Raises SourceFailed, SeesNothing."""

    def close(self) -> None:
        """Frees what it holds; it is not read again."""
