"""Submission of a finished run: the load tool's output and its description."""

from __future__ import annotations

import csv
import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from splashboard import files, shapes
from splashboard.failures import Misuse
from splashboard.server import Server

# Options with the same name in the description.
PLAIN = ("format", "system", "workload", "started_at", "warmup", "repetition", "session", "server_version", "uid")
LOAD = ("threads", "rate")


def describe(stated: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The description from a file, overridden by the options; None in `options`: not given."""
    given = {name: options[name] for name in PLAIN if options.get(name) is not None}
    load = {name: options[name] for name in LOAD if options.get(name) is not None}
    description = {**stated, **given}
    if load:
        description["load_level"] = {**stated.get("load_level", {}), **load}
    if options.get("tag"):
        description["tags"] = [*stated.get("tags", []), *options["tag"]]
    if options.get("failed") is not None:
        description |= {"outcome": "failed", "reason": options["failed"]}
    return description


def submit(
    server: Server,
    *,
    output: tuple[str, bytes],
    description: Mapping[str, Any],
    series: str | None = None,
    mapping: str | None = None,
) -> dict[str, Any]:
    """The run from the server's answer. `output`: name and content.

    Raises Misuse, RequestRefused, ServerUnreachable.
    """
    parts = [("description", "description.json", json.dumps(description).encode()), ("output", *output)]
    parts += [_part(field, path) for field, path in (("series", series), ("mapping", mapping)) if path is not None]
    return send(server, parts)


def divided(path: str, columns: Sequence[str]) -> list[tuple[str, bytes]]:
    """The file's name and content; with `columns` of a CSV one file for the rows of each of their values, in the order
    of the rows, each below the first line. Raises Misuse."""
    content = files.read(path)
    name = Path(path).name
    if not columns:
        return [(name, content)]
    try:
        lines = [line for line in content.decode("utf-8-sig").splitlines(keepends=True) if line.strip()]
    except UnicodeDecodeError as error:
        raise Misuse(f"{path} is not text in UTF-8") from error
    head = lines[0] if lines else ""
    separator = next((sign for sign in "\t;" if sign in head), ",")
    names, *rows = ([cell.strip() for cell in row] for row in csv.reader(lines or [""], delimiter=separator))
    lacking = [column for column in columns if column not in names]
    if lacking or len(rows) != len(lines) - 1:
        known = f"has no column {lacking[0]!r}; there are {', '.join(names)}" if lacking else "has a row of two lines"
        raise Misuse(f"--split: {path} {known}")
    places = [names.index(column) for column in columns]
    parts: dict[str, list[str]] = {}
    for row, line in zip(rows, lines[1:]):
        values = [row[place] if place < len(row) else "" for place in places]
        key = ", ".join(f"{column} {value}" for column, value in zip(columns, values))
        parts.setdefault(key, [head]).append(line)
    return [(f"{name} ({key})", "".join(text).encode()) for key, text in parts.items()]


def send(server: Server, parts: list[tuple[str, str, bytes]]) -> dict[str, Any]:
    """`parts`: of the form, as for `encode`. Raises RequestRefused, ServerUnreachable."""
    body, kind = encode(parts)
    # A resend is the same run: its uid is derived from the content.
    answer = server.send("runs/", body, kind=kind, repeatable=True)
    return {**answer.json(shapes.RUN), "created": answer.status == 201}


def encode(parts: list[tuple[str, str, bytes]]) -> tuple[bytes, str]:
    """(field, file name, content) as multipart/form-data, with its Content-Type."""
    boundary = secrets.token_hex(16)
    lines = []
    for field, name, content in parts:
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="{_quoted(name)}"\r\n'
        lines += [
            head.encode(errors="surrogateescape"),
            b"Content-Type: application/octet-stream\r\n\r\n",
            content,
            b"\r\n",
        ]
    lines.append(f"--{boundary}--\r\n".encode())
    return b"".join(lines), f"multipart/form-data; boundary={boundary}"


def _part(field: str, path: str) -> tuple[str, str, bytes]:
    return field, Path(path).name, files.read(path)


def _quoted(name: str) -> str:
    """Quotes a file name like browsers do."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def sentences(run: Mapping[str, Any]) -> list[str]:
    """The result of the submission, for users."""
    result = "submitted" if run["created"] else "already stored, identical"
    words = f"Run {run['id']} is {result}; {run['outcome']}" + (f": {run['reason']}" if run["reason"] else "")
    texts = [words, f"  {run['address']}"]
    texts += [f"  {each['metric']} {each['value']:g} {each['unit']}" for each in run["measurements"]]
    if run["state"] != "sealed":
        texts.append("  its figures are being stored")
    if run["unparsed_lines"]:
        texts.append(f"  {run['unparsed_lines']} lines were not parsed; its page shows them")
    return texts + [f"  {warning}" for warning in run["warnings"]]
