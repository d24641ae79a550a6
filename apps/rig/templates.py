"""Samples of one node under one load, compressed once with their statistics, for all repetitions.

Recorded seconds are replayed in stretches, so that series stay correlated. Counters of work are scaled to the target
throughput, second by second, and rounded with one random number for all, so that equal series stay equal.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.catalog.models import Metric
from apps.rig import statistics
from apps.rig.recordings import Recording
from apps.rig.statistics import Floats, Statistics
from apps.runs.pure import Column, codec, interval_middles

Samples = NDArray[Any]  # int64 or float64

# Not scaled: units of time, and counters of the machine.
TIMES, SCALED = ("s", "ns"), "mysql.status."


@dataclass(frozen=True)
class Moments:
    """Times of the samples (s on the run's clock), and the measured phase among them."""

    clock: Floats
    measured_from: float
    measured_to: float


@dataclass(frozen=True)
class SeriesTemplate:
    """One series of a node; `movable`: a whole counter, whose base is arbitrary. `text`: its statistics in COPY's
    format."""

    metric: int
    base: int
    movable: bool
    offset: int
    length: int
    text: bytes


@dataclass(frozen=True)
class Template:
    """One node of a run: `clock` and `data` compressed, `entries`: locations of the series in `data`."""

    clock: bytes
    samples: int
    data: bytes
    entries: tuple[SeriesTemplate, ...]


class _Block:
    """Series with equal increments share their bytes, as in a sealed run."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._places: dict[bytes, int] = {}

    def add(self, metric: Metric, values: Samples, text: bytes) -> SeriesTemplate:
        encoded = codec.encode(Column(values=values, observed=np.ones(len(values), dtype=np.bool_)))
        place = self._places.get(encoded.data)
        if place is None:
            place = self._places[encoded.data] = len(self.data)
            self.data += encoded.data
        movable = values.dtype == np.int64 and metric.kind == Metric.Kind.COUNTER
        return SeriesTemplate(metric.pk, encoded.base, movable, place, len(encoded.data), text)


def server_node(
    recording: Recording,
    *,
    metrics: Mapping[str, Metric],
    seconds: NDArray[np.intp],
    scale: float,
    moments: Moments,
    chance: Floats,
) -> Template:
    """The series `metrics`, by key. `seconds`: indexes of the recorded ones; `scale`: of the work in each; `chance`:
    in [0, 1), one per second, rounds the scaled numbers."""
    block = _Block()
    entries: dict[str, SeriesTemplate] = {}
    for keys_recorded, recorded in (
        (recording.whole_keys, recording.whole),
        (recording.decimal_keys, recording.decimal),
    ):
        places = [place for place, key in enumerate(keys_recorded) if key in metrics]
        for are_counters in (True, False):
            rows = [at for at in places if (metrics[keys_recorded[at]].kind == Metric.Kind.COUNTER) is are_counters]
            if not rows:
                continue
            kinds = [metrics[keys_recorded[at]] for at in rows]
            if are_counters:
                values = _replayed(recorded[rows], seconds, _scales(kinds, scale), chance)
                texts = _texts_of_counters(values, moments)
            else:
                values = np.ascontiguousarray(recorded[rows][:, seconds])
                texts = _texts_of_gauges(values, moments.clock, moments)
            for metric, series, text in zip(kinds, values, texts, strict=True):
                entries[metric.key] = block.add(metric, series, text)
    return _template(block, moments, [entries[key] for key in metrics])


def client_nodes(values: Mapping[Metric, Floats], moments: Moments) -> list[Template]:
    """Load generator's output of several runs with the same clock: metric -> runs x seconds."""
    at = interval_middles(moments.clock)
    texts = {metric: _texts_of_gauges(rows, at, moments) for metric, rows in values.items()}
    clock = codec.encode_floats(moments.clock)
    found = []
    for run in range(len(next(iter(values.values())))):
        block = _Block()
        entries = [block.add(metric, rows[run], texts[metric][run]) for metric, rows in values.items()]
        found.append(Template(clock, len(moments.clock), bytes(block.data), tuple(entries)))
    return found


def _template(block: _Block, moments: Moments, entries: Sequence[SeriesTemplate]) -> Template:
    return Template(codec.encode_floats(moments.clock), len(moments.clock), bytes(block.data), tuple(entries))


def _scales(metrics: Sequence[Metric], scale: float) -> Floats:
    work = (metric.key.startswith(SCALED) and metric.unit not in TIMES for metric in metrics)
    return np.array([scale if is_work else 1.0 for is_work in work])[:, None]


def _replayed(recorded: Samples, seconds: NDArray[np.intp], scales: Floats, chance: Floats) -> Samples:
    """Counters with the steps of the recorded `seconds`, from the recording's first value on."""
    steps = np.maximum(np.diff(recorded, axis=1, prepend=recorded[:, :1]), 0)[:, seconds]
    if recorded.dtype == np.int64:
        steps = np.where(scales == 1.0, steps, np.floor(steps * scales + chance)).astype(np.int64)
    steps[:, 0] = 0
    values: Samples = recorded[:, :1] + np.cumsum(steps, axis=1)
    return values if recorded.dtype == np.int64 else np.round(values, 6)


def _texts_of_counters(values: Samples, moments: Moments) -> list[bytes]:
    steps = np.diff(values, axis=1).astype(np.float64)
    return _texts(lambda start, end: statistics.of_counters(moments.clock, steps, start, end), moments)


def _texts_of_gauges(values: Samples, at: Floats, moments: Moments) -> list[bytes]:
    return _texts(lambda start, end: statistics.of_gauges(at, values.astype(np.float64), start, end), moments)


def _texts(statistics: Callable[[float, float], Statistics], moments: Moments) -> list[bytes]:
    """Over the measured phase, then over the whole run."""
    measured, whole = statistics(moments.measured_from, moments.measured_to), statistics(-np.inf, np.inf)
    return [measured.text(row) + b"\t" + whole.text(row) for row in range(len(whole.columns))]
