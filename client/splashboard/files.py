"""Reading and writing of files named by the user."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
import sys
from pathlib import Path
from typing import Any, TextIO

from splashboard.failures import Misuse


def read(path: str) -> bytes:
    """Raises Misuse with the file."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise Misuse(f"{path} cannot be read: {error.strerror}") from error


def read_object(path: str) -> dict[str, Any]:
    """A JSON object. Raises Misuse with file and line."""
    try:
        document = json.loads(read(path))
    except json.JSONDecodeError as error:
        raise Misuse(f"{path} is not JSON: line {error.lineno}: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise Misuse(f"{path} is not JSON: it is not text") from error
    except (ValueError, RecursionError) as error:
        raise Misuse(
            f"{path} is not a description: it is nested too deeply, or a number has too many digits"
        ) from error
    if not isinstance(document, dict):
        raise Misuse(f'{path} must hold a JSON object, {{"system": …}}')
    return document


def write(path: str, text: str) -> None:
    """Writes a file atomically, also behind a symbolic link, so that no reader gets half a report. A target that is
    not a regular file (a device, a FIFO, our own output) is written in place.

    Raises Misuse with the file.
    """
    content = text.encode("utf-8", "replace")
    try:
        found = _found(path)
        stream = found and _stream(found)
        target = os.path.realpath(path)
        if stream:
            stream.write(text)
            stream.flush()
        elif found and not (stat.S_ISREG(found.st_mode) and _is_there(target, found)):
            Path(path).write_bytes(content)
        else:
            _replace(target, content)
    except OSError as error:
        raise Misuse(f"{path} cannot be written: {error.strerror}") from error


def write_bytes(path: str, content: bytes) -> None:
    """A file of its own, atomically. Raises Misuse with the file."""
    try:
        _replace(os.path.realpath(path), content)
    except OSError as error:
        raise Misuse(f"{path} cannot be written: {error.strerror}") from error


def _found(path: str) -> os.stat_result | None:
    """The target behind all links; None: nothing yet."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _stream(found: os.stat_result) -> TextIO | None:
    """Our own stream to the same file (`--output /dev/stdout`): a second open would overwrite it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if os.path.samestat(found, os.fstat(stream.fileno())):
                return stream
        except OSError:  # a stream without a file
            continue
    return None


def _is_there(target: str, found: os.stat_result) -> bool:
    """Whether `target` names the found file; a file without a name can be reached through /proc."""
    now = _found(target)
    return now is not None and os.path.samestat(now, found)


def _replace(target: str, content: bytes) -> None:
    aside = Path(target).with_name(f".splashboard-{secrets.token_hex(4)}.part")
    with open(aside, "xb") as file:  # never through a symbolic link planted there
        try:
            file.write(content)
            file.flush()
            if os.path.exists(target):
                shutil.copymode(target, aside)
            aside.replace(target)
        except BaseException:
            aside.unlink()
            raise
