"""Exit codes, and the exceptions that end the program with them."""

from __future__ import annotations

import enum


class Exit(enum.IntEnum):
    """0 to 2 are results; 3 and above are failures."""

    FINE = 0
    REGRESSION = 1  # `wait`: jobs failed or were cancelled
    CANNOT_TELL = 2  # `wait`: not finished in time
    USE = 3  # options, files, settings
    REFUSED = 4  # the server rejected the request
    UNREACHABLE = 5  # no usable answer
    DEFECT = 6  # of this program
    COMMAND = 7  # `run`: the command failed
    INTERRUPTED = 130


class Failure(Exception):
    """Ends the program with `code`; the text is printed on stderr."""

    code = Exit.DEFECT


class Misuse(Failure):
    code = Exit.USE


class RequestRefused(Failure):
    """`fields`: a sentence about each invalid field."""

    code = Exit.REFUSED

    def __init__(self, text: str, *, status: int, fields: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.status = status
        self.fields = fields


class ServerUnreachable(Failure):
    code = Exit.UNREACHABLE
