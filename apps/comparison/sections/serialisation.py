"""Values of a comparison to JSON and back, without loss. Pure."""

import math
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

# JSON lacks these numbers: they are stored as {"number": "inf"}.
ENDLESS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
# Verdicts as stored before they were renamed.
RENAMED = {"not told apart": "inconclusive"}
# Fields likewise.
RENAMED_FIELDS = {"rungs": "levels"}
# A side whose runs lack a figure was said to have no runs.
FIRST_NAMES = {new: old for old, new in RENAMED.items()} | {"not measured": "no runs"}


class Outdated(ValueError):
    """Stored data does not have the form of the current values; the message names the difference."""


def to_json(value: object) -> Any:
    """Dataclasses become objects, enumerations their values, datetimes ISO 8601. Raises TypeError for other types
    without a form in JSON."""
    return _without_endless(msgspec.to_builtins(value, str_keys=True, enc_hook=_plain))


def from_json(stored: Any, kind: type[T]) -> T:
    """The value of type `kind` from the output of `to_json`. Names that `kind` lacks are ignored, since older values
    may have had more fields. Raises Outdated."""
    try:
        return msgspec.convert(_with_endless(stored), type=kind, str_keys=True)
    except msgspec.ValidationError as error:
        raise Outdated(str(error)) from error


def first_name(verdict: str) -> str:
    """The verdict's original name, which stored hashes contain."""
    return FIRST_NAMES.get(verdict, verdict)


def _plain(value: Any) -> Any:
    """Converts numpy's numbers to Python's."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{value!r} of type {type(value).__name__} has no form in JSON")


def _without_endless(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    if isinstance(value, dict):
        return {name: _without_endless(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_without_endless(entry) for entry in value]
    return value


def _with_endless(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"number"} and value["number"] in ENDLESS:
            return ENDLESS[value["number"]]
        return {RENAMED_FIELDS.get(name, name): _with_endless(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_with_endless(entry) for entry in value]
    return RENAMED.get(value, value) if isinstance(value, str) else value
