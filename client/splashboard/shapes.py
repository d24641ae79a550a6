"""The parts of the server's answers read by this client: other answers are rejected before use."""

from __future__ import annotations

from typing import Any

from splashboard.failures import ServerUnreachable

DEEPEST = 50  # levels of nesting; Splashboard's answers have fewer
LARGEST = 1e300  # beyond, arithmetic overflows

NUMBER = float  # whole or not
MAYBE = (NUMBER, type(None))

ROW = {
    **dict.fromkeys(("verdict", "tool", "workload", "level", "metric_name", "unit", "direction"), str),
    **dict.fromkeys(("system", "baseline_system", "reason", "finding_state"), str),
    **dict.fromkeys(("is_accepted", "is_coarse"), bool),
    **dict.fromkeys(("before", "after", "ratio", "low", "high", "p", "needed", "finding"), MAYBE),
    **{key: [int] for key in ("runs_before", "runs_after")},
}
CHECK = {
    **dict.fromkeys(("title", "result", "platform", "release", "baseline", "hardware", "address", "checked_at"), str),
    **{key: [str] for key in ("why", "notes")},
    "rows": [ROW],
}
CAMPAIGN = {
    "id": int,
    **dict.fromkeys(("name", "address"), str),
    "obstacles": [str],
    "progress": {
        "state": str,
        "remaining_seconds": MAYBE,
        **dict.fromkeys(("runs", "runs_done", "jobs", "jobs_done", "jobs_failed"), int),
    },
    "jobs": [
        {
            "id": int,
            **dict.fromkeys(("state", "reason"), str),
            "workload": {"name": str},
            "system": {"slug": str},
            "runs": [{"state": str}],
        }
    ],
}
RUN = {
    "id": int,
    **dict.fromkeys(("outcome", "reason", "address", "state"), str),
    "measurements": [{"metric": str, "value": NUMBER, "unit": str}],
    "unparsed_lines": int,
    "warnings": [str],
}


def checked(document: Any, shape: Any) -> Any:
    """`document`, if it has at least the keys of `shape`. Raises ServerUnreachable with the first mismatch."""
    place = _mismatch(document, shape, "the answer")
    if place:
        raise ServerUnreachable(f"no usable answer: {place}; is it a Splashboard, and as recent as this client?")
    return document


def is_deep(document: Any) -> bool:
    level = [document]
    for _ in range(DEEPEST):
        level = [each for held in level for each in _within(held)]
    return bool(level)


def _within(held: Any) -> list[Any]:
    if isinstance(held, dict):
        return list(held.values())
    return held if isinstance(held, list) else []


def _mismatch(value: Any, shape: Any, name: str) -> str:
    """The first mismatch in words; empty: none."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return f"{name} is not a JSON object"
        lacking = [key for key in shape if key not in value]
        if lacking:
            return f"{name} lacks {lacking[0]!r}"
        return next(filter(None, (_mismatch(value[key], each, repr(key)) for key, each in shape.items())), "")
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{name} is not a list"
        return next(filter(None, (_mismatch(each, shape[0], f"an entry of {name}") for each in value)), "")
    kinds = shape if isinstance(shape, tuple) else (shape,)
    return "" if any(_is(value, kind) for kind in kinds) else f"{name} has the wrong type"


def _is(value: Any, kind: type) -> bool:
    if kind is NUMBER:
        return isinstance(value, (int, float)) and -LARGEST < value < LARGEST
    return isinstance(value, kind)
