"""What one request reads several times, computed once: on submission, its checks, and when the run is sealed. Pure."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import TypeVar

Found = TypeVar("Found")
_held: ContextVar[dict[Hashable, object] | None] = ContextVar("held", default=None)


@contextmanager
def reading_once() -> Iterator[None]:
    """Within it, equal content is read once. What was read is let go at its end. A decorator, too."""
    token = _held.set({})
    try:
        yield
    finally:
        _held.reset(token)


def once(read: Callable[[bytes], Found]) -> Callable[[bytes], Found]:
    """A function of content whose results nobody changes."""

    @wraps(read)
    def reads(content: bytes) -> Found:
        return held((read, content), lambda: read(content))

    return reads


def held(key: Hashable, read: Callable[[], Found]) -> Found:
    """What `read` returns, for the same key the same; outside of `reading_once` it is called each time."""
    known = _held.get()
    if known is None:
        return read()
    if key not in known:
        known[key] = read()
    found: Found = known[key]  # type: ignore[assignment]  # of this key alone
    return found
