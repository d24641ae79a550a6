"""Data of one part of a comparison besides the comparison itself: read from the warehouse, stored in snapshots."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from apps.comparison.sections import serialisation
from apps.comparison.values import Comparison, Level

T = TypeVar("T")


@dataclass(frozen=True)
class Section(Generic[T]):
    """`read` queries the database; its result, of type `kind`, is stored when the comparison is saved.

    `by_level`: one value per load level; else `read` gets None.
    """

    name: str
    kind: Any
    read: Callable[[Comparison, Level | None], T]
    by_level: bool = False

    def key(self, level: Level | None) -> str:
        return f"{self.name}@{level.key}" if self.by_level and level else self.name

    def to_json(self, comparison: Comparison) -> dict[str, Any]:
        """All data of the part for this comparison, as JSON."""
        levels: tuple[Level | None, ...] = comparison.levels if self.by_level else (None,)
        return {self.key(level): serialisation.to_json(self.read(comparison, level)) for level in levels}

    def from_json(self, stored: Any) -> T:
        """The value from its stored JSON. Raises Outdated."""
        found: T = serialisation.from_json(stored, self.kind)
        return found


class NotKept(LookupError):
    """A snapshot of a saved comparison lacks the requested data."""


@dataclass(frozen=True)
class SectionSource:
    """Source of a comparison and of its parts' data. `stored`: stored data of a snapshot; None: the database, as of
    now."""

    comparison: Comparison
    stored: Mapping[str, Any] | None = None

    def read(self, reading: Section[T], level: Level | None = None) -> T:
        """Raises NotKept."""
        if self.stored is None:
            return reading.read(self.comparison, level)
        try:
            return reading.from_json(self.stored[reading.key(level)])
        except (KeyError, serialisation.Outdated) as error:
            raise NotKept(f"{reading.name}: {error}") from error
