"""Series as compressed blocks: pcodec of the observed values, and a bitmap of missing samples.

Block, lengths in four bytes (little-endian): one byte of type ("i" int64, "u" uint64, "f" float64); CRC-32 of the
rest; length of the bitmap and the bitmap (empty: every sample was observed); then the observed values in chunks of
CHUNK, each preceded by its length. Integers are relative to a base stored outside the block.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pcodec import ChunkConfig, DeltaSpec, standalone

Number = int | float | None
Values = NDArray[Any]  # int64, uint64 or float64

_INT64, _UINT64, _FLOAT64 = np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.float64)
_TYPES = {b"i": _INT64, b"u": _UINT64, b"f": _FLOAT64}
_TAGS = {dtype: tag for tag, dtype in _TYPES.items()}
_HEAD = struct.Struct("<cII")
_LENGTH = struct.Struct("<I")
_NO_GAPS = _LENGTH.pack(0)
# Samples per chunk, about an hour at one a second: fewer cost bytes, more cost memory.
CHUNK = 4096
# Only first-order deltas: smaller and four times as fast for server metrics, which move from their last value.
_CONFIG = ChunkConfig(delta_spec=DeltaSpec.try_consecutive(1))
_INT64_RANGE = (-(2**63), 2**63 - 1)
_UINT64_MAX = 2**64 - 1


class NotANumber(ValueError):
    """A sample that no series can hold: a string, a boolean, an infinite number or an integer of over 64 bits."""


class BadBlock(ValueError):
    """The bytes were not written by `encode`."""


@dataclass(frozen=True)
class Column:
    """Samples of one series in order. Where `observed` is False, the sample is missing and `values` holds 0."""

    values: Values
    observed: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def whole(self) -> bool:
        """Whether every sample was observed."""
        return self.observed is every(len(self.values)) or bool(self.observed.all())

    def as_float(self) -> NDArray[np.float64]:
        """float64 with NaN for missing samples; integers beyond 2^53 are rounded."""
        values = self.values.astype(np.float64)
        values[~self.observed] = np.nan
        return values

    def same_as(self, other: "Column") -> bool:
        """Whether type and samples are identical, bit by bit."""
        return (
            self.values.dtype == other.values.dtype
            and np.array_equal(self.observed, other.observed)
            and self.values.tobytes() == other.values.tobytes()
        )


def column(samples: Sequence[Number]) -> Column:
    """int64 when all samples are integers (uint64 for larger ones), else float64. None and NaN: not observed.

    Raises NotANumber.
    """
    kinds = {type(sample) for sample in samples}
    if not kinds <= {int, float, type(None)}:
        wrong = next(sample for sample in samples if type(sample) not in (int, float, type(None)))
        raise NotANumber(f"{str(wrong)[:40]!r} is not a number: send an integer, a decimal number or null")
    whole = float not in kinds
    if type(None) in kinds or not whole:
        observed = np.array([sample is not None and sample == sample for sample in samples], dtype=np.bool_)  # noqa: PLR0124  (finds NaN)
    else:
        observed = np.ones(len(samples), dtype=np.bool_)
    filled = [0 if sample is None or sample != sample else sample for sample in samples]  # noqa: PLR0124  (finds NaN)
    return Column(values=_array(filled, whole=whole), observed=observed)


def _array(samples: Sequence[int | float], *, whole: bool) -> Values:
    if whole:
        low, high = min(samples, default=0), max(samples, default=0)
        if _INT64_RANGE[0] <= low and high <= _INT64_RANGE[1]:
            return np.array(samples, dtype=np.int64)
        if low < 0 or high > _UINT64_MAX:
            raise NotANumber(f"{low if low < 0 and high <= _UINT64_MAX else high} does not fit in 64 bits")
        return np.array(samples, dtype=np.uint64)
    try:
        values = np.array(samples, dtype=np.float64)
    except OverflowError as error:
        raise NotANumber("an integer is too large for a series of decimal numbers") from error
    if not np.isfinite(values).all():
        raise NotANumber("a sample is infinite: send a finite number or null")
    return values


@dataclass(frozen=True)
class Encoded:
    """Integers in `data` are relative to `base`, so that series with equal increments have equal `data`."""

    base: int
    data: bytes


class Writer:
    """Compresses one series incrementally, CHUNK samples at a time, and verifies each chunk by decompressing it."""

    def __init__(self) -> None:
        self._type: np.dtype[Any] = np.dtype(np.int64)
        self._base: int | None = None
        self._streams: list[bytes] = []
        self._waiting: list[Values] = []
        self._waits = 0
        # The observed samples of each part; a number: the length of a part without gaps.
        self._observed: list[NDArray[np.bool_] | int] = []

    def add(self, part: Column) -> None:
        """Adds the next samples. Raises NotANumber when no type holds them and the earlier ones."""
        whole = part.whole
        self._observed.append(len(part) if whole else part.observed)
        seen: Values = part.values if whole else part.values[part.observed]
        if not len(seen):
            self._type = self._type if self._waits or self._streams else part.values.dtype
            return
        if seen.dtype != self._type:
            seen = self._of_one_type(seen)
        if self._type != np.float64:
            seen = self._from_base(seen)
        self._waiting.append(seen)
        self._waits += len(seen)
        if self._waits >= CHUNK:
            self._compress(final=False)

    def finish(self) -> Encoded:
        self._compress(final=True)
        masks = [np.ones(each, np.bool_) if isinstance(each, int) else each for each in self._observed]
        gaps = b"" if all(isinstance(each, int) for each in self._observed) else _gaps(np.concatenate(masks))
        return _encoded(self._type, self._base or 0, gaps, self._streams)

    def _of_one_type(self, seen: Values) -> Values:
        """`seen` in the series' type: that of the first samples, and float64 from the first decimal number on."""
        if not self._streams and not self._waits:
            self._type = seen.dtype
            return seen
        if np.float64 not in (seen.dtype, self._type):
            signed = self._values() if self._type == np.int64 else seen
            if len(signed) and signed.min() < 0:
                raise NotANumber("negative numbers and such beyond 2^63 do not fit in 64 bits together")
            self._type = np.dtype(np.uint64)
        elif self._type != np.float64:
            before = self._values().astype(np.float64)
            self._type, self._base, self._streams = np.dtype(np.float64), None, []
            self._waiting, self._waits = [before], len(before)
        return seen.astype(self._type)

    def _from_base(self, seen: Values) -> Values:
        """Differences from the base, modulo 2^64, so that those of all 64-bit integers fit."""
        if self._base is None:
            self._base = _first(seen)
        return _differences(seen, self._base)

    def _values(self) -> Values:
        found = np.concatenate([_joined(b"".join(self._streams), 0, _INT64), *self._waiting])
        return (found + np.int64(self._base or 0)).view(self._type)

    def _compress(self, *, final: bool) -> None:
        if not self._waits:
            return
        values: Values = self._waiting[0] if len(self._waiting) == 1 else np.concatenate(self._waiting)
        end = len(values) if final else len(values) - len(values) % CHUNK
        self._streams += [_stream(values[start : min(start + CHUNK, end)]) for start in range(0, end, CHUNK)]
        self._waiting, self._waits = [values[end:]], len(values) - end


