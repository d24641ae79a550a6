"""Submission of a finished run: the load tool's output and its description."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from splashboard import division, files, shapes
from splashboard.failures import Misuse, RequestRefused
from splashboard.server import Server

# Options with the same name in the description.
PLAIN = ("format", "system", "workload", "started_at", "warmup", "repetition", "session", "server_version", "uid")
LOAD = ("threads", "rate")
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


def submit(
    server: Server, *, output: str, series: str | None, description: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], list[RequestRefused]]:
    """The server's answers: one run, or each run of a file of several; and the refusals of runs of such a file.

    Raises Misuse, RequestRefused, ServerUnreachable.
    """
    content, name = files.read(output), Path(output).name
    apart = [] if series is None else [("series", Path(series).name, files.read(series))]
    found = division.parts(content, named=description.get("format"))
    if not found:
        return [send(server, [_described(description), ("output", name, content), *apart])], []
    if apart:
        raise Misuse(f"--series: {output} has {len(found)} runs: send each by itself")
    runs, refused = [], []
    for part, own in zip(found, list(division.described(found, description))):
        try:
            run = send(server, [_described(own), ("output", name, part.content)])
        except RequestRefused as problem:
            if problem.status != UNPROCESSABLE:
                raise
            text = f"the run that begins in line {part.line}: {problem}"
            refused.append(RequestRefused(text, status=problem.status, problems=problem.problems))
        else:
            runs.append(
                {**run, "line": part.line, "repetition": own["repetition"], "started_at": own.get("started_at")}
            )
    return runs, refused


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


def _described(description: Mapping[str, Any]) -> tuple[str, str, bytes]:
    return "description", "description.json", json.dumps(description).encode()


def _quoted(name: str) -> str:
    """Quotes a file name like browsers do."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def sentences(run: Mapping[str, Any]) -> list[str]:
    """The result of the submission, for users."""
    result = "submitted" if run["created"] else "already stored, identical"
    words = f"Run {run['id']} is {result}; {run['outcome']}" + (f": {run['reason']}" if run["reason"] else "")
    texts = [words, f"  {run['address']}"]
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
