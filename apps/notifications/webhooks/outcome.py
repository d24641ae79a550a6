"""Result of one delivery attempt. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """`words`: the response or connection error. `again`: a retry may succeed, in `after` s at the earliest. `status`:
    of the response; None: there was none."""

    is_sent: bool
    again: bool
    words: str
    status: int | None = None
    after: float = 0.0


def is_retryable(status: int | None) -> bool:
    """None: no response, so the receiver may never have seen it."""
    return status is None or status in (408, 425, 429) or status >= 500
