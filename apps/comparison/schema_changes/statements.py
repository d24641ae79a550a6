"""Classification of schema changes by their statement, independent of platform and names. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from apps.core.answers import Shown
from apps.core.names import with_tool
from apps.core.text import counted
from workers.protocol.workloads.schema_changes import SPEC

TOOL = SPEC.tool
# Parameters of that tool that describe how the table is altered, or when; the others describe load and data.
MANNER = ("operation", "algorithm", "lock", "hold", "count")
TIMING = ("at", "pause", "stall_share")
AS_CHOSEN = "default"
OPERATIONS = {
    "add column": "Add a column",
    "add column not null": "Add a column that is not null",
    "drop column": "Drop a column",
    "add index": "Add an index",
}
_ALTERED = re.compile(r"^\s*ALTER\s+(?:ONLINE\s+|IGNORE\s+)*TABLE\s+\S+\s*", re.IGNORECASE)
# A run of spaces is tried once, from its start: time grows with the length.
_OPTION = re.compile(r"(?:(?<!\s)\s++|,\s*+|)\b(?:ALGORITHM\s*=?\s*\w+|LOCK\s*=?\s*\w+|FORCE)\b", re.IGNORECASE)
_CHOSEN = re.compile(r"\b(ALGORITHM|LOCK)\s*=?\s*(\w+)", re.IGNORECASE)
_KINDS = (
    (re.compile(r"^(?:ADD\s+(?:UNIQUE\s+)?(?:INDEX|KEY)|CREATE\s+(?:UNIQUE\s+)?INDEX)\b", re.IGNORECASE), "add index"),
    (re.compile(r"^ADD\s+(?:COLUMN\s+)?.*\bNOT\s+NULL\b", re.IGNORECASE), "add column not null"),
    (re.compile(r"^ADD\s+COLUMN\b", re.IGNORECASE), "add column"),
    (re.compile(r"^DROP\s+COLUMN\b", re.IGNORECASE), "drop column"),
)
# Articles' wording -> key.
_STATED = {"add column null": "add column"}


@dataclass(frozen=True)
class Manner:
    """How a table is altered. `hold`: s for which an open transaction holds the table when a statement arrives;
    `count`: statements in a run."""

    algorithm: Annotated[str, '"default": as the server chooses']
    lock: str
    hold: Annotated[float, "s for which an open transaction holds the table when a statement comes"]
    count: Annotated[int, "statements in a run"]

    @property
    def text(self) -> Shown[str]:
        parts = ["as the server chooses" if self.algorithm == AS_CHOSEN else self.algorithm.upper()]
        parts += [f"LOCK={self.lock.upper()}"] if self.lock != AS_CHOSEN else []
        parts += [f"behind a transaction of {self.hold:g} s"] if self.hold else []
        parts += [f"{self.count} statements a run"] if self.count > 1 else []
        return ", ".join(parts)


def operation_of(statement: str) -> str:
    """A key of OPERATIONS; for other statements their first words, without table names."""
    clause = _OPTION.sub("", _ALTERED.sub("", statement)).strip(" ,;")
    for pattern, kind in _KINDS:
        if pattern.match(clause):
            return kind
    return " ".join(clause.lower().split()[:3]) or "schema change"


def stated_operation(words: str) -> str:
    """An article's name of a statement, as a key of OPERATIONS if it is one."""
    return _STATED.get(words, words)


def title_of(operation: str) -> str:
    return OPERATIONS.get(operation, operation[:1].upper() + operation[1:])


def option_of(statement: str, option: str) -> str:
    """ALGORITHM or LOCK of a statement, in lower case; AS_CHOSEN: left to the server."""
    found = {name.upper(): value.lower() for name, value in _CHOSEN.findall(statement)}
    return str(found.get(option, AS_CHOSEN))


def setting_text(tool: str, name: str, parameters: Mapping[str, Any], level: str) -> str:
    """Data and load, for example "1 table of 300,000 rows, 8 threads, 100/s"."""
    if tool == TOOL:
        tables, rows = parameters.get("tables", 1), parameters.get("table_size", 0)
        return f"{counted(tables, 'table')} of {rows:,} rows, {level}"
    return f"{with_tool(tool, name)}, {level}"


def setting_of(tool: str, parameters: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Key that two runs of the same change share: data and load, not how the table is altered."""
    passed_over = (*MANNER, *TIMING) if tool == TOOL else ()
    return tuple(sorted((key, str(value)) for key, value in parameters.items() if key not in passed_over))
