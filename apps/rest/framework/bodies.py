"""Strict bodies, JSON and forms: anything invalid is reported as a field error and never breaks a query."""

import json
from collections.abc import Iterator, Mapping
from typing import IO, Any, NoReturn

from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import DataAndFiles, JSONParser, MultiPartParser

from apps.core import limits
from apps.core.problems import NAMELESS

BYTES = "latin-1"  # a character for each byte
FIELD = 200  # characters of a field's name in a refusal: it may be as long as the body


class InvalidJson(ValueError):
    """Invalid JSON; the message gives place and reason."""


def decode_json(text: bytes, *, name: str = "") -> Any:
    """The value in `text`; `name` is its name in errors. Raises InvalidJson for what RFC 8259 forbids or leaves open.

    Raises ValidationError, with the field, for values that no database column can store: NUL, lone surrogates, integers
    beyond 64 bits.
    """
    if len(text) > limits.JSON:
        raise InvalidJson(f"it has {len(text):,} bytes; at most {limits.JSON:,} are read")
    try:
        value = json.loads(text.decode(), parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        raise InvalidJson(f"it is not UTF-8: byte {error.start} is {error.object[error.start]:#04x}") from error
    except RecursionError as error:
        raise InvalidJson(f"it is nested deeper than {limits.JSON_DEPTH} levels") from error
    except ValueError as error:
        raise InvalidJson(str(error)) from error
    _check(value, path=() if isinstance(value, dict) or not name else (name,))
    return value


class StrictJSONParser(JSONParser):
    def parse(self, stream: IO[Any], *_: str | Mapping[str, Any] | None, **__: Any) -> Any:
        try:
            return decode_json(stream.read())
        except InvalidJson as error:
            raise ParseError(f"The body is not acceptable JSON: {error}.") from error


class StrictMultiPartParser(MultiPartParser):
    """Refuses texts of another encoding than UTF-8, in which Django would store replacement characters."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None
    ) -> "DataAndFiles[Any, Any]":
        found = super().parse(stream, media_type, {**(parser_context or {}), "encoding": BYTES})
        form, files = QueryDict(mutable=True), MultiValueDict[str, Any]()
        for sent, texts in found.data.lists():
            name = _name(sent)
            form.setlist(name, [_utf_8(name, text.encode(BYTES)) for text in texts])
        for sent, uploaded in found.files.lists():
            files.setlist(_name(sent), uploaded)
        return DataAndFiles(form, files)


def _name(sent: str) -> str:
    try:
        return sent.encode(BYTES).decode(errors="replace")
    except UnicodeEncodeError:  # name*=UTF-8''…, which Django has decoded
        return sent


def _utf_8(name: str, text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8: byte {error.start} is {text[error.start]:#04x}; send it in UTF-8"
        raise _refused((name,), problem) from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number: use null or a finite number")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """RFC 8259 leaves duplicate names open; guessing which one was meant would store the wrong run."""
    entries: dict[str, Any] = {}
    for name, value in pairs:
        if name in entries:
            raise ValueError(f"{name[:80]!r} is given twice in one object")
        entries[name] = value
    return entries


def _refused(path: tuple[str, ...], problem: str) -> ValidationError:
    return ValidationError({".".join(path)[:FIELD]: [problem]})


def _check(value: Any, *, path: tuple[str, ...], depth: int = 0) -> None:
    """`path`: names from the outside in. They are joined for a problem only: each may be as long as the body."""
    if depth > limits.JSON_DEPTH:
        raise InvalidJson(f"it is nested deeper than {limits.JSON_DEPTH} levels")
    if isinstance(value, str):
        _check_text(value, path=path)
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**63 - 1:
        raise _refused(path, "the whole number is beyond 64 bits")
    for name, entry in _inside(value):
        _check_text(name, path=path or (repr(name)[:80],))
        _check(entry, path=(*path, name) if path else (name or NAMELESS,), depth=depth + 1)


def _inside(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            yield str(number), entry


def _check_text(text: str, *, path: tuple[str, ...]) -> None:
    if "\0" in text:
        raise _refused(path, "contains NUL, which cannot be stored")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise _refused(path, "contains half a character (a lone surrogate)")
