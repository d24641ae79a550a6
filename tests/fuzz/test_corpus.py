"""Each input of the corpus is read or refused in a sentence, in time and memory that grow with its length alone.

`python -m tests.fuzz` found them; SECURITY.md says how.
"""

import hashlib
import time
import tracemalloc
from collections.abc import Callable

import pytest
from django.db import transaction

from apps.core import limits
from tests.fuzz import places
from tests.fuzz.growth import DISTINCT, repeated
from tests.fuzz.targets import TARGETS, Target, attempt

Read = Callable[[bytes], object]
# Bytes of grown input, and the growth that is not proportion: 2 where time grows with the length, 4 with its square.
SHORT, STEEP = 40_000, 3.0
# Below so many times the time of a hash of the same bytes, growth is not measured: it is lost in noise.
NOISE = 300
TRIES = 4
PURE = [name for name, target in TARGETS.items() if not target.database]


def corpus(name: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(places.corpus(name).iterdir())]


def test_every_target_has_a_corpus() -> None:
    assert {path.name for path in places.CORPUS.iterdir()} == set(TARGETS)
    assert all(corpus(name) for name in TARGETS)


@pytest.mark.parametrize("name", PURE)
def test_the_corpus_is_read_or_refused(name: str) -> None:
    for content in corpus(name):
        attempt(TARGETS[name], content)


@pytest.mark.django_db
@pytest.mark.parametrize("name", [name for name, target in TARGETS.items() if target.database])
def test_the_corpus_is_stored_or_refused(name: str) -> None:
    for content in corpus(name):
        with transaction.atomic():
            attempt(TARGETS[name], content)
            transaction.set_rollback(True)


@pytest.mark.parametrize("name", PURE)
def test_memory_is_bounded_by_the_limits(name: str) -> None:
    for content in corpus(name):
        tracemalloc.start()
        try:
            attempt(TARGETS[name], content)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < limits.BATCH_TEXT_ALWAYS + limits.BATCH_RATIO * len(content), content[:200]


def seconds(read: Read, content: bytes, *, tries: int = 1) -> float:
    """The shortest time of some tries."""
    found = []
    for _ in range(tries):
        began = time.process_time()
        read(content)
        found.append(time.process_time() - began)
    return min(found)


def is_steep(read: Read, short: bytes, long: bytes) -> bool:
    """Whether the longer input takes more than in proportion, in every one of some measurements."""
    noise = NOISE * seconds(lambda content: hashlib.sha256(content).digest(), long, tries=TRIES)
    if seconds(read, long) < noise:
        return False
    ratio = STEEP * len(long) / (2 * len(short))
    return all(
        seconds(read, long, tries=tries) > ratio * seconds(read, short, tries=tries) for tries in range(1, TRIES + 1)
    )


@pytest.mark.parametrize("name", PURE)
def test_twice_the_input_takes_no_more_than_in_proportion(name: str) -> None:
    target: Target = TARGETS[name]
    longest = sorted(corpus(name), key=len)[-2:]
    for content in longest:
        for short, long in zip(repeated(content, SHORT), repeated(content, 2 * SHORT), strict=True):
            assert not is_steep(lambda text: _outcome(target, text), short, long), long[:200]


@pytest.mark.parametrize(("name", "what"), DISTINCT)
def test_twice_as_many_names_take_no_more_than_in_proportion(name: str, what: str) -> None:
    """An entry for each: a list that is searched, or gone through for each, shows here alone."""
    lines = DISTINCT[name, what]
    short, long = lines.of(SHORT), lines.of(2 * SHORT)
    attempt(TARGETS[name], long)
    assert not is_steep(lambda text: _outcome(TARGETS[name], text), short, long)


def _outcome(target: Target, content: bytes) -> object:
    try:
        return target.read(content)
    except target.refusals as error:
        return error
