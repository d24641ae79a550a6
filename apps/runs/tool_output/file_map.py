"""The mapping of a file of one's own: which of its values are which metrics, in which unit. Pure.

docs/howto/own-results.md describes it. Units are stated or equal to the metric's, never guessed.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.catalog.pure import MetricSpec, derived_metrics
from apps.core import limits

# Keys of metrics that the sender describes; all other keys are those of the catalog.
OWN = "client.own."
KEY = re.compile(r"client\.own\.[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*")
# Statistics of a latency beside those in the catalog: of all transactions, or of one type.
LATENCY = re.compile(r"client\.(?:[a-z][a-z0-9_]*\.)?latency\.(?:avg|min|max|p\d{1,5})")
PERCENTILE = re.compile(r".*[._]p\d+")
DIRECTIONS = ("higher", "lower", "neutral")
NAMES = ("totals", "series", "time", "rows", "threads", "rate", "repetition", "warmup")
# Ways to take a total from the rows of a series.
OVER_ROWS = ("mean", "sum", "max", "min")
WAYS = ("from", *OVER_ROWS)
OF_A_SOURCE = (*WAYS, "unit", "direction", "name")
# ns of each.
TIMES = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
PER = {"s": 1, "min": 60, "h": 3600}
ABSOLUTE = {"epoch s": 10**9, "epoch ms": 10**6, "epoch us": 10**3, "epoch ns": 1, "ISO 8601": 0}
MARKS = ("end", "start")


class BadMapping(ValueError):
    """`field`: the faulty part, nested with dots."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


@dataclass(frozen=True)
class Source:
    """Where a metric's value is: `way` over the rows, or "from" `place`: a column, or a path in JSON. A value of the
    file times `times` / `per` is one of the metric."""

    metric: MetricSpec
    way: str
    place: str
    times: int = 1
    per: int = 1


@dataclass(frozen=True)
class TimeColumn:
    """`unit`: of TIMES, since the run's start, or of ABSOLUTE. `marks`: the end of a row's interval, or its start."""

    place: str
    unit: str
    marks: str = "end"


@dataclass(frozen=True)
class FileMapping:
    """`threads`, `rate`, `repetition`: a number, or the place of one. `rows`: path of the series' rows in JSON.
    `warmup`: s at the start of a series that do not count."""

    totals: tuple[Source, ...]
    series: tuple[Source, ...] = ()
    time: TimeColumn | None = None
    rows: str = ""
    threads: int | str | None = None
    rate: float | str | None = None
    repetition: int | str | None = None
    warmup: float = 0.0

    @property
    def own(self) -> tuple[MetricSpec, ...]:
        """The metrics that it describes itself."""
        specs = [source.metric for source in (*self.totals, *self.series)]
        return tuple({spec.key: spec for spec in specs if spec.key.startswith(OWN)}.values())


def read(document: object) -> FileMapping:
    """Raises BadMapping with the first problem."""
    stated = _object("mapping", document, NAMES)
    time = _time(stated["time"]) if "time" in stated else None
    totals = _sources("totals", stated.get("totals", {}))
    series = _sources("series", stated.get("series", {}))
    _require(bool(totals), "mapping.totals", "names no value: a run needs at least one, as client.throughput: COLUMN")
    number = len(totals) + len(series)
    _require(number <= limits.MAPPED, "mapping", f"names {number} values; it may name at most {limits.MAPPED}")
    _require(bool(time) == bool(series), "mapping.time", "and series go together: state both or none")
    for source in totals:
        _check_way(source, has_rows=time is not None)
    for source in series:
        _require(source.way == "from", f"mapping.series.{source.metric.key}", "is a column: a text, or from: COLUMN")
    specs = _described(totals, series)
    warmup = stated.get("warmup", 0)
    _require(_is_number(warmup) and 0 <= warmup <= 1e7, "mapping.warmup", "must be a number of seconds from 0")
    _require(
        not warmup or time is not None, "mapping.warmup", "needs a series: the file's totals cover what they cover"
    )
    return FileMapping(
        totals=tuple(_with(source, specs) for source in totals),
        series=tuple(_with(source, specs) for source in series),
        time=time,
        rows=_place("mapping.rows", stated["rows"]) if "rows" in stated else "",
        threads=_load("threads", stated, whole=True),
        rate=_load("rate", stated, whole=False),
        repetition=_load("repetition", stated, whole=True),
        warmup=float(warmup),
    )


# ---------------------------------------------------------------- parts


def _sources(name: str, stated: object) -> list[Source]:
    held = _object(f"mapping.{name}", stated)
    return [_source(f"mapping.{name}.{key!s:.80}", key, value) for key, value in held.items()]


def _source(field: str, key: str, stated: object) -> Source:
    if isinstance(stated, str):
        stated = {"from": stated}
    held = _object(field, stated, OF_A_SOURCE)
    ways = [way for way in WAYS if way in held]
    _require(len(ways) == 1, field, f"must have one of {', '.join(WAYS)}")
    for name in ("unit", "direction", "name"):
        _require(isinstance(held.get(name, ""), str), f"{field}.{name}", "must be a text")
    metric = _metric(field, key, held)
    times, per = _factor(field, held.get("unit", ""), metric.unit)
    return Source(metric, ways[0], _place(field, held[ways[0]]), times, per)


