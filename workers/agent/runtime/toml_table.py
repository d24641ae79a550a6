"""Reads one table of a TOML file; each error is one sentence with the file, the field and the remedy."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SLUG = re.compile(r"[a-z0-9][a-z0-9_.-]*")
MISSING = object()


class ConfigError(Exception):
    """An unusable configuration; the text is the sentence to show."""


@dataclass
class TomlTable:
    """`name`: the table's path in the file, as in `systems[0].nodes[1]`; empty for the file itself."""

    file: Path
    name: str
    values: dict[str, Any]
    _read: set[str] = field(default_factory=set)

    def fail(self, key: str, problem: str) -> ConfigError:
        where = f"{self.name}.{key}" if self.name else key
        return ConfigError(f"{self.file}: {where} {problem}")

    def text(self, key: str, *, default: str | None = None, pattern: re.Pattern[str] | None = None) -> str:
        value = self._take(key, default)
        if not isinstance(value, str) or (default is None and not value):
            raise self.fail(key, f'must be a text that is not empty; write {key} = "…"')
        if pattern and value and not pattern.fullmatch(value):
            raise self.fail(key, f"is {value!r}; it must match {pattern.pattern}")
        return value

    def integer(self, key: str, *, low: int, high: int, default: int | None = None) -> int:
        value = self._take(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.fail(key, f"is {value!r}; it must be a whole number from {low} to {high}")
        return value

    def number(self, key: str, *, low: float, high: float, default: float) -> float:
        value = self._take(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
            raise self.fail(key, f"is {value!r}; it must be a number from {low} to {high}")
        return float(value)

    def flag(self, key: str, *, default: bool) -> bool:
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self.fail(key, f"is {value!r}; it must be true or false")
        return value

    def texts(self, key: str, *, default: list[str]) -> list[str]:
        value = self._take(key, default)
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise self.fail(key, f'must be a list of texts; write {key} = ["…"]')
        return value

    def integers(self, key: str, *, low: int, high: int, default: list[int]) -> list[int]:
        value = self._take(key, default)
        if not isinstance(value, list) or not all(type(entry) is int and low <= entry <= high for entry in value):
            raise self.fail(key, f"is {value!r}; it must be a list of whole numbers from {low} to {high}")
        return value

    def settings(self, key: str) -> dict[str, str]:
        """A table of plain values, as texts: settings declared by the user."""
        value = self._take(key, {})
        if not isinstance(value, dict) or not all(isinstance(v, str | int | float) for v in value.values()):
            raise self.fail(key, "must be a table of texts and numbers")
        return {name: str(v).lower() if isinstance(v, bool) else str(v) for name, v in value.items()}

    def table(self, key: str) -> "TomlTable":
        value = self._take(key, {})
        if not isinstance(value, dict):
            raise self.fail(key, f"must be a table; write [{key}]")
        return TomlTable(self.file, f"{self.name}.{key}" if self.name else key, value)

    def tables(self, key: str) -> "Iterator[TomlTable]":
        value = self._take(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            raise self.fail(key, f"must be a list of tables; write [[{key}]]")
        prefix = f"{self.name}.{key}" if self.name else key
        for number, entry in enumerate(value):
            yield TomlTable(self.file, f"{prefix}[{number}]", entry)

    def has(self, key: str) -> bool:
        return key in self.values

    def done(self) -> None:
        """Raises ConfigError for a field that was not read: most often a typing error."""
        for key in self.values.keys() - self._read:
            raise self.fail(key, f"is unknown; remove it or use one of: {', '.join(sorted(self._read))}")

    def _take(self, key: str, default: Any) -> Any:
        self._read.add(key)
        value = self.values.get(key, MISSING)
        if value is MISSING:
            if default is None:
                raise self.fail(key, f"is missing; add {key} = …")
            return default
        return value
