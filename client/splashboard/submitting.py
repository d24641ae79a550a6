"""Submission of a finished run: the load tool's output and its description."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from splashboard import files, shapes
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


def submit(server: Server, *, output: str, series: str | None, description: Mapping[str, Any]) -> dict[str, Any]:
    """The run from the server's answer. Raises Misuse, RequestRefused, ServerUnreachable."""
    parts = [("description", "description.json", json.dumps(description).encode()), _part("output", output)]
    if series is not None:
        parts.append(_part("series", series))
    return send(server, parts)


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
