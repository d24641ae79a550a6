"""Columns of the trend board: which runs stand in one, and which groups share them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, TypeVar

from apps.regressions.models import Trend
from apps.regressions.trends.series import SeriesRun

MOST_COLUMNS = 30
NIGHT, CAMPAIGN, BUILD, RELEASE = "night", "campaign", "build", "release"
COLUMNS = {NIGHT: "Nights", CAMPAIGN: "Campaigns", BUILD: "Builds", RELEASE: "Releases"}
# Columns by time, which all groups share.
BY_TIME = (NIGHT, CAMPAIGN)
# (platform, hardware class, settings)
Place = tuple[int, int, str]


class ColumnKey(NamedTuple):
    """`label`: night, campaign, build or release, as in addresses. Runs of two releases, or of two builds of one, never
    share a column: their mean would be of neither. `build`, `commit`: empty where columns are releases."""

    label: str
    version: str
    build: str = ""
    commit: str = ""


Column = TypeVar("Column", bound=tuple[object, ...])
# Columns of each group by place; None: none of its runs.
Columns = Mapping[Place, Sequence[ColumnKey | None]]


def _night(run: SeriesRun) -> str:
    return run.started_at.date().isoformat()


def _campaign(run: SeriesRun) -> str:
    """Of a run without one: its night. Both sort by time."""
    return run.campaign or _night(run)


def _build(run: SeriesRun) -> str:
    return run.build or run.version


def _release(run: SeriesRun) -> str:
    return run.version


LABELS: Mapping[str, Callable[[SeriesRun], str]] = {
    NIGHT: _night,
    CAMPAIGN: _campaign,
    BUILD: _build,
    RELEASE: _release,
}


def place_of(trend: Trend) -> Place:
    return trend.platform_id, trend.hardware_class_id, trend.settings_hash


def key_of(run: SeriesRun, by: str) -> ColumnKey:
    label = LABELS[by](run)
    return ColumnKey(label, run.version) if by == RELEASE else ColumnKey(label, run.version, _build(run), run.commit)


def usual(points: Iterable[Sequence[SeriesRun]]) -> str:
    """Nights, but campaigns where no series has two nights."""
    nights = [len({_night(run) for run in runs}) for runs in points]
    return CAMPAIGN if nights and max(nights) == 1 else NIGHT


def columns_of(members: Mapping[Place, Iterable[Sequence[SeriesRun]]], by: str, baseline: str) -> Columns:
    """The last ones, with those of the baseline if they are older; as many in each group."""
    own = {place: _ordered(series, by) for place, series in members.items()}
    if by in BY_TIME:
        return _shared(own, baseline)
    newest = {place: _newest(keys, baseline) for place, keys in own.items()}
    width = max(map(len, newest.values()), default=0)
    return {place: [*[None] * (width - len(keys)), *keys] for place, keys in newest.items()}


def times_of(columns: Columns) -> tuple[str, ...]:
    """Labels of columns by time."""
    return tuple(next(key.label for key in keys if key) for keys in zip(*columns.values(), strict=True))


def _ordered(members: Iterable[Sequence[SeriesRun]], by: str) -> list[ColumnKey]:
    """By time, then version, then first run; else by version, then first run."""
    first: dict[ColumnKey, tuple[object, ...]] = {}
    for run in (run for series in members for run in series):
        key, version = key_of(run, by), (run.version_key, run.version)
        order = (*((key.label,) if by in BY_TIME else ()), *version, run.started_at)
        first[key] = min(first.get(key, order), order)
    return sorted(first, key=lambda key: first[key])


def _shared(own: Mapping[Place, Sequence[ColumnKey]], baseline: str) -> Columns:
    """Each time is as wide as the group with most releases then; the newest release of each group is the last."""
    at = {
        place: {label: list(releases) for label, releases in groupby(keys, itemgetter(0))}
        for place, keys in own.items()
    }
    labels = sorted({key.label for keys in own.values() for key in keys})
    widths = {label: max(len(keys.get(label, ())) for keys in at.values()) for label in labels}
    columns = _newest([(label, back) for label in labels for back in range(widths[label], 0, -1)], baseline)
    return {
        place: [keys[label][-back] if len(keys.get(label, ())) >= back else None for label, back in columns]
        for place, keys in at.items()
    }


def _newest(columns: Sequence[Column], baseline: str) -> list[Column]:
    older = [column for column in columns[:-MOST_COLUMNS] if column[0] == baseline][: MOST_COLUMNS - 1]
    return [*older, *columns[len(older) - MOST_COLUMNS :]]
