"""Answers as tables of pandas or polars, which are imported only when asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, is_dataclass
from datetime import date, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from splashboard.answers.runs import OneSeriesOfRuns
from splashboard.failures import Misuse
from splashboard.shapes import hints

if TYPE_CHECKING:
    import pandas
    import polars


@dataclass(frozen=True)
class FrameColumn:
    """`kind`: str, int, float, bool, date, datetime; or list, whose values become no columns of their own."""

    kind: type
    values: list[Any]


class AsFrame:
    """Something with rows and columns."""

    def columns(self) -> dict[str, FrameColumn]:
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """Raises Misuse where pandas is not installed."""
        try:
            import pandas  # noqa: PLC0415
        except ImportError as error:
            raise Misuse("pandas is not installed: pip install 'splashboard[pandas]'") from error
        frame = {
            name: pandas.to_datetime(column.values, utc=True)
            if column.kind in (date, datetime)
            else pandas.Series(column.values, dtype=_pandas_dtype(column))
            for name, column in self.columns().items()
        }
        return pandas.DataFrame(frame)

    def to_polars(self) -> polars.DataFrame:
        """Raises Misuse where polars is not installed."""
        try:
            import polars  # noqa: PLC0415
        except ImportError as error:
            raise Misuse("polars is not installed: pip install 'splashboard[polars]'") from error
        kinds: dict[type, Any] = {
            str: polars.String,
            int: polars.Int64,
            float: polars.Float64,
            bool: polars.Boolean,
            date: polars.Date,
            datetime: polars.Datetime("us", "UTC"),
        }
        return polars.DataFrame(
            [polars.Series(name, each.values, dtype=kinds.get(each.kind)) for name, each in self.columns().items()]
        )


def _pandas_dtype(column: FrameColumn) -> Any:
    """None: as pandas finds it. Whole numbers and flags have nulls only in pandas' own types."""
    if column.kind in (int, bool) and None in column.values:
        return "Int64" if column.kind is int else "boolean"
    return {int: "int64", bool: "bool", float: "float64", list: object}.get(column.kind)


def columns_of(kind: type, entries: Iterable[Any]) -> dict[str, FrameColumn]:
    """A column for each field of the dataclass `kind`, `parent_field` for one of a dataclass within it.

    Without its mappings and its lists of other dataclasses: these are tables of their own.
    """
    found = list(entries)
    return {
        path.replace(".", "_"): FrameColumn(of, [_value(entry, path) for entry in found]) for path, of in _paths(kind)
    }


def _paths(kind: type) -> Iterator[tuple[str, type]]:
    for name, hint in hints(kind).items():
        inner = _inner(hint)
        if is_dataclass(inner):
            yield from ((f"{name}.{path}", of) for path, of in _paths(inner))  # type: ignore[arg-type]  # a class
        elif inner in (str, int, float, bool, date, datetime):
            yield name, inner
        elif get_origin(inner) in (list, tuple) and not any(map(is_dataclass, get_args(inner))):
            yield name, list


def _inner(hint: Any) -> Any:
    """The type without None; of texts that are listed: str."""
    if get_origin(hint) is Union:
        return _inner(get_args(hint)[0])
    return str if get_origin(hint) is Literal else hint


def _value(entry: Any, path: str) -> Any:
    """None where a part on the way is None."""
    head, _, rest = path.partition(".")
    value = attrgetter(head)(entry)
    return _value(value, rest) if rest and value is not None else value


def samples_of(series: Iterable[OneSeriesOfRuns]) -> dict[str, FrameColumn]:
    """A row per sample: columns of the server's CSV."""
    every = list(series)

    def repeated(name: str) -> list[Any]:
        return [value for one in every for value in [getattr(one, name)] * len(one.at)]

    return {
        "run": FrameColumn(int, repeated("run")),
        **{name: FrameColumn(str, repeated(name)) for name in ("metric", "node", "unit")},
        "seconds": FrameColumn(float, [at for one in every for at in one.at]),
        "value": FrameColumn(float, [value for one in every for value in one.values]),
    }
