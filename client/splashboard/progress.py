"""Progress of a campaign: a bar on a terminal, lines in a log."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, Callable, TextIO

LINE_EVERY = 30.0  # s between two log lines with nothing new but a count
LONGEST_BAR = 40  # characters


def words_of(progress: Mapping[str, Any]) -> str:
    """Count, rate and estimate in one line."""
    texts = [
        f"{progress['runs_done']} of {progress['runs']} runs",
        f"{progress['jobs_done']} of {progress['jobs']} jobs",
    ]
    for key, words in (
        ("jobs_failed", "jobs failed"),
        ("jobs_cancelled", "jobs cancelled"),
        ("runs_skipped", "runs skipped after saturation"),
        ("runs_doubted", "runs failed a quality check"),
        ("runs_excluded", "runs excluded"),
    ):
        if progress.get(key):
            texts.append(f"{progress[key]} {words}")
    if progress.get("remaining_seconds"):
        texts.append(f"about {duration(progress['remaining_seconds'])} left")
    return f"{progress['state']}: {', '.join(texts)}"


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def share_of(progress: Mapping[str, Any]) -> float:
    """0 to 1. Failed jobs have no further runs, hence the larger of both shares."""
    shares = [progress[f"{what}_done"] / progress[what] for what in ("runs", "jobs") if progress[what]]
    return min(1.0, max(shares, default=0.0))


class ProgressLine:
    """Prints to `stream`; `clock` is in s."""

    def __init__(self, stream: TextIO, *, clock: Callable[[], float]) -> None:
        self._stream = stream
        self._clock = clock
        self._is_watched = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._news: tuple[str, int] | None = None
        self._obstacles: tuple[str, ...] = ()
        self._said_at = 0.0
        self._words = ""

    def show(self, progress: Mapping[str, Any], obstacles: Sequence[str]) -> None:
        """`obstacles`: why jobs wait, in sentences; each is printed when new."""
        words = words_of(progress)
        for obstacle in obstacles:
            if obstacle not in self._obstacles:
                self.line(obstacle)
        self._obstacles = tuple(obstacles)
        if self._is_watched:
            self._draw(share_of(progress), words)
            return
        # A log shows changes, not every run.
        news = (progress["state"], progress["jobs_failed"])
        is_due = self._clock() - self._said_at >= LINE_EVERY and words != self._words
        if news != self._news or is_due:
            self.line(words)
            self._news, self._said_at, self._words = news, self._clock(), words

    def line(self, words: str) -> None:
        self._stream.write(f"\r\x1b[K{words}\n" if self._is_watched else f"{words}\n")
        self._stream.flush()

    def end(self) -> None:
        """Leaves the bar in place and starts a new line."""
        if self._is_watched:
            self._stream.write("\n")
            self._stream.flush()

    def _draw(self, share: float, words: str) -> None:
        columns = shutil.get_terminal_size().columns
        length = max(0, min(LONGEST_BAR, columns - 1 - len(words) - 8))
        full, empty = ("█", "░") if "utf" in (self._stream.encoding or "").lower() else ("#", ".")
        done = int(length * share)
        bar = f"{full * done}{empty * (length - done)} " if length >= 8 else ""
        self._stream.write(f"\r\x1b[K{f'{bar}{share:4.0%} {words}'[: columns - 1]}")
        self._stream.flush()
