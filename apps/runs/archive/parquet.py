"""Parquet files of the archive, read only where columns and types are those that are written.

Archives come from elsewhere: right hashes say that a file is the one that was packed, not that it makes sense.
"""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from apps.runs.archive.tables import LATER, NULLABLE, SCHEMAS
from apps.runs.archive.troubles import TOO_LARGE, Damaged

T = TypeVar("T")
_REMEDY = "restore it from a backup, or archive the run again from its origin"


@contextmanager
def opened(local: BinaryIO, table: str, columns: list[str]) -> Iterator[pq.ParquetFile]:
    """A file with these columns. Raises Damaged, also for what is found while its rows are read."""
    local.seek(0)
    try:
        with pq.ParquetFile(local) as file:
            _require_columns(file, table, columns)
            yield file
    except MemoryError as error:
        raise Damaged(f"the archived table of {table} {TOO_LARGE}") from error
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError) as error:
        raise Damaged(f"the archived table of {table} cannot be read ({error!s:.200}): {_REMEDY}") from error


def columns_of(local: BinaryIO, table: str) -> list[str]:
    """The table's columns that the file has, in the table's order. Raises Damaged."""
    with opened(local, table, []) as file:
        there = set(file.schema_arrow.names)
    return [name for name in SCHEMAS[table].names if name in there or name not in LATER.get(table, ())]


def _require_columns(file: pq.ParquetFile, table: str, columns: list[str]) -> None:
    schema = file.schema_arrow
    for name in columns:
        if len(schema.get_all_field_indices(name)) != 1:
            raise _damaged(table, name, "is missing")
        found, wanted = schema.field(name).type, SCHEMAS[table].field(name).type
        if found != wanted:
            raise _damaged(table, name, f"is of type {found!s:.80}, not {wanted!s:.80}")


def require_values(table: str, name: str, column: pa.ChunkedArray) -> None:
    """Raises Damaged for nothing where something is needed, and for a number that is not finite."""
    if column.null_count and name not in NULLABLE.get(table, ()):
        raise _damaged(table, name, "is empty in a row")
    if pa.types.is_list(column.type) and any(None in each for each in column.to_pylist() if each is not None):
        raise _damaged(table, name, "has an empty entry")
    if pa.types.is_floating(column.type) and not all(v is None or math.isfinite(v) for v in column.to_pylist()):
        raise _damaged(table, name, "is not finite in a row")


def json_of(row: dict[str, Any], name: str, kind: type[T]) -> T:
    """The JSON in a row's text. Raises Damaged."""
    try:
        return msgspec.convert(json.loads(row[name], parse_constant=_refuse), kind)
    except (ValueError, RecursionError) as error:
        raise Damaged(
            f"{name} of run {row['run']} is not the JSON that was archived ({error!s:.200}): {_REMEDY}"
        ) from error


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _damaged(table: str, name: str, what: str) -> Damaged:
    return Damaged(f"the archived table of {table}: {name:.80} {what}; {_REMEDY}")
