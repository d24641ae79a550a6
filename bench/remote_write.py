"""Prometheus' remote-write requests: a protobuf WriteRequest, compressed with snappy.

WriteRequest { repeated TimeSeries timeseries = 1; }
TimeSeries   { repeated Label labels = 1; repeated Sample samples = 2; }
Label        { string name = 1; string value = 2; }
Sample       { double value = 1; int64 timestamp = 2; }   milliseconds; a value of 0 is left out
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import cramjam
import numpy as np
from numpy.typing import NDArray

HEADERS = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}
_DELIMITED = 2  # protobuf's wire type of texts and messages
_MOMENT = 6  # bytes of a timestamp: milliseconds from 1971 to 2109 take six groups of seven bits
_SAMPLE = np.dtype([("head", "u1", 2), ("value_tag", "u1"), ("value", "<f8"), ("at_tag", "u1"), ("at", "u1", _MOMENT)])


@dataclass(frozen=True)
class Series:
    """Series sampled together: `values[k]` are those of `labels[k]` (see `labels_of`) at `at`, ms.

    No sample where `observed` is False.
    """

    labels: Sequence[bytes]
    at: NDArray[np.int64]
    values: NDArray[np.float64]
    observed: NDArray[np.bool_]

    def between(self, start: int, end: int) -> "Series":
        """Samples `start` to `end`, by index."""
        part = slice(start, end)
        return Series(self.labels, self.at[part], self.values[:, part], self.observed[:, part])


def name_of(key: str) -> str:
    """A metric's key as a valid metric name of Prometheus."""
    return re.sub(r"[^a-zA-Z0-9_:]", "_", key)


def labels_of(labels: Mapping[str, str]) -> bytes:
    """Encoded labels of a TimeSeries, ordered by name as receivers expect."""
    return b"".join(_field(1, _field(1, name.encode()) + _field(2, labels[name].encode())) for name in sorted(labels))


def write_request(parts: Iterable[Series]) -> bytes:
    """The body of a POST."""
    return bytes(cramjam.snappy.compress_raw(b"".join(_time_series(part) for part in parts)))


def _time_series(part: Series) -> bytes:
    rows, ends = _samples(part)
    found = []
    begin = 0
    for labels, end in zip(part.labels, ends, strict=True):
        if end > begin:
            found.append(_field(1, labels + rows[begin:end]))
        begin = end
    return b"".join(found)


def _samples(part: Series) -> tuple[bytes, list[int]]:
    """All samples concatenated, and the end of each series."""
    table = np.zeros(part.values.shape, dtype=_SAMPLE)
    # Writers omit 0, as protobuf requires, but not -0.0.
    is_written = part.values.view(np.int64) != 0
    table["head"][..., 0] = 2 << 3 | _DELIMITED
    table["head"][..., 1] = np.where(is_written, 9, 0) + 1 + _MOMENT
    table["value_tag"] = 1 << 3 | 1
    table["value"] = part.values
    table["at_tag"] = 2 << 3
    table["at"] = _varints(part.at)
    kept = np.ones((*part.values.shape, _SAMPLE.itemsize), dtype=np.bool_)
    kept[..., 2:11] = is_written[..., None]
    kept &= part.observed[..., None]
    flat = table.view(np.uint8).reshape(kept.shape)
    ends = np.cumsum(kept.sum(axis=(1, 2)))
    return flat[kept].tobytes(), ends.tolist()


def _varints(at: NDArray[np.int64]) -> NDArray[np.uint8]:
    if len(at) and not (at.min() >= 1 << 35 and at.max() < 1 << 42):
        raise ValueError("a timestamp is not between 1971 and 2109, in milliseconds")
    groups = (at[:, None] >> np.arange(0, 7 * _MOMENT, 7)) & 0x7F
    groups[:, :-1] |= 0x80
    return groups.astype(np.uint8)


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | _DELIMITED]) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
