"""Comparison of a release with an earlier one, as judged by the server: request, exit code and output formats."""

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
    """`baseline` and `hardware` None: chosen by the server. `tolerance`: a share; None: the server's default."""

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
    """Raises RequestRefused, ServerUnreachable."""
    document: dict[str, Any] = server.read(PATH, [*asked.parameters(), ("format", "json")]).json(shapes.CHECK)
    return document


def exit_of(check: Mapping[str, Any]) -> Exit:
    """An unknown result counts as "cannot tell"."""
    return EXITS.get(check["result"], Exit.CANNOT_TELL)


def format_of(path: str, otherwise: str) -> str:
    """The format by the file's suffix."""
    return next((name for suffix, name in SUFFIXES.items() if path.lower().endswith(suffix)), otherwise)


class Formats:
    """The texts of one check; the server renders the Markdown, requested once."""

    def __init__(self, server: Server, asked: GateRequest, check: Mapping[str, Any], *, every_row: bool) -> None:
        self._server = server
        self._asked = asked
        self._check = check
        self._every_row = every_row

    def text(self, name: str) -> str:
        """Ends with a newline. Raises RequestRefused, ServerUnreachable."""
        if name == "markdown":
            parameters = [*self._asked.parameters(), ("format", "md")]
            return printable(self._server.read(PATH, parameters).text()).rstrip("\n") + "\n"
        if name == "json":
            return json.dumps(self._check, indent=2) + "\n"
        if name == "junit":
            return junit.document(self._check)
        return printable(table.text(self._check, every_row=self._every_row))
