"""A release against an earlier one, as the server judges it: asked for, told by exit code and in formats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from splashboard import junit, shapes, table
from splashboard.failures import Exit
from splashboard.server import Server, printable

PATH = "release-checks/"
FORMATS = ("terminal", "markdown", "json", "junit")
SUFFIXES = {".md": "markdown", ".json": "json", ".xml": "junit"}
EXITS = {"fine": Exit.FINE, "regression": Exit.REGRESSION}


@dataclass(frozen=True)
class GateRequest:
    """`baseline` and `hardware` None: the server chooses. `tolerance`: a share; None: the server's."""

    platform: str
    release: str
    baseline: str | None = None
    hardware: str | None = None
    tolerance: float | None = None
    allow_missing: bool = False

    def parameters(self) -> list[tuple[str, str]]:
        stated = {
            "platform": self.platform,
            "release": self.release,
            "baseline": self.baseline,
            "hardware": self.hardware,
            "tolerance": None if self.tolerance is None else f"{self.tolerance:g}",
            "allow_missing": "true" if self.allow_missing else None,
        }
        return [(name, value) for name, value in stated.items() if value is not None]


def ask(server: Server, asked: GateRequest) -> dict[str, Any]:
    """Raises Refused, Unreachable."""
    document: dict[str, Any] = server.read(PATH, [*asked.parameters(), ("format", "json")]).json(shapes.CHECK)
    return document


def exit_of(check: Mapping[str, Any]) -> Exit:
    """A result that this client does not know tells it nothing."""
    return EXITS.get(check["result"], Exit.CANNOT_TELL)


def format_of(path: str, otherwise: str) -> str:
    """As the file's name says it."""
    return next((name for suffix, name in SUFFIXES.items() if path.lower().endswith(suffix)), otherwise)


class Formats:
    """The texts of one check; Markdown is the server's, asked for once."""

    def __init__(self, server: Server, asked: GateRequest, check: Mapping[str, Any], *, every_row: bool) -> None:
        self._server = server
        self._asked = asked
        self._check = check
        self._every_row = every_row

    def text(self, name: str) -> str:
        """Ends with a line's end. Raises Refused, Unreachable."""
        if name == "markdown":
            parameters = [*self._asked.parameters(), ("format", "md")]
            return printable(self._server.read(PATH, parameters).text()).rstrip("\n") + "\n"
        if name == "json":
            return json.dumps(self._check, indent=2) + "\n"
        if name == "junit":
            return junit.document(self._check)
        return printable(table.text(self._check, every_row=self._every_row))
