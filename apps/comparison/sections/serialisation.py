"""Values of a comparison as JSON that a database keeps, and back to the same values. Pure."""

import math
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

# JSON has no number for these: they are kept as {"number": "inf"}.
ENDLESS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


class Outdated(ValueError):
    """What was kept has not the form of today's values; the message says where it differs."""


def to_json(value: object) -> Any:
    """Dataclasses become objects, enumerations their values, moments ISO 8601. Raises TypeError for what has no form
    in JSON."""
    return _without_endless(msgspec.to_builtins(value, str_keys=True, enc_hook=_plain))


def from_json(stored: Any, kind: type[T]) -> T:
    """The value of this kind that `to_json` made `stored` of. Names that `kind` does not know are passed over, since
    values may have had more. Raises Outdated."""
    try:
        return msgspec.convert(_with_endless(stored), type=kind, str_keys=True)
    except msgspec.ValidationError as error:
        raise Outdated(str(error)) from error


def _plain(value: Any) -> Any:
    """Numbers of numpy are those of Python."""
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
        return {name: _with_endless(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_with_endless(entry) for entry in value]
    return value
