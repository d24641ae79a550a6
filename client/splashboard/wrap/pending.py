"""Runs that are measured and not yet stored by the server: a folder each, below the user's state."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from splashboard import shapes, submitting
from splashboard.answers.runs import Measurement, RunDetail
from splashboard.failures import Misuse, RequestRefused
from splashboard.server import Server

DESCRIPTION, STATE = "description.json", "state.json"
ROWS = {"results": [{"id": int}]}
STORED = shapes.part(
    RunDetail,
    "id uid outcome reason address state unparsed_lines",
    measurements=[shapes.part(Measurement, "metric value unit")],
)


def folder() -> Path:
    """Of this user alone."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".local" / "state") / "splashboard" / "pending"


@dataclass(frozen=True)
class PendingRun:
    """`state`: url (for which server it was measured), output (its file's name), series (of it, or none), samples,
    refused (why)."""

    place: Path
    description: Mapping[str, Any]
    state: Mapping[str, Any]

    def send(self, server: Server, options: Mapping[str, Any]) -> dict[str, Any]:
        """Sends it and removes it; the same submission again is the same run. `options`: of `splashboard submit`, for
        the description of a run that was refused. Another call may send it at the same time, or have sent it.

        Raises RequestRefused, after noting why; ServerUnreachable; Misuse where files are missing.
        """
        description = submitting.describe(self.description, options if self.state["refused"] else {})
        try:
            parts = [
                ("description", DESCRIPTION, json.dumps(description).encode()),
                ("output", self.state["output"], (self.place / self.state["output"]).read_bytes()),
                *(("series", name, (self.place / name).read_bytes()) for name in self.state.get("series", ())),
                *(("samples", name, (self.place / name).read_bytes()) for name in self.state["samples"]),
            ]
        except OSError as error:
            stored = self._stored(server) if isinstance(error, FileNotFoundError) else None
            if stored is None:
                raise Misuse(f"{self.place} is not whole: {error.filename}: {error.strerror}: remove it") from error
            return stored
        try:
            found = submitting.send(server, parts)
        except RequestRefused as error:
            if error.status in (401, 403):  # nothing is wrong with the run
                raise
            if self.place.is_dir():
                write_private(
                    self.place / STATE, json.dumps({**self.state, "refused": [str(error), *error.fields]}).encode()
                )
            raise
        shutil.rmtree(self.place, ignore_errors=True)
        return found

    def _stored(self, server: Server) -> dict[str, Any] | None:
        """What the answer to another call that sent it was; None: the server has no such run."""
        system, began = self.description["system"], str(self.description["started_at"])
        until = (datetime.fromisoformat(began) + timedelta(microseconds=1)).isoformat()
        key = system if isinstance(system, str) else str(system["slug"])
        for row in server.read("runs/", [("system", key), ("since", began), ("until", until)]).json(ROWS)["results"]:
            found = server.read(f"runs/{row['id']}/").json(STORED)
            if found["uid"] == self.description["uid"]:
                return {**found, "unparsed_lines": len(found["unparsed_lines"]), "warnings": [], "created": False}
        return None


def keep(
    *,
    url: str,
    description: Mapping[str, Any],
    output: bytes,
    name: str,
    samples: Sequence[bytes] = (),
    series: bytes = b"",
    refused: str = "",
) -> PendingRun:
    """Raises Misuse when the disk is full."""
    place = folder() / f"{str(description['started_at'])[:19].replace(':', '')}-{description['uid']}"
    files = {f"samples-{number:06}.gz": content for number, content in enumerate(samples)}
    apart = {"series": series} if series else {}
    state = {
        "url": url,
        "output": name,
        "series": [*apart],
        "samples": sorted(files),
        "refused": [refused] if refused else [],
    }
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        for above in (place, folder(), folder().parent):
            above.chmod(0o700)
        described = {DESCRIPTION: json.dumps(description, indent=1).encode()}
        for file, content in {name: output, **apart, **files, **described}.items():
            write_private(place / file, content)
        write_private(place / STATE, json.dumps(state).encode())  # last: with it the run is whole
    except OSError as error:
        raise Misuse(
            f"the run cannot be kept in {place}: {error.strerror}: free space there, or set XDG_STATE_HOME"
        ) from error
    return PendingRun(place, description, state)


def every() -> list[PendingRun]:
    """In the order of measurement; without those that were cut off while they were written."""
    found = []
    for place in sorted(folder().glob("*")):
        try:
            description = json.loads((place / DESCRIPTION).read_bytes())
            state = json.loads((place / STATE).read_bytes())
        except (OSError, ValueError):
            continue
        found.append(PendingRun(place, description, state))
    return found


def write_private(path: Path, content: bytes) -> None:
    """A whole file, or none, that this user alone can read. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = path.with_suffix(path.suffix + ".part")
    with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    aside.replace(path)
