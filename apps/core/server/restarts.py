"""What the supervisor of `make run` started again: a file below var/, written by it and shown to administrators.

Pure: the supervisor has Python's own modules alone.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "restarts.json"
KEPT = 50


@dataclass(frozen=True)
class Restart:
    """`at`: s since the epoch, when `name` was found to have ended or to hang; `why`: what was seen."""

    name: str
    at: float
    why: str


def note(var: Path, restart: Restart) -> None:
    """Raises OSError."""
    kept = [restart, *read(var)][:KEPT]
    partial = var / f"{FILE}.partial"
    partial.write_text(json.dumps([asdict(each) for each in kept]))
    partial.replace(var / FILE)


def read(var: Path) -> list[Restart]:
    """The newest first; none where the file is missing or unreadable, which must keep nothing from starting again."""
    try:
        return [Restart(**each) for each in json.loads((var / FILE).read_text())]
    except (OSError, ValueError, TypeError):
        return []
