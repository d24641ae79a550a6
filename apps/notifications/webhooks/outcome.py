"""What became of one attempt to tell somebody. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """`words`: what the receiver, or the way to it, said. `again`: another attempt may do better."""

    is_sent: bool
    again: bool
    words: str


def is_retryable(status: int | None) -> bool:
    """None: no answer came, so the receiver may never have seen it."""
    return status is None or status in (408, 425, 429) or status >= 500
