"""What a part of a comparison rests on besides the comparison itself: read from the warehouse, kept in editions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from apps.comparison.sections import serialisation
from apps.comparison.values import Comparison, Level

T = TypeVar("T")


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Section(Generic[T]):
    """`read` asks the database; what it gives, of type `kind`, is kept when the comparison is saved.

    `by_level`: it is another for every load level; else `read` gets None. `pack` and `unpack` stand between a value
    that has no plain fields and the one of type `kind` that is kept for it.
    """

    name: str
    kind: Any
    read: Callable[[Comparison, Level | None], T]
    by_level: bool = False
    pack: Callable[[T], Any] = _same
    unpack: Callable[[Any], T] = _same

    def key(self, level: Level | None) -> str:
        return f"{self.name}@{level.key}" if self.by_level and level else self.name

    def keep(self, comparison: Comparison) -> dict[str, Any]:
        """Everything that the part can show of this comparison, as JSON."""
        levels: tuple[Level | None, ...] = comparison.levels if self.by_level else (None,)
        return {self.key(level): serialisation.to_json(self.pack(self.read(comparison, level))) for level in levels}

    def kept(self, stored: Any) -> T:
        """Raises Outdated."""
        return self.unpack(serialisation.from_json(stored, self.kind))


class NotKept(LookupError):
    """An edition of a saved comparison does not hold what is asked of it."""


@dataclass(frozen=True)
class SectionSource:
    """Where a comparison and what its parts rest on come from. `kept`: what an edition of a saved comparison holds for
    them; None: the database, now."""

    comparison: Comparison
    kept: Mapping[str, Any] | None = None

    def read(self, reading: Section[T], level: Level | None = None) -> T:
        """Raises NotKept."""
        if self.kept is None:
            return reading.read(self.comparison, level)
        try:
            return reading.kept(self.kept[reading.key(level)])
        except (KeyError, serialisation.Outdated) as error:
            raise NotKept(f"{reading.name}: {error}") from error
