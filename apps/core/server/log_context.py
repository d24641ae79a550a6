"""What a log line is about: the request, task, run or job in whose course it was written."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_about: ContextVar[Mapping[str, str] | None] = ContextVar("about", default=None)


@contextmanager
def about(**ids: object) -> Iterator[None]:
    """Lines written within carry `ids`, beside those of the blocks around."""
    token = _about.set({**current(), **{name: str(value) for name, value in ids.items()}})
    try:
        yield
    finally:
        _about.reset(token)


def add(**ids: object) -> None:
    """From here to the end of the block around; without one, nothing."""
    if _about.get() is not None:
        _about.set({**current(), **{name: str(value) for name, value in ids.items()}})


def current() -> Mapping[str, str]:
    return _about.get() or {}


class AddAbout(logging.Filter):
    """Gives each record `about` as text (" [run=7]", or empty), and each id as a field of its own."""

    def filter(self, record: logging.LogRecord) -> bool:
        ids = current()
        record.about = f" [{' '.join(f'{name}={value}' for name, value in ids.items())}]" if ids else ""
        for name, value in ids.items():
            setattr(record, f"{name}_id", value)
        return True
