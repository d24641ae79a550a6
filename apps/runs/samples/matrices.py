"""Series of one node decoded into matrices, to process many at once. Pure.

Charts mostly show counters without missing samples: integers or decimals, as long as the clock.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.runs.storage import codec
from apps.runs.storage.codec import BadBlock, Column, Values

_INTEGERS, _DECIMALS = b"i", b"f"


@dataclass(frozen=True)
class SeriesTable:
    """One row of `values` (row x time) per key. Integers are relative to `bases`."""

    keys: list[str]
    values: Values
    bases: list[int]


class SeriesRows(Mapping[str, Column]):
    """Series by key; columns are created on access. `damaged`: unreadable series -> reason."""

    def __init__(self, blocks: Mapping[str, tuple[bytes, int]], length: int) -> None:
        """`blocks`: key -> data and base; `length`: number of samples on the node's clock."""
        self.damaged: dict[str, str] = {}
        self._columns: dict[str, Column] = {}
        self._rows: dict[str, tuple[Values, int]] = {}
        self._tables = [self._table(tag, blocks, length) for tag in (_INTEGERS, _DECIMALS)]
        for key, (data, base) in blocks.items():
            if key not in self._rows and key not in self.damaged:
                self._decode(key, data, base, length)
        self._keys = [key for key in blocks if key not in self.damaged]

    def tables(self, keys: Collection[str]) -> Iterator[SeriesTable]:
        """The matrices, reduced to the rows of `keys`."""
        for table in self._tables:
            places = [place for place, key in enumerate(table.keys) if key in keys]
            if len(places) == len(table.keys):
                yield table
            else:
                found = [table.keys[place] for place in places]
                yield SeriesTable(found, table.values[places], [table.bases[place] for place in places])

    def __getitem__(self, key: str) -> Column:
        if key not in self._columns:
            row, base = self._rows[key]
            values: Values = row + np.int64(base) if base else row
            self._columns[key] = Column(values, codec.every(len(row)))
        return self._columns[key]

    def __contains__(self, key: object) -> bool:
        return key in self._rows or key in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def _table(self, tag: bytes, blocks: Mapping[str, tuple[bytes, int]], length: int) -> SeriesTable:
        wanted = [key for key, (data, _) in blocks.items() if codec.is_whole(data, tag)]
        values: NDArray[np.int64] = np.empty((len(wanted), length), np.int64)
        decimals: Values = values.view(np.float64) if tag == _DECIMALS else values
        for key, row in zip(wanted, decimals, strict=True):
            data, base = blocks[key]
            try:
                codec.decode_into(row, data)
                self._rows[key] = row, base
            except BadBlock as error:
                self.damaged[key] = str(error)
        good = [place for place, key in enumerate(wanted) if key not in self.damaged]
        keys = [wanted[place] for place in good]
        table = decimals if len(good) == len(wanted) else decimals[good]
        return SeriesTable(keys, table, [blocks[key][1] for key in keys])

    def _decode(self, key: str, data: bytes, base: int, length: int) -> None:
        try:
            column = codec.decode(data, base)
        except BadBlock as error:
            self.damaged[key] = str(error)
            return
        if len(column) == length:
            self._columns[key] = column
        else:
            self.damaged[key] = f"{len(column)} samples on a clock of {length}"
