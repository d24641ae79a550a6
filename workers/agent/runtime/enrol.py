"""Fetching a new agent's secret with the one-time code that an administrator made."""

import os
from pathlib import Path
from urllib.parse import quote

import httpx
import msgspec

from workers.agent.runtime.client import answer_text
from workers.protocol.enrolment import SCHEME, EnrolAnswer

TIMEOUT = 30.0  # s


class NotEnrolled(Exception):
    """The text says why, and what to do."""


def enrol(*, url: str, code: str, name: str, token_file: Path) -> None:
    """Writes the secret to `token_file`, readable by its owner only. Raises NotEnrolled; the file is then unchanged."""
    if token_file.exists():
        raise NotEnrolled(f"{token_file} exists: remove it, or name another file with --token-file")
    # Opened first: a code that was used cannot be used again.
    try:
        file = os.fdopen(os.open(token_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w")
    except OSError as error:
        raise NotEnrolled(f"{token_file} cannot be written: {error}") from error
    with file:
        try:
            file.write(_secret(url, code, name) + "\n")
        except NotEnrolled:
            token_file.unlink()
            raise


def _secret(url: str, code: str, name: str) -> str:
    address = f"{url.rstrip('/')}/api/v1/agent/enrolments/{quote(name, safe='')}"
    try:
        answer = httpx.post(address, headers={"Authorization": f"{SCHEME} {code}"}, timeout=TIMEOUT)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NotEnrolled(f"{url} does not answer: {error}") from error
    try:
        return msgspec.json.decode(answer.content, type=EnrolAnswer).secret
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise NotEnrolled(f"the server refused: {answer_text(answer)}") from None
