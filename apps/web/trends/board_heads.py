"""Heads of the trend board's columns: days, and stretches of versions, builds and commits."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from apps.core.units import NBSP
from apps.regressions.api import BoardColumn
from apps.web.trends.board_answer import COMMIT_LENGTH, when

# Digits of a commit or version that fit in a column, and in a roomy one.
DIGITS, ROOMY_DIGITS = 4, 9
DAY_AND_HOUR = 3  # columns that a label of both covers


@dataclass(frozen=True)
class BoardLane:
    """A stretch of columns with one version or commit; `shown`: what of it fits."""

    span: int
    text: str
    shown: str


def heads(times: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Day, and the month where it begins; of campaigns the minute, and day and hour where there is room for them."""
    day, shown, free = "", "", 0
    for place, key in enumerate(times):
        at = datetime.fromisoformat(key)
        has_time = " " in key
        hour = f"{at:%H}{NBSP}h" if has_time else ""
        label, of_day = (f"{at:%b}", f"{at:%b}") if not has_time else (f"{at:%d%b}{hour}", f"{at.day}{NBSP}{at:%b}")
        words = ""
        if label != shown and place >= free:
            is_same_day = has_time and of_day == day
            words = hour if is_same_day else f"{of_day}{NBSP}{hour}" if has_time else of_day
            day, shown, free = of_day, label, place + (DAY_AND_HOUR if has_time and not is_same_day else 1)
        yield f":{at:%M}" if has_time else str(at.day), words


def several_builds(columns: Sequence[BoardColumn | None]) -> set[str]:
    """Versions of which several builds were reported."""
    versions = [version for version, _ in {(column.version, column.build) for column in columns if column}]
    return {version for version in versions if versions.count(version) > 1}


def _version(column: BoardColumn, several: Collection[str]) -> str:
    return column.build if column.version in several else column.version


def column_words(column: BoardColumn | None, by: str, several: Collection[str]) -> str:
    if column is None:
        return ""
    version = _version(column, several)
    parts = [when(column, by), version if version != column.key else ""]
    return ", ".join(filter(None, [*parts, f"commit {column.commit[:COMMIT_LENGTH]}" if column.commit else ""]))


def commits(columns: Sequence[BoardColumn | None]) -> Iterator[BoardLane]:
    for commit, members in groupby(column.commit if column else "" for column in columns):
        span = len(list(members))
        yield BoardLane(span, commit, commit[: min(DIGITS * span, COMMIT_LENGTH)])


def lanes(columns: Sequence[BoardColumn | None], several: Collection[str], *, roomy: bool) -> Iterator[BoardLane]:
    """A column without runs belongs to the version before (or the build, where a version has several). Where there is
    little room, the number stands for the version if it tells all apart (12.0.2 for 12.0.2-MariaDB), and its end tells
    versions apart."""
    digits = ROOMY_DIGITS if roomy else DIGITS
    versions, last = [], ""
    for column in columns:
        last = _version(column, several) if column else last
        versions.append(last)
    numbers = {version: version.partition("-")[0] for version in versions}
    is_enough = len(set(numbers.values())) == len(numbers)
    for version, members in groupby(versions):
        span = len(list(members))
        words = version if len(version) <= digits * span or not is_enough else numbers[version]
        yield BoardLane(span, version, words if len(words) <= digits * span else f"…{words[1 - digits * span :]}")
