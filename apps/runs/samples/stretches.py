"""Stretches of a node's samples as arrays: a full sample and its changes, until the next full sample.

A value is stored as the 64 bits of an int64 or a float64, so that one matrix holds both: integers are added modulo
2^64, decimals only copied. Series that fit neither (integers of over 64 bits, both kinds mixed) are computed one value
at a time.
"""

import struct
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.core import limits
from apps.runs.storage.codec import Column, Number

Cells = NDArray[np.int64]  # the bits of int64 or float64
Flags = NDArray[np.bool_]
Kinds = NDArray[np.uint8]
Places = NDArray[np.intp]

INTEGER, DECIMAL, NOTHING, EXACT = range(4)
_KIND_OF = {int: INTEGER, float: DECIMAL, type(None): NOTHING}
_NONE_YET: Places = np.zeros(0, np.intp)
_DELTA, _OUTRIGHT = 1, 2
# Below 2^63, so that rounding errors of the float64 sum cannot hide an overflow of int64.
_SAFE_SUM = 2.0**62


class BadSample(ValueError):
    """`row` of the stretch is invalid; None: the stretch as a whole."""

    def __init__(self, row: int | None, reason: str) -> None:
        super().__init__(reason)
        self.row = row


@dataclass
class OpenStretch:
    """Samples of a stretch as read. Sample `k` has `delta_counts[k]` of the deltas and `value_counts[k]` of values."""

    first: list[Number]
    lines: list[int]
    delta_counts: list[int] = field(default_factory=lambda: [0])
    delta_places: list[Number] = field(default_factory=list)
    deltas: list[Number] = field(default_factory=list)
    value_counts: list[int] = field(default_factory=lambda: [0])
    value_places: list[Number] = field(default_factory=list)
    values: list[Number] = field(default_factory=list)


@dataclass(frozen=True)
class Stretch:
    """`length` samples: `first` holds the first value of every series, `values[j]` all values of series `places[j]`.

    `seen`: which of `values` were observed; None: all. `exact`: series -> its values, of kind EXACT.
    """

    length: int
    kinds: Kinds
    first: Cells
    places: Places
    values: Cells
    seen: Flags | None
    exact: Mapping[int, Sequence[Number]]


