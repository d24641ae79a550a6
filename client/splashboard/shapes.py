"""Reading of the server's answers: whole, as the dataclasses of `answers`, or only the parts that a command reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from splashboard.answers.campaigns import CampaignDetail, Job, NamedObject, Progress, RunCell
from splashboard.answers.regressions import CheckRow, ReleaseCheck
from splashboard.answers.runs import Measurement, SubmittedRun
from splashboard.failures import ServerUnreachable

DEEPEST = 50  # levels of nesting; Splashboard's answers have fewer
LARGEST = 1e300  # beyond, arithmetic overflows


class _Mismatch(Exception):
    """Where an answer is not as its shape, in words."""


def part(of: type, names: str, **nested: Any) -> dict[str, Any]:
    """The shape of those fields of a dataclass that a command reads, so that it works with servers that lack others."""
    return {**{name: hints(of)[name] for name in names.split()}, **nested}


@cache
def hints(of: type) -> dict[str, Any]:
    """Those of its public fields, in order."""
    found = get_type_hints(of)
    return {each.name: found[each.name] for each in fields(of) if not each.name.startswith("_")}


ROW = part(
    CheckRow,
    "verdict tool workload level metric_name unit direction system baseline_system reason finding_state is_accepted "
    "is_coarse before after ratio low high p needed finding runs_before runs_after",
)
CHECK = part(ReleaseCheck, "title result platform release baseline hardware address checked_at why notes", rows=[ROW])
CAMPAIGN = part(
    CampaignDetail,
    "id name address obstacles",
    progress=part(Progress, "state remaining_seconds runs runs_done jobs jobs_done jobs_failed"),
    jobs=[
        part(
            Job,
            "id state reason",
            workload=part(NamedObject, "name"),
            system=part(NamedObject, "slug"),
            runs=[part(RunCell, "state")],
        )
    ],
)
RUN = part(
    SubmittedRun,
    "id outcome reason address state unparsed_lines warnings",
    measurements=[part(Measurement, "metric value unit")],
)


def checked(document: Any, shape: Any) -> Any:
    """`document` as `shape`: a dataclass of `answers` is filled; of a `part` the document itself is returned, checked.

    Raises ServerUnreachable with the first mismatch.
    """
    try:
        return _read(document, shape, "the answer")
    except _Mismatch as error:
        raise ServerUnreachable(
            f"no usable answer: {error}; is it a Splashboard, and as recent as this client?"
        ) from error


def is_deep(document: Any) -> bool:
    level = [document]
    for _ in range(DEEPEST):
        level = [each for held in level for each in _within(held)]
    return bool(level)


def _within(held: Any) -> list[Any]:
    if isinstance(held, dict):
        return list(held.values())
    return held if isinstance(held, list) else []


def _read(value: Any, shape: Any, name: str) -> Any:
    if isinstance(shape, dict):
        _require(value, list(shape), name)
        for key, each in shape.items():
            _read(value[key], each, repr(key))
        return value
    if isinstance(shape, list):
        return [_read(each, shape[0], f"an entry of {name}") for each in _list(value, name)]
    if is_dataclass(shape):
        _require(value, [each.name for each in fields(shape) if each.default is MISSING], name)
        known = {key: hint for key, hint in hints(shape).items() if key in value}  # type: ignore[arg-type]  # a class
        return shape(**{key: _read(value[key], hint, repr(key)) for key, hint in known.items()})  # type: ignore[operator]
    return _read_hint(value, shape, name)


def _read_hint(value: Any, hint: Any, name: str) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin is Union:
        return None if value is None and type(None) in arguments else _read(value, arguments[0], name)
    if origin is list:
        return _read(value, [arguments[0]], name)
    if origin is tuple:
        if len(_list(value, name)) != len(arguments):
            raise _Mismatch(f"{name} has the wrong length")
        return tuple(_read(each, kind, f"an entry of {name}") for each, kind in zip(value, arguments))
    if origin is dict:
        _require(value, [], name)
        return {key: _read(each, arguments[1], repr(key)) for key, each in value.items()}
    # Of listed texts a newer server may have more.
    return _scalar(value, str if origin is Literal else hint, name)


def _scalar(value: Any, kind: type, name: str) -> Any:
    if kind is float:
        if not (isinstance(value, (int, float)) and -LARGEST < value < LARGEST):
            raise _Mismatch(f"{name} has the wrong type")
        return float(value)
    if kind in (date, datetime):
        return _moment(_of(value, str, name), kind, name)
    return _of(value, kind, name)


def _moment(text: str, kind: type[date], name: str) -> date:
    try:
        return kind.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise _Mismatch(f"{name} is not a time") from None


def _of(value: Any, kind: type, name: str) -> Any:
    if not isinstance(value, kind):
        raise _Mismatch(f"{name} has the wrong type")
    return value


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise _Mismatch(f"{name} is not a list")
    return value


def _require(value: Any, names: list[str], name: str) -> None:
    if not isinstance(value, Mapping):
        raise _Mismatch(f"{name} is not a JSON object")
    for each in names:
        if each not in value:
            raise _Mismatch(f"{name} lacks {each!r}")