def encode(series: Column) -> Encoded:
    """A whole series; a long one chunk by chunk."""
    whole = series.whole
    seen: Values = series.values if whole else series.values[series.observed]
    if not 0 < len(seen) <= CHUNK:
        writer = Writer()
        writer.add(series)
        return writer.finish()
    base, gaps = 0, b"" if whole else _gaps(series.observed)
    if seen.dtype != np.float64:
        base = _first(seen)
        seen = _differences(seen, base)
    return _encoded(series.values.dtype, base, gaps, [_stream(seen)])


def _first(whole: Values) -> int:
    return int(whole[:1].view(np.int64)[0])


def _differences(whole: Values, base: int) -> Values:
    return np.ascontiguousarray(whole).view(np.int64) - np.int64(base)


def _encoded(dtype: "np.dtype[Any]", base: int, gaps: bytes, streams: Sequence[bytes]) -> Encoded:
    tag = _TAGS[dtype]
    body = b"".join((_LENGTH.pack(len(gaps)), gaps, *streams))
    return Encoded(base, tag + _LENGTH.pack(_checksum(tag, body)) + body)


def _stream(values: Values) -> bytes:
    """Compresses `values`. Raises BadBlock when decompression does not restore them."""
    values = np.ascontiguousarray(values)
    packed: bytes = standalone.simple_compress(values, _CONFIG)
    back: Any = standalone.simple_decompress(packed)
    if back.tobytes() != values.tobytes():
        raise BadBlock("compressed samples do not decompress to the original")
    return _LENGTH.pack(len(packed)) + packed


def _gaps(observed: NDArray[np.bool_]) -> bytes:
    return _LENGTH.pack(len(observed)) + zlib.compress(np.packbits(observed).tobytes(), 9)


