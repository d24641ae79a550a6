"""Submission of a finished run: the load tool's output and its description."""

from __future__ import annotations

import csv
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from splashboard import division, files, shapes
from splashboard.failures import Misuse, RequestRefused
from splashboard.server import Server

# Options with the same name in the description.
PLAIN = ("format", "system", "workload", "started_at", "warmup", "repetition", "session", "server_version", "uid")
LOAD = ("threads", "rate")
OPTIONS = (*PLAIN, *LOAD, "tag", "failed")
OWN = "own"
UNPROCESSABLE = 422


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


@dataclass(frozen=True)
class PartOfFile:
    """The output of one run. `where`: its place in a file of several, for refusals; `said`: what answers get."""

    name: str
    content: bytes
    description: Mapping[str, Any]
    where: str = ""
    said: Sequence[tuple[str, Any]] = ()


def parts_of(output: str, description: Mapping[str, Any], split: Sequence[str] = ()) -> list[PartOfFile]:
    """The runs of a file: of a load tool as it printed them, of a CSV of one's own by the columns `split`.

    Raises Misuse.
    """
    content, name, named = files.read(output), Path(output).name, description.get("format")
    if split:
        if named != OWN:
            raise Misuse(f"--split: is for --format {OWN}; several runs of a load tool in one file need no option")
        rows = _divided(output, content, split)
        if len(rows) > 1 and "uid" in description:
            raise Misuse("--uid: is one run's, and --split sends several: leave it out")
        return [
            PartOfFile(
                name, text, description, f"{name} ({key})", [("part", f"{name} ({key})")] if len(rows) > 1 else ()
            )
            for key, text in rows
        ]
    found = division.parts(content, named=named)
    if not found:
        return [PartOfFile(name, content, description)]
    return [
        PartOfFile(
            *(name, part.came, own, f"the run that begins in line {part.line}"),
            [("line", part.line), ("repetition", own["repetition"]), ("started_at", own.get("started_at"))],
        )
        for part, own in zip(found, list(division.described(found, description)))
    ]


def submit(
    server: Server, parts: Sequence[PartOfFile], *, series: str | None = None, mapping: str | None = None
) -> tuple[list[dict[str, Any]], list[RequestRefused]]:
    """The server's answers, and its refusals of runs of a file of several.

    Raises Misuse, RequestRefused, ServerUnreachable.
    """
    if series is not None and len(parts) > 1:
        raise Misuse(f"--series: {parts[0].name} has {len(parts)} runs: send each by itself")
    apart = [
        (kind, Path(path).name, files.read(path))
        for kind, path in (("series", series), ("mapping", mapping))
        if path is not None
    ]
    runs, refused = [], []
    for part in parts:
        described = ("description", "description.json", json.dumps(part.description).encode())
        try:
            run = send(server, [described, ("output", part.name, part.content), *apart])
        except RequestRefused as problem:
            if problem.status != UNPROCESSABLE or len(parts) == 1:
                raise
            refused.append(RequestRefused(f"{part.where}: {problem}", status=problem.status, problems=problem.problems))
        else:
            runs.append({**run, **dict(part.said)})
    return runs, refused


def _divided(path: str, content: bytes, columns: Sequence[str]) -> list[tuple[str, bytes]]:
    """Values of these columns of a CSV, and a file of the rows with them, each below the first line, in the order of
    the rows. Raises Misuse."""
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
    return [(key, "".join(text).encode()) for key, text in parts.items()]


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


def _quoted(name: str) -> str:
    """Quotes a file name like browsers do."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def sentences(run: Mapping[str, Any]) -> list[str]:
    """The result of the submission, for users."""
    result = "submitted" if run["created"] else "already stored, identical"
    words = f"Run {run['id']} is {result}; {run['outcome']}" + (f": {run['reason']}" if run["reason"] else "")
    texts = [*([run["part"]] if "part" in run else []), words, f"  {run['address']}"]
    if "format" in run:  # older servers do not name it
        texts.append(f"  read as {run['format']}")
    if "line" in run:
        texts.append(f"  from line {run['line']} on, repetition {run['repetition']}, began {run['started_at']}")
    texts += [f"  {each['metric']} {each['value']:g} {each['unit']}" for each in run["measurements"]]
    if run["state"] != "sealed":
        texts.append("  its figures are being stored")
    if run["unparsed_lines"]:
        texts.append(f"  {run['unparsed_lines']} lines were not parsed; its page shows them")
    return texts + [f"  {warning}" for warning in run["warnings"]]
