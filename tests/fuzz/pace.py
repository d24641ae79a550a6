"""How long inputs of a megabyte take, of every kind in which they grow: at most PER_MB.

In the program alone: the tests compare a time with another one, which holds on any machine.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from tests.fuzz import places, seeds
from tests.fuzz.growth import DISTINCT, repeated
from tests.fuzz.targets import TARGETS, attempt

PER_MB = 1.0  # s
SIZE = 1_000_000  # bytes
LONGEST = 2  # inputs of the corpus that grow


@dataclass(frozen=True)
class Pace:
    """`seconds`: of processor time, for each MB."""

    what: str
    seconds: float

    @property
    def is_slow(self) -> bool:
        return self.seconds > PER_MB

    def __str__(self) -> str:
        return f"{self.seconds:6.2f} s/MB  {self.what}{'  TOO SLOW' if self.is_slow else ''}"


def paces(name: str) -> Iterator[Pace]:
    """Of a target that needs no database."""
    for what, content in _grown(name):
        began = time.process_time()
        attempt(TARGETS[name], content)
        yield Pace(f"{name}: {what}", (time.process_time() - began) * 1e6 / len(content))


def _grown(name: str) -> Iterator[tuple[str, bytes]]:
    inputs = [*seeds.of(name), *(path.read_bytes() for path in sorted(places.corpus(name).iterdir()))]
    for content in sorted(inputs, key=len)[-LONGEST:]:
        for how, text in zip(("the whole", "a line", "a byte"), repeated(content, SIZE), strict=True):
            yield f"{how} of {content[:24]!r} again and again", text
    for (target, what), lines in DISTINCT.items():
        if target == name:
            yield f"distinct {what}", lines.of(SIZE)