def stretch_of(open_stretch: OpenStretch) -> Stretch:
    """The samples of an open stretch as arrays. Raises BadSample, OverflowError."""
    kinds, first, wide = _packed(open_stretch.first)
    for place in wide:
        if not -(2**63) <= (value := open_stretch.first[place] or 0) < 2**64:
            raise BadSample(0, f"{value!r:.40} does not fit in 64 bits")
    length = len(open_stretch.lines)
    exact: dict[int, Sequence[Number]] = {place: [open_stretch.first[place]] * length for place in wide}
    if not open_stretch.deltas and not open_stretch.values:
        return Stretch(length, kinds, first, _NONE_YET, np.zeros((0, length), np.int64), None, exact)
    places, at = _cells(open_stretch)
    shape, by_delta, by_value = (len(places), length), at[: len(open_stretch.deltas)], at[len(open_stretch.deltas) :]
    found = np.zeros(shape, np.uint8)
    found.ravel()[by_delta] = _DELTA
    found.ravel()[by_value] = _OUTRIGHT
    if np.count_nonzero(found) != len(at):
        raise BadSample(_row_of_repeated(at, length), "names a series twice")
    deltas, no_integers = _integers(open_stretch.deltas)
    value_kinds, packed_values, wide_values = _packed(open_stretch.values)
    steps: Cells = np.zeros(shape, np.int64)
    steps[:, 0] = first[places]
    steps.ravel()[by_delta] = deltas
    steps.ravel()[by_value] = packed_values
    values: Cells = np.add.accumulate(steps, axis=1)

    of_kind = kinds[places]
    outright: Flags = np.zeros(len(places), np.bool_)
    outright[by_value // length] = True
    odd = (found == _DELTA).any(axis=1)
    odd &= outright | (of_kind != INTEGER) | _may_overflow(steps)
    if outright.any():
        rows = np.where(found[outright] == _OUTRIGHT, np.arange(length), 0)
        values[outright] = np.take_along_axis(steps[outright], np.maximum.accumulate(rows, axis=1), axis=1)
        other_kind = value_kinds != of_kind[by_value // length]
        odd[by_value[other_kind] // length] = True
    for some, entries in ((by_delta, no_integers), (by_value, wide_values)):
        if len(entries):
            odd[some[entries] // length] = True
    if not odd.any():
        return Stretch(length, kinds, first, places, values, None, exact)
    seen: Flags = np.repeat((of_kind != NOTHING)[:, np.newaxis], length, axis=1)
    kinds = kinds.copy()
    for j, samples in _one_by_one(open_stretch, places, at, odd).items():
        place = int(places[j])
        kinds[place], values[j], seen[j] = _bits(samples)
        exact.pop(place, None)
        if kinds[place] == EXACT:
            exact[place] = samples
    return Stretch(length, kinds, first, places, values, seen, exact)


def _cells(open_stretch: OpenStretch) -> tuple[Places, Places]:
    """Changing series, and flat indices of all deltas, then all values, in a matrix of these series x samples."""
    length, width = len(open_stretch.lines), len(open_stretch.first)
    indices = open_stretch.delta_places + open_stretch.value_places
    samples = np.arange(length)
    rows = np.concatenate([samples.repeat(open_stretch.delta_counts), samples.repeat(open_stretch.value_counts)])
    found, wrong = _integers(indices)
    if len(wrong) or found.view(np.uint64).max() >= width:
        entry = wrong[0] if len(wrong) else np.flatnonzero(found.view(np.uint64) >= width)[0]
        raise BadSample(int(rows[entry]), f"there is no series {indices[entry]!r:.40} among {width}")
    touched = np.zeros(width, np.bool_)
    touched[found] = True
    places: Places = touched.nonzero()[0]
    if len(places) * length > limits.STRETCH_VALUES:
        raise BadSample(None, f"its samples unfold to more than {limits.STRETCH_VALUES} values")
    starts = np.zeros(width, np.intp)
    starts[places] = np.arange(0, len(places) * length, length)
    at: Places = starts[found]
    at += rows
    return places, at


def _row_of_repeated(at: Places, length: int) -> int:
    found, counts = np.unique(at, return_counts=True)
    return int((found[counts > 1] % length).min())


def _may_overflow(steps: Cells) -> Flags:
    flags: Flags = np.abs(steps.astype(np.float64)).sum(axis=1) > _SAFE_SUM
    return flags


def _one_by_one(open_stretch: OpenStretch, places: Places, at: Places, odd: Flags) -> dict[int, list[Number]]:
    """The values of the series that are `odd`, computed as Python numbers."""
    changes: dict[int, list[tuple[int, bool, Number]]] = defaultdict(list)
    length = len(open_stretch.lines)
    for entry in np.flatnonzero(odd[at // length]).tolist():
        j, row = divmod(int(at[entry]), length)
        outright = entry >= len(open_stretch.deltas)
        change = open_stretch.values[entry - len(open_stretch.deltas)] if outright else open_stretch.deltas[entry]
        changes[j].append((row, outright, change))
    return {j: _follow(open_stretch.first[places[j]], found, length) for j, found in changes.items()}


def _follow(value: Number, changes: list[tuple[int, bool, Number]], length: int) -> list[Number]:
    found: list[Number] = []
    for row, outright, change in sorted(changes, key=itemgetter(0)):
        found += [value] * (row - len(found))
        value = change if outright or value is None or change is None else value + change
    return found + [value] * (length - len(found))


def _integers(values: list[Number]) -> tuple[Cells, Places]:
    """`values` as int64, and the indices of those that are not, which hold 0."""
    try:
        return np.frombuffer(struct.pack(f"={len(values)}q", *values), np.int64), _NONE_YET
    except struct.error:
        wrong = [place for place, value in enumerate(values) if not _fits(value)]
        right = [value if _fits(value) else 0 for value in values]
        return np.array(right, np.int64), np.array(wrong, np.intp)


def _packed(values: list[Number]) -> tuple[Kinds, Cells, list[int]]:
    """Kinds, bits, and indices of integers of over 64 bits, of kind EXACT. Bits of EXACT and missing values are 0."""
    kinds = bytes(map(_KIND_OF.__getitem__, map(type, values)))
    if NOTHING in kinds:
        values = [0 if value is None else value for value in values]
    try:
        return np.frombuffer(kinds, np.uint8), np.frombuffer(_packer(kinds).pack(*values), np.int64), []
    except struct.error:
        wide = [place for place, value in enumerate(values) if type(value) is int and not _fits(value)]
        found = np.frombuffer(kinds, np.uint8).copy()
        found[wide] = EXACT
        values = [0 if kind == EXACT else value for kind, value in zip(found, values, strict=True)]
        return found, np.frombuffer(_packer(kinds).pack(*values), np.int64), wide


@lru_cache(maxsize=64)
def _packer(kinds: bytes) -> struct.Struct:
    runs = ((kind, sum(1 for _ in run)) for kind, run in groupby(kinds))
    return struct.Struct("=" + "".join(f"{count}{'d' if kind == DECIMAL else 'q'}" for kind, count in runs))


def _fits(value: Number) -> bool:
    return type(value) is int and -(2**63) <= value < 2**63


def _bits(samples: Sequence[Number]) -> tuple[int, Any, Any]:
    """Kind, bits (0 for missing samples), and which samples were observed."""
    kinds = {type(sample) for sample in samples}
    seen = [sample is not None for sample in samples]
    if kinds <= {float, type(None)}:
        filled = np.array([0.0 if sample is None else sample for sample in samples], np.float64)
        # A sum may have become infinite: as EXACT, it is refused with a message.
        kind = (DECIMAL if float in kinds else NOTHING) if np.isfinite(filled).all() else EXACT
        return kind, filled.view(np.int64), seen
    if float not in kinds and all(sample is None or _fits(sample) for sample in samples):
        return INTEGER, [sample or 0 for sample in samples], seen
    return EXACT, 0, seen


@dataclass
class Stretches:
    """A node's stretches since the last `Decoder.take`; later ones may have more series."""

    held: list[Stretch] = field(default_factory=list)
    length: int = 0
    _changing: Flags = field(default_factory=lambda: np.zeros(0, np.bool_))

    def add(self, stretch: Stretch) -> None:
        width = len(stretch.first)
        if width > len(self._changing):
            # Series of later stretches were not observed before.
            grown = np.full(width, bool(self.held))
            grown[: len(self._changing)] = self._changing
            self._changing = grown
        if self.held:
            before = self.held[-1]
            known = len(before.first)
            self._changing[:known] |= before.first != stretch.first[:known]
            if before.kinds is not stretch.kinds:
                self._changing[:known] |= before.kinds != stretch.kinds[:known]
        self._changing[stretch.places] = True
        for place in stretch.exact:
            self._changing[place] = True
        self.held.append(stretch)
        self.length += stretch.length

    def weight(self) -> int:
        return self.length * int(np.count_nonzero(self._changing))

    def columns(self) -> tuple[dict[int, Column], dict[int, Number], dict[int, list[Number]]]:
        """By index: changing series, values of constant series, and samples of series that need exact computation."""
        if not self.held:
            return {}, {}, {}
        places = np.flatnonzero(self._changing)
        values, kinds = self._values(places), self._kinds(places)
        observed = self._observed(places, kinds)
        by_kind = [(kinds == kind).any(axis=0) for kind in range(4)]
        exact = by_kind[EXACT] | (by_kind[INTEGER] & by_kind[DECIMAL])
        still: Flags = np.logical_and((values == values[:, :1]).all(axis=1), (observed == observed[:, :1]).all(axis=1))
        everywhere: Flags = np.broadcast_to(np.True_, self.length)
        gaps: Flags = np.logical_not(observed.all(axis=1))
        changing: dict[int, Column] = {}
        constants = self._unchanged()
        one_by_one: dict[int, list[Number]] = {}
        for j, place in enumerate(places.tolist()):
            if exact[j]:
                one_by_one[place] = self._exact(place, values[j], kinds[:, j], observed[j])
                continue
            row = values[j].view(np.float64) if by_kind[DECIMAL][j] else values[j]
            if still[j]:
                constants[place] = row[0].item() if observed[j, 0] else None
            else:
                changing[place] = Column(values=row, observed=observed[j] if gaps[j] else everywhere)
        return changing, constants, one_by_one

    def _values(self, places: Places) -> Cells:
        found: Cells = np.zeros((len(places), self.length), np.int64)
        number = np.zeros(len(self._changing), np.intp)
        number[places] = np.arange(len(places))
        for start, stretch in self._placed():
            known = int(np.searchsorted(places, len(stretch.first)))
            rows = slice(start, start + stretch.length)
            found[:known, rows] = stretch.first[places[:known], np.newaxis]
            found[number[stretch.places], rows] = stretch.values
        return found

    def _kinds(self, places: Places) -> Kinds:
        """Matrix of stretches x places."""
        found: Kinds = np.full((len(self.held), len(places)), NOTHING, np.uint8)
        for row, stretch in zip(found, self.held, strict=True):
            known = int(np.searchsorted(places, len(stretch.first)))
            row[:known] = stretch.kinds[places[:known]]
        return found

    def _observed(self, places: Places, kinds: Kinds) -> Flags:
        lengths = [stretch.length for stretch in self.held]
        if not (kinds == NOTHING).any() and all(stretch.seen is None for stretch in self.held):
            return np.broadcast_to(np.True_, (len(places), self.length))
        found: Flags = np.repeat((kinds != NOTHING).T, lengths, axis=1)
        for start, stretch in self._placed():
            if stretch.seen is not None:
                found[np.searchsorted(places, stretch.places), start : start + stretch.length] = stretch.seen
        return found

    def _unchanged(self) -> dict[int, Number]:
        last = self.held[-1]
        places = np.flatnonzero(~self._changing)
        whole, decimal = last.first[places].tolist(), last.first.view(np.float64)[places].tolist()
        kinds = last.kinds[places].tolist()
        return {
            place: None if kind == NOTHING else (decimal[k] if kind == DECIMAL else whole[k])
            for k, (place, kind) in enumerate(zip(places.tolist(), kinds, strict=True))
        }

    def _exact(self, place: int, values: Cells, kinds: Kinds, observed: Flags) -> list[Number]:
        found: list[Number] = []
        for kind, (start, stretch) in zip(kinds, self._placed(), strict=True):
            if place in stretch.exact:
                found += stretch.exact[place]
                continue
            rows = slice(start, start + stretch.length)
            row = values[rows].view(np.float64) if kind == DECIMAL else values[rows]
            found += [value if seen else None for value, seen in zip(row.tolist(), observed[rows], strict=True)]
        return found

    def _placed(self) -> list[tuple[int, Stretch]]:
        starts = np.cumsum([0, *(stretch.length for stretch in self.held)]).tolist()
        return list(zip(starts, self.held, strict=False))
