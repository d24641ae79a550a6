"""Sources of counters behind one protocol: one file per source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from workers.protocol.wire import Number


class SourceFailed(Exception):
    """This read failed; the text is the reason. A later one may succeed."""


@dataclass(frozen=True)
class HiddenFromSampler:
    """Data that is not observable: the reason, and the remedy."""

    what: str
    reason: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}" + (f"; {self.remedy}" if self.remedy else "")


class NothingObserved(Exception):
    """The source can observe nothing in this run and is not read again. Without `hidden` nothing is missed."""

    def __init__(self, hidden: HiddenFromSampler | None = None) -> None:
        super().__init__(str(hidden or "this server has none"))
        self.hidden = hidden


@dataclass(frozen=True)
class SourceReading:
    """The result of one read of a source.

    `states`: the node's states, in words; a change is an event. `hidden`: what is not observable. `statements`: number
    executed by the server for the read.
    """

    values: Mapping[str, Number]
    states: Mapping[str, str] = field(default_factory=dict)
    hidden: Sequence[HiddenFromSampler] = ()
    statements: int = 0


class SampleSource(Protocol):
    """Read every `interval` whole seconds, on its own thread. `prompt`: a read takes no time, so a late one happened at
    an unknown moment and is dropped."""

    name: str
    interval: int
    prompt: bool

    def read(self) -> SourceReading:
        """Metric key -> current value. Raises SourceFailed, NothingObserved."""

    def close(self) -> None:
        """Frees its resources; it is not read again."""
