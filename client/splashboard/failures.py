"""Exit codes, and what is raised to end with one of them."""

from __future__ import annotations

import enum


class Exit(enum.IntEnum):
    """0 to 2 are answers; from 3 on there is none."""

    FINE = 0
    REGRESSION = 1  # of `wait`: jobs failed, or were cancelled
    CANNOT_TELL = 2  # of `wait`: not at its end in time
    USE = 3  # options, files, settings
    REFUSED = 4  # the server understood and said no
    UNREACHABLE = 5  # no usable answer came
    DEFECT = 6  # of this program
    INTERRUPTED = 130


class Failure(Exception):
    """Ends the program with `code`; the text is told on stderr."""

    code = Exit.DEFECT


class Misuse(Failure):
    code = Exit.USE


class RequestRefused(Failure):
    """`fields`: a sentence about each that is at fault."""

    code = Exit.REFUSED

    def __init__(self, text: str, *, status: int, fields: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.status = status
        self.fields = fields


class ServerUnreachable(Failure):
    code = Exit.UNREACHABLE