def _checksum(tag: bytes, body: bytes | memoryview) -> int:
    return zlib.crc32(body, zlib.crc32(tag))


def decode(block: bytes | memoryview, base: int = 0) -> Column:
    """Decompresses a block. Raises BadBlock, also when a single bit has changed."""
    block = bytes(block)
    try:
        tag, checksum, gap_length = _HEAD.unpack_from(block)
        if _checksum(tag, memoryview(block)[_HEAD.size - _LENGTH.size :]) != checksum:
            raise ValueError("its checksum is wrong")
        dtype = _TYPES[tag]
        start = _HEAD.size + gap_length
        if dtype is _FLOAT64:
            found = _joined(block, start, _FLOAT64)
        else:
            found = _joined(block, start, _INT64)
            found += np.int64(base)
            found = found.view(dtype)
        if not gap_length:
            return Column(values=found, observed=every(len(found)))
        (length,) = _LENGTH.unpack_from(block, _HEAD.size)
        bits = _bits(block[_HEAD.size + _LENGTH.size : start], length)
        observed = np.unpackbits(bits, count=length).astype(np.bool_)
        values: Values = np.zeros(length, dtype=dtype)
        values[observed] = found
        return Column(values=values, observed=observed)
    except (struct.error, KeyError, ValueError, RuntimeError, zlib.error) as error:
        raise BadBlock(f"not a block of samples: {error}") from error


def _bits(packed: bytes, length: int) -> NDArray[np.uint8]:
    """The bytes of a bitmap of `length` bits. Raises ValueError before more is unpacked, zlib.error."""
    size = (length + 7) // 8
    unpacker = zlib.decompressobj()
    bits = unpacker.decompress(packed, size + 1)
    if len(bits) != size or not unpacker.eof:
        raise ValueError(f"its bitmap is not one of {length} samples")
    return np.frombuffer(bits, dtype=np.uint8)


def is_whole(block: bytes, tag: bytes) -> bool:
    """Whether the block has the type `tag` (i, u or f) and no missing samples; may be wrong for a damaged block."""
    return block[:1] == tag and block[_HEAD.size - _LENGTH.size : _HEAD.size] == _NO_GAPS


def decode_into(row: Values, block: bytes) -> None:
    """Decompresses a block without missing samples into `row`, integers without their base. Raises BadBlock, also when
    the lengths differ."""
    try:
        tag, checksum, _ = _HEAD.unpack_from(block)
        if _checksum(tag, memoryview(block)[_HEAD.size - _LENGTH.size :]) != checksum:
            raise ValueError("its checksum is wrong")
        start, filled = _HEAD.size, 0
        while start < len(block):
            (length,) = _LENGTH.unpack_from(block, start)
            start += _LENGTH.size + length
            done: Any = standalone.simple_decompress_into(
                block[start - length : start], row[filled:] if filled else row
            )
            filled += done.n_processed
            if not done.finished:
                raise ValueError(f"more than {len(row)} samples on a clock of {len(row)}")
        if filled != len(row):
            raise ValueError(f"{filled} samples on a clock of {len(row)}")
    except (struct.error, ValueError, RuntimeError) as error:
        raise BadBlock(f"not a block of samples: {error}") from error


@lru_cache(maxsize=64)
def every(length: int) -> NDArray[np.bool_]:
    """`observed` of a series without missing samples: one read-only array per length."""
    ones = np.ones(length, dtype=np.bool_)
    ones.flags.writeable = False
    return ones


def _joined(block: bytes, start: int, dtype: "np.dtype[Any]") -> Values:
    """The values of the chunks from `start` on, in a new array."""
    parts: list[Values] = []
    while start < len(block):
        (length,) = _LENGTH.unpack_from(block, start)
        start += _LENGTH.size + length
        part: Any = standalone.simple_decompress(block[start - length : start])
        if part is None or part.dtype != dtype:
            raise ValueError("holds nothing" if part is None else f"holds {part.dtype}")
        parts.append(part)
    return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros(0, dtype)


def encode_floats(values: NDArray[np.float64]) -> bytes:
    """Compresses float64 values; NaN: not observed."""
    observed = ~np.isnan(values)
    return encode(Column(values=np.where(observed, values, 0.0), observed=observed)).data


def decode_floats(block: bytes | memoryview) -> NDArray[np.float64]:
    """float64 with NaN for missing samples. Raises BadBlock."""
    return decode(block).as_float()
