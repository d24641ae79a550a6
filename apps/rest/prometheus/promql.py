"""The part of PromQL that is supported, as a tree of our own. Pure.

Selectors; rate, irate and increase of counters; sum, avg, min, max and count, by or without labels; + - * / between a
vector and a number. Anything else is refused by its name.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import promql_parser
import pyarrow as pa
from promql_parser import AggModifierType, MatchOp
from pyarrow import compute

LONGEST = 2_000  # characters of a query
FUNCTIONS = ("rate", "irate", "increase")
AGGREGATIONS = ("sum", "avg", "min", "max", "count")
OPERATORS = ("+", "-", "*", "/")
MOST_NESTED = 64
_TEXTS = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`""", re.DOTALL)
_NESTS = re.compile(r"[-+*/%^<>=!(]+?|\b(?:and|or|unless|atan2)\b", re.IGNORECASE)
# s. Older samples are not looked at for an instant. Two of a series of AWS's longest period are within it, and tell its
# interval.
LOOK_BACK = 750.0
_OPS = ((MatchOp.Equal, "="), (MatchOp.NotEqual, "!="), (MatchOp.Re, "=~"), (MatchOp.NotRe, "!~"))


class BadQuery(ValueError):
    """The query cannot be answered; the text says why."""


@dataclass(frozen=True)
class Matcher:
    """`op`: =, !=, =~ or !~."""

    label: str
    op: str
    value: str

    def fits(self, labels: Mapping[str, str]) -> bool:
        """A label that is missing is like an empty one."""
        found = labels.get(self.label, "")
        if self.op in ("=", "!="):
            return (found == self.value) == (self.op == "=")
        return _matches(self.value, found) == (self.op == "=~")


@lru_cache(maxsize=16_384)
def _matches(pattern: str, text: str) -> bool:
    """By RE2, as Prometheus: its time does not explode."""
    found = compute.match_substring_regex(pa.array([text]), pattern=rf"\A(?s:{pattern})\z")
    return bool(found[0].as_py())


@dataclass(frozen=True)
class Selection:
    """A selector; with a `function` of FUNCTIONS, over a `window`, s."""

    matchers: tuple[Matcher, ...]
    function: str = ""
    window: float = 0.0


@dataclass(frozen=True)
class Aggregation:
    """`labels`: those that are kept, or left out (`without`)."""

    how: str
    of: "Expression"
    labels: tuple[str, ...] = ()
    without: bool = False


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class Arithmetic:
    op: str
    left: "Expression"
    right: "Expression"


Expression = Selection | Aggregation | Number | Arithmetic


def parse(text: str) -> Expression:
    """Raises BadQuery."""
    return _expression(_parsed(text))


def selector(text: str) -> tuple[Matcher, ...]:
    """Of a parameter match[]. Raises BadQuery."""
    found = parse(text)
    if not isinstance(found, Selection) or found.function:
        raise BadQuery(f"invalid parameter 'match[]': {text[:80]!r} is no selector")
    return found.matchers


def selections(expression: Expression) -> Iterator[Selection]:
    if isinstance(expression, Selection):
        yield expression
    elif isinstance(expression, Aggregation):
        yield from selections(expression.of)
    elif isinstance(expression, Arithmetic):
        yield from selections(expression.left)
        yield from selections(expression.right)


def reach(expression: Expression) -> float:
    """s before a time in which samples count for it."""
    return max((each.window or LOOK_BACK for each in selections(expression)), default=LOOK_BACK)


def _parsed(text: str) -> promql_parser.Expr:
    if len(text) > LONGEST:
        raise BadQuery(f"the query has {len(text):,} characters; at most {LONGEST:,} are read")
    # The parser has one stack for all of them, which it overflows before it reports it.
    if len(_NESTS.findall(_TEXTS.sub("", text))) > MOST_NESTED:
        raise BadQuery(f"the query has more than {MOST_NESTED} parentheses and operators")
    try:
        return promql_parser.parse(text)
    except ValueError as error:
        raise BadQuery(f"invalid parameter 'query': {error}") from error


def _expression(found: promql_parser.Expr) -> Expression:
    if isinstance(found, promql_parser.ParenExpr):
        return _expression(found.expr)
    make = next((make for kind, make in _KINDS if isinstance(found, kind)), None)
    if make is not None:
        return make(found)
    name = type(found).__name__.removesuffix("Expr").removesuffix("Literal")
    raise BadQuery(f"{name.lower()} is not supported here")


def _function(call: promql_parser.Call) -> Selection:
    name = call.func.name
    (matrix,) = call.args if len(call.args) == 1 else (None,)
    if name not in FUNCTIONS:
        raise BadQuery(f"the function {name}() is not supported here: {', '.join(FUNCTIONS)} are")
    if not isinstance(matrix, promql_parser.MatrixSelector):
        raise BadQuery(f"{name}() of a subquery is not supported here")
    window = matrix.range.total_seconds()
    if window <= 0:
        raise BadQuery(f"the range of {name}() is 0")
    return Selection(_matchers(matrix.vector_selector), name, window)


def _aggregation(found: promql_parser.AggregateExpr) -> Aggregation:
    how = str(found.op)
    if how not in AGGREGATIONS:
        raise BadQuery(f"{how} is not supported here: {', '.join(AGGREGATIONS)} are")
    modifier = found.modifier
    labels = tuple(modifier.labels) if modifier else ()
    without = modifier is not None and modifier.type == AggModifierType.Without
    return Aggregation(how, _expression(found.expr), labels, without)


def _arithmetic(found: promql_parser.BinaryExpr) -> Arithmetic:
    op = str(found.op)
    if op not in OPERATORS:
        raise BadQuery(f"the operator {op} is not supported here: {' '.join(OPERATORS)} are")
    return Arithmetic(op, _expression(found.lhs), _expression(found.rhs))


def _op(found: MatchOp) -> str:
    return next(text for op, text in _OPS if op == found)


def _matchers(found: promql_parser.VectorSelector) -> tuple[Matcher, ...]:
    if found.offset is not None or found.at is not None:
        raise BadQuery("offset and @ are not supported here")
    if found.matchers.or_matchers:
        raise BadQuery("matchers joined by or are not supported here: use =~")
    named = [Matcher("__name__", "=", found.name)] if found.name else []
    matchers = (*named, *(Matcher(one.name, _op(one.op), one.value) for one in found.matchers.matchers))
    for one in matchers:
        if one.op in ("=~", "!~"):
            try:
                _matches(one.value, "")
            except pa.ArrowInvalid as error:
                message = re.sub(r"^Invalid regular expression: ", "", str(error))
                raise BadQuery(f"{one.label}{one.op}{one.value[:80]!r}: {message}") from error
    return matchers


_KINDS: tuple[tuple[type[promql_parser.Expr], Callable[[Any], Expression]], ...] = (
    (promql_parser.NumberLiteral, lambda found: Number(found.val)),
    (promql_parser.UnaryExpr, lambda found: Arithmetic("*", Number(-1.0), _expression(found.expr))),
    (promql_parser.VectorSelector, lambda found: Selection(_matchers(found))),
    (promql_parser.Call, _function),
    (promql_parser.AggregateExpr, _aggregation),
    (promql_parser.BinaryExpr, _arithmetic),
)
