"""Sources of counters behind one protocol: one file a source."""

from collections.abc import Mapping
from typing import Protocol

from workers.wire import Number


class SourceFailed(Exception):
    """Nothing could be read this time; the text says why. The next time may do better."""


class Source(Protocol):
    """Read once a second by the one thread that samples its node."""

    name: str

    def read(self) -> Mapping[str, Number]:
        """Metric key -> value now. Raises SourceFailed."""

    def close(self) -> None:
        """Frees what it holds; it is not read again."""