def _metric(field: str, key: str, held: Mapping[str, Any]) -> MetricSpec:
    if key.startswith(OWN):
        _require(bool(KEY.fullmatch(key)) and len(key) <= 120, field, f"must be {OWN} and a-z, 0-9, _ and dots")
        unit, direction = held.get("unit", ""), held.get("direction", "")
        _require(0 < len(unit) <= 40 and unit.isprintable(), field, "needs a unit, as unit: hits/s (1: a plain number)")
        _require(direction in DIRECTIONS, field, f"needs a direction: which values are better, {', '.join(DIRECTIONS)}")
        name = held.get("name") or key.removeprefix(OWN).replace("_", " ").replace(".", ", ")
        _require(len(name) <= 160 and name.isprintable(), f"{field}.name", "must have at most 160 characters")
        description = "Of a file of the sender's own, who named its unit and direction."
        unit = "" if unit == "1" else unit
        return MetricSpec(key, name, unit, "gauge", direction, description=description)
    metric, curated = derived_metrics.describe(key)
    _require(
        (curated or bool(LATENCY.fullmatch(key))) and key.startswith("client.") and metric.kind != "counter",
        field,
        f"is no metric of a load generator here: name it {OWN}NAME with unit and direction, or see the metrics' page",
    )
    _require(not key.endswith("latency"), field, "is a histogram: name its statistics, such as client.latency.p99")
    for name in ("direction", "name"):
        _require(name not in held, f"{field}.{name}", "is known of this metric: leave it out")
    return metric


def _factor(field: str, stated: str, wanted: str) -> tuple[int, int]:
    """(times, per), so that a number in `stated` becomes one in `wanted`."""
    if wanted in TIMES:
        _require(bool(stated), field, f"is a time: state the file's unit, as unit: ms ({', '.join(TIMES)})")
        _require(stated in TIMES, f"{field}.unit", f"is {stated!r:.40}; a time is in {', '.join(TIMES)}")
        return TIMES[stated], TIMES[wanted]
    if stated in ("", wanted) or (stated == "1" and not wanted):
        return 1, 1
    what, _, per = stated.rpartition("/")
    of, _, wanted_per = wanted.rpartition("/")
    same = what in (of, "1", "") and per in PER and wanted_per in PER
    _require(same, f"{field}.unit", f"is {stated!r:.40}, but the metric is in {wanted or 'plain numbers'}")
    return PER[wanted_per], PER[per]


def _check_way(source: Source, *, has_rows: bool) -> None:
    metric, way = source.metric, source.way
    field = f"mapping.totals.{metric.key}"
    if way == "from":
        return
    _require(has_rows, field, f"{way} is over the rows of a series: state time and series, or use from")
    _require(not PERCENTILE.fullmatch(metric.key), field, f"is a percentile, which no {way} of intervals' values gives")
    is_rate = metric.unit.rpartition("/")[2] in PER
    fits = {
        "mean": is_rate,
        "sum": not is_rate and metric.unit not in (*TIMES, "%", "fraction", "ratio"),
        "max": metric.key.endswith("max") or metric.key.startswith(OWN),
        "min": metric.key.endswith("min") or metric.key.startswith(OWN),
    }
    allowed = {"mean": "a rate (…/s)", "sum": "a count", "max": "a metric ….max", "min": "a metric ….min"}
    _require(fits[way], field, f"{way} gives {allowed[way]} alone: name the file's own total by from, or leave it out")


def _described(totals: list[Source], series: list[Source]) -> dict[str, MetricSpec]:
    found: dict[str, MetricSpec] = {}
    for source in (*totals, *series):
        known = found.setdefault(source.metric.key, source.metric)
        same = (known.unit, known.direction) == (source.metric.unit, source.metric.direction)
        _require(same, f"mapping.series.{known.key}", "has another unit or direction than in totals: state the same")
    return found


def _with(source: Source, specs: Mapping[str, MetricSpec]) -> Source:
    return Source(specs[source.metric.key], source.way, source.place, source.times, source.per)


def _time(stated: object) -> TimeColumn:
    held = _object("mapping.time", stated, ("from", "unit", "marks"))
    unit, marks = held.get("unit"), held.get("marks", "end")
    units = (*TIMES, *ABSOLUTE)
    _require(isinstance(unit, str) and unit in units, "mapping.time.unit", f"must be one of {', '.join(units)}")
    _require(marks in MARKS, "mapping.time.marks", "must be end or start: of the interval that a row covers")
    return TimeColumn(_place("mapping.time.from", held.get("from")), str(unit), str(marks))


def _load(name: str, stated: Mapping[str, Any], *, whole: bool) -> Any:
    value = stated.get(name)
    if value is None or isinstance(value, str):
        return value if value is None else _place(f"mapping.{name}", value)
    fits = _is_number(value) and 0 < value <= 1e9 and (not whole or value == int(value))
    _require(fits, f"mapping.{name}", "must be a number above 0, or the place of one: a column, or a path")
    return int(value) if whole else float(value)


def _place(field: str, stated: object) -> str:
    fits = isinstance(stated, str) and 0 < len(stated) <= 200 and stated.isprintable()
    _require(fits, field, "must name a column of the CSV, or a path in the JSON such as result.latency.p99")
    return str(stated)


def _object(field: str, stated: object, names: tuple[str, ...] | None = None) -> dict[str, Any]:
    if not isinstance(stated, dict) or not all(isinstance(name, str) for name in stated):
        raise BadMapping(field, "must be an object: names with their values")
    unknown = [] if names is None else [name for name in stated if name not in names]
    if unknown:
        raise BadMapping(field, f"{unknown[0]!r:.60} is unknown here; known: {', '.join(names or ())}")
    return stated


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _require(holds: bool, field: str, message: str) -> None:
    if not holds:
        raise BadMapping(field, message)
