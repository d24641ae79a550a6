"""A load tool's command line as it is read, and the reading of its words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Union

Value = Union[str, int, float, bool]
PLAIN = re.compile(r"[\w.,:+-]{1,60}")


@dataclass(frozen=True)
class ToolCommand:
    """A load tool's command line. `tool` and `format` as the server names them. `file`: where it writes its result;
    empty: it prints it. `host`, `port`: of its server; empty, 0: not stated. `rate`: 1/s; None: none, or the output
    states it. `connection`: arguments of psql; `password`: not among them. `log`: what the names of its files of series
    begin with. `problem`: why it could not be submitted."""

    tool: str
    format: str
    parameters: Mapping[str, Value] = field(default_factory=dict)
    threads: int | None = None
    host: str = ""
    schema: str = ""
    file: str = ""
    problem: str = ""
    port: int = 0
    rate: float | None = None
    connection: Sequence[str] = ()
    log: str = ""
    password: str = field(default="", repr=False)


def value_of(text: str) -> Value:
    """A number where it is one."""
    if re.fullmatch(r"-?\d{1,18}", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d{1,18}\.\d{1,18}", text) else text


def whole(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"\d{1,9}", text) else None


def short(words: Sequence[str], name: str) -> str:
    """The value of `-n value` or `-nvalue`; empty: not given."""
    for place, word in enumerate(words):
        if word == f"-{name}":
            return words[place + 1] if place + 1 < len(words) else ""
        if word.startswith(f"-{name}") and not word.startswith("--"):
            return word[2:]
    return ""


def spaced(words: Sequence[str], *names: str) -> str:
    """The value of `-n value`, `-nvalue`, `--name value` or `--name=value`; of several the last; empty: not given."""
    found = ""
    for place, word in enumerate(words):
        for name in names:
            if word == name:
                found = words[place + 1] if place + 1 < len(words) else ""
            elif word.startswith(f"{name}="):
                found = word[len(name) + 1 :]
            elif len(name) == 2 and word.startswith(name):
                found = word[2:]
    return found
