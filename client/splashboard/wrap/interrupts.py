"""Ctrl-C, SIGTERM and SIGHUP: they stop the command at once, and never what keeps its run."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

# Windows has fewer.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interrupts:
    """Signals that came are in `came`; they raise KeyboardInterrupt only while that is `allowed`."""

    def __init__(self) -> None:
        self.came = False
        self._is_allowed = False

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """On the main thread, the only one that gets signals."""
        before = {number: signal.signal(number, self._on) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def allowed(self) -> Iterator[None]:
        if self.came:
            raise KeyboardInterrupt
        self._is_allowed = True
        try:
            yield
        finally:
            self._is_allowed = False

    def _on(self, _signal: int, _frame: FrameType | None) -> None:
        self.came = True
        if self._is_allowed:
            raise KeyboardInterrupt
