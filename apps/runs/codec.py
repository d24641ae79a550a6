"""Series as compressed blocks: pcodec of the observed values, and a bit map of the samples without one.

Block: one byte of type ("i" int64, "u" uint64, "f" float64), four bytes (little-endian) of length of the bit map, the
bit map (empty: every sample was observed), then the pcodec of the observed values.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pcodec import ChunkConfig, standalone

Number = int | float | None
Values = NDArray[Any]  # int64, uint64 or float64

_TYPES = {"i": np.dtype(np.int64), "u": np.dtype(np.uint64), "f": np.dtype(np.float64)}
_TAGS = {dtype: tag for tag, dtype in _TYPES.items()}
_HEAD = struct.Struct("<cI")
_CONFIG = ChunkConfig()
_INT64 = (-(2**63), 2**63 - 1)
_UINT64_MAX = 2**64 - 1


class NotANumber(ValueError):
    """A sample that no series can hold: a text, a truth value, an infinite number or an integer of over 64 bits."""


class BadBlock(ValueError):
    """Bytes that `encode` did not write."""


@dataclass(frozen=True)
class Column:
    """Samples of one series in order. Where `observed` is False there is none, and `values` holds 0."""

    values: Values
    observed: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.values)

    def as_float(self) -> NDArray[np.float64]:
        """float64 with NaN where nothing was observed; integers beyond 2^53 are rounded."""
        values = self.values.astype(np.float64)
        values[~self.observed] = np.nan
        return values

    def same_as(self, other: "Column") -> bool:
        """Whether both hold the same samples, to the bit and of the same type."""
        return (
            self.values.dtype == other.values.dtype
            and np.array_equal(self.observed, other.observed)
            and self.values.tobytes() == other.values.tobytes()
        )


def column(samples: Sequence[Number]) -> Column:
    """int64 when all samples are integers (uint64 when too large for that), else float64. None and NaN: not observed.

    Raises NotANumber.
    """
    kinds = {type(sample) for sample in samples}
    if not kinds <= {int, float, type(None)}:
        wrong = next(sample for sample in samples if type(sample) not in (int, float, type(None)))
        raise NotANumber(f"{str(wrong)[:40]!r} is no number: send an integer, a decimal number or null")
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
        if _INT64[0] <= low and high <= _INT64[1]:
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


def encode(series: Column) -> bytes:
    tag = _TAGS[series.values.dtype].encode()
    if series.observed.all():
        gaps, values = b"", series.values
    else:
        gaps = struct.pack("<I", len(series)) + zlib.compress(np.packbits(series.observed).tobytes(), 9)
        values = series.values[series.observed]
    packed = standalone.simple_compress(np.ascontiguousarray(values), _CONFIG) if len(values) else b""
    return _HEAD.pack(tag, len(gaps)) + gaps + packed


def decode(block: bytes | memoryview) -> Column:
    """Raises BadBlock."""
    block = bytes(block)
    try:
        tag, gap_length = _HEAD.unpack_from(block)
        dtype = _TYPES[tag.decode("ascii")]
        gaps, packed = block[_HEAD.size : _HEAD.size + gap_length], block[_HEAD.size + gap_length :]
        found: Any = standalone.simple_decompress(packed) if packed else np.zeros(0, dtype)
        if found.dtype != dtype:
            raise ValueError(f"holds {found.dtype}, says {dtype}")
        if not gaps:
            return Column(values=found, observed=np.ones(len(found), dtype=np.bool_))
        (length,) = struct.unpack_from("<I", gaps)
        bits = np.frombuffer(zlib.decompress(gaps[4:]), dtype=np.uint8)
        observed = np.unpackbits(bits, count=length).astype(np.bool_)
        values: Values = np.zeros(length, dtype=dtype)
        values[observed] = found
        return Column(values=values, observed=observed)
    except (struct.error, KeyError, ValueError, RuntimeError, zlib.error) as error:
        raise BadBlock(f"not a block of samples: {error}") from error


def encode_floats(values: NDArray[np.float64]) -> bytes:
    """A block of float64; NaN: not observed."""
    observed = ~np.isnan(values)
    return encode(Column(values=np.where(observed, values, 0.0), observed=observed))


def decode_floats(block: bytes | memoryview) -> NDArray[np.float64]:
    """float64 with NaN where nothing was observed. Raises BadBlock."""
    return decode(block).as_float()
