"""Files that people name, read and written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from splashboard.failures import Misuse


def read(path: str) -> bytes:
    """Raises Misuse naming the file."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise Misuse(f"{path} cannot be read: {error.strerror}") from error


def read_object(path: str) -> dict[str, Any]:
    """A JSON object. Raises Misuse naming file and line."""
    try:
        document = json.loads(read(path))
    except json.JSONDecodeError as error:
        raise Misuse(f"{path} is not JSON: line {error.lineno}: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise Misuse(f"{path} is not JSON: it is not text") from error
    if not isinstance(document, dict):
        raise Misuse(f'{path} must hold a JSON object, {{"system": …}}')
    return document


def write(path: str, text: str) -> None:
    """All of it or nothing, so that nobody publishes half a report. Raises Misuse naming the file."""
    aside = f"{path}.{os.getpid()}.part"
    try:
        try:
            Path(aside).write_text(text, encoding="utf-8")
            Path(aside).replace(path)
        finally:
            Path(aside).unlink(missing_ok=True)
    except OSError as error:
        raise Misuse(f"{path} cannot be written: {error.strerror}") from error
