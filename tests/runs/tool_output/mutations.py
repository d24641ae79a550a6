"""Mutations of an output: what happens to files on their way, each with the bytes of the original that it touches."""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.runs.tool_output.deformed import DEFORMED

NUMBER = re.compile(rb"(?<![\w.])\d[\d.]*(?!\w)")
OTHER = bytes.maketrans(b"12345678", b"23456789")
Touched = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Mutation:
    """`touched`: ranges of the original whose values may differ, or only be lost where a letter stands in the number
    (`is_letter`). `is_read`: it must be (True), must be refused (False), or either (None).
    """

    name: str
    content: bytes
    touched: Touched = ()
    is_read: bool | None = None
    is_letter: bool = False


def _lines(content: bytes) -> list[tuple[int, int]]:
    places, start = [], 0
    for line in content.splitlines(keepends=True):
        places.append((start, start + len(line)))
        start += len(line)
    return places


def _truncated(content: bytes, chance: random.Random) -> Mutation:
    start, _ = chance.choice(_lines(content))
    return Mutation(f"cut at {start}", content[:start], ((start, len(content)),))


def _flipped(content: bytes, chance: random.Random) -> Mutation:
    place = chance.randrange(len(content))
    flipped = bytes([content[place] ^ (1 << chance.randrange(8))])
    return Mutation(f"byte {place} flipped", content[:place] + flipped + content[place + 1 :], _line_of(content, place))


def _deleted(content: bytes, chance: random.Random) -> Mutation:
    start, end = chance.choice(_lines(content))
    return Mutation(f"line at {start} deleted", content[:start] + content[end:], ((start, end),))


def _doubled(content: bytes, chance: random.Random) -> Mutation:
    start, end = chance.choice(_lines(content))
    return Mutation(f"line at {start} doubled", content[:end] + content[start:], ((start, end),))


def _swapped(content: bytes, chance: random.Random) -> Mutation:
    places = _lines(content)
    first = chance.randrange(max(len(places) - 1, 1))
    (a, b), (_, c) = places[first], places[min(first + 1, len(places) - 1)]
    return Mutation(f"line at {a} swapped", content[:a] + content[b:c] + content[a:b] + content[c:], ((a, c),))


def _lettered(content: bytes, chance: random.Random) -> Mutation:
    """A digit of a number, not of a name such as p95."""
    places = [at for each in NUMBER.finditer(content) for at in range(*each.span())]
    place = chance.choice([at for at in places if content[at : at + 1].isdigit()])
    changed = content[:place] + bytes([chance.choice(b"OlISBZox")]) + content[place + 1 :]
    return Mutation(f"digit {place} a letter", changed, _line_of(content, place), is_letter=True)


def _commas(content: bytes, chance: random.Random) -> Mutation:
    """All decimals of a file, or one."""
    points = [found.start() for found in re.finditer(rb"(?<=\d)\.(?=\d)", content)]
    if not points or chance.random() < 0.3:
        return Mutation("decimal commas", re.sub(rb"(?<=\d)\.(?=\d)", b",", content))
    place = chance.choice(points)
    return Mutation(
        f"decimal comma at {place}", content[:place] + b"," + content[place + 1 :], _line_of(content, place)
    )


def _twice(content: bytes, chance: random.Random) -> Mutation:
    gap = chance.choice([b"", b"\n", b"\n\n"])
    return Mutation("two runs", content.rstrip(b"\n") + b"\n" + gap + content, is_read=False)


def _restarted(content: bytes, chance: random.Random) -> Mutation:
    """A run with other numbers that broke off, and then one; or the other way round."""
    start, _ = chance.choice(_lines(content)[1:] or [(0, 0)])
    broken = NUMBER.sub(lambda found: found[0].translate(OTHER), content[:start])
    is_first = chance.random() < 0.6
    return Mutation(f"restarted at {start}, {is_first}", broken + content if is_first else content + broken)


def _deformed(content: bytes, chance: random.Random) -> Mutation:
    name = chance.choice(sorted(DEFORMED))
    return Mutation(name, DEFORMED[name](content), is_read=True)


def _line_of(content: bytes, place: int) -> Touched:
    """The line, since a number may become another one by a sign beside it; and the one that is joined to it."""
    return tuple((start, end) for start, end in _lines(content) if start <= place < end or start == place + 1)


KINDS: tuple[tuple[Callable[[bytes, random.Random], Mutation], int], ...] = (
    *((_truncated, 22), (_restarted, 14), (_flipped, 40), (_deleted, 20), (_doubled, 20), (_swapped, 20)),
    *((_lettered, 24), (_commas, 10), (_twice, 3), (_deformed, 27)),
)


def mutations(content: bytes, *, seed: str) -> Iterator[Mutation]:
    """The same 200 for the same seed."""
    chance = random.Random(seed)
    for mutate, times in KINDS:
        for _ in range(times):
            yield mutate(content, chance)
