"""Compresses a run's samples incrementally while they are decoded, which bounds the memory of long runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from apps.runs.samples.columns import SampledNode, constant_column
from apps.runs.storage import codec
from apps.runs.storage.codec import Column, Encoded, Number


class EncodedColumns(Mapping[str, Column]):
    """Compressed series, decoded on each access."""

    def __init__(self, encoded: Mapping[str, Encoded]) -> None:
        self.encoded = encoded

    def __getitem__(self, key: str) -> Column:
        found = self.encoded[key]
        return codec.decode(found.data, found.base)

    def __iter__(self) -> Iterator[str]:
        return iter(self.encoded)

    def __len__(self) -> int:
        return len(self.encoded)


@dataclass
class _Series:
    """A series under construction. Until it changes, it is `constant`, `length` times."""

    constant: Number
    length: int = 0
    writer: codec.Writer | None = None

    def add(self, part: Column | None, value: Number, length: int) -> None:
        """`part`: samples of a stretch with changes; None: it was constantly `value`."""
        if self.writer is None and part is None and self.constant == value:
            self.length += length
            return
        if self.writer is None:
            self.writer = codec.Writer()
            if self.length:
                self.writer.add(constant_column(self.constant, self.length))
        self.writer.add(constant_column(value, length) if part is None else part)
        self.length += length


@dataclass
class NodeGatherer:
    """A node under construction: its clock uncompressed, its series compressed."""

    name: str
    role: str = ""
    _clocks: list[NDArray[np.float64]] = field(default_factory=list)
    _series: dict[str, _Series] = field(default_factory=dict)
    _length: int = 0

    def add(self, stretch: SampledNode) -> None:
        """Appends the next stretch. Series missing in it were not observed."""
        self.role = self.role or stretch.role
        self._clocks.append(stretch.clock)
        length = len(stretch.clock)
        for key in {**self._series, **dict.fromkeys(stretch.changing), **dict.fromkeys(stretch.constants)}:
            series = self._series.get(key)
            if series is None:
                first = stretch.constants.get(key) if not self._length else None
                series = self._series[key] = _Series(constant=first, length=self._length)
            series.add(stretch.changing.get(key), stretch.constants.get(key), length)
        self._length += length

    def finish(self) -> SampledNode:
        encoded, constants = {}, {}
        for key, series in self._series.items():
            if series.writer is None:
                constants[key] = series.constant
            else:
                encoded[key] = series.writer.finish()
        clock = np.concatenate(self._clocks) if self._clocks else np.zeros(0)
        return SampledNode(
            name=self.name, role=self.role, clock=clock, changing=EncodedColumns(encoded), constants=constants
        )
