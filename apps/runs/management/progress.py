"""Progress of a long command: count, rate and estimate."""

import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

from django.core.management.base import OutputWrapper

T = TypeVar("T")
EVERY = 5.0  # s


def with_progress(things: Sequence[T], *, noun: str, out: OutputWrapper) -> Iterator[T]:
    """Yields `things` and prints a line every few seconds: `120 of 1,000 runs, 24.0 a second, 37 s to go`."""
    begun = last = time.monotonic()
    for done, thing in enumerate(things):
        now = time.monotonic()
        if now - last >= EVERY:
            last, rate = now, done / (now - begun)
            left = (len(things) - done) / rate
            out.write(f"{done:,} of {len(things):,} {noun}, {rate:.1f} a second, {left:,.0f} s to go")
            out.flush()
        yield thing
