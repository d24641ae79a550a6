"""Formulas over metrics, limited for safety to + - * /, min(…, …), parentheses, numbers and metric keys. Pure.

Keys are delimited by blanks or parentheses. A `*` in a key means the sum over all matching keys; a word in angle
brackets (`host.disk.<disk>.reads`) stands for the same text in every key of the formula and in the metric's own key.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_KEY = re.compile(r"(?<![\w.<>*])(?!min\()[A-Za-z][^\s(),]*")
_WORD = re.compile(r"<[a-z]+>")


class BadFormula(ValueError):
    """The text is not a formula."""


@dataclass(frozen=True)
class Formula:
    """A parsed formula. Raises BadFormula when `text` cannot be parsed."""

    text: str

    def __post_init__(self) -> None:
        _check(self._tree)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The distinct keys as written."""
        return tuple(dict.fromkeys(_KEY.findall(self.text)))

    @cached_property
    def _tree(self) -> ast.expr:
        names = {key: f"k{place}" for place, key in enumerate(self.inputs)}
        try:
            return ast.parse(_KEY.sub(lambda key: names[key.group()], self.text).strip(), mode="eval").body
        except (SyntaxError, ValueError) as error:
            raise BadFormula(f"{self.text!r} cannot be read: {error}") from error

    def evaluate(self, values: Mapping[str, Floats]) -> Floats:
        """`values` of all inputs, of equal length. NaN: not observed; division by zero is NaN too."""
        found = _evaluate(self._tree, [values[key] for key in self.inputs])
        return np.where(np.isfinite(found), found, np.nan)


def with_keys(text: str, renamed: Callable[[str], str]) -> str:
    return _KEY.sub(lambda key: renamed(key.group()), text)


def words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_WORD.findall(text)))


def fill(text: str, placeholders: Mapping[str, str]) -> str:
    """`text` with its words in angle brackets replaced."""
    return _WORD.sub(lambda word: placeholders.get(word.group(), word.group()), text)


def placeholders(pattern: str, key: str) -> dict[str, str] | None:
    """The text that each word of `pattern` stands for in `key`; None: no match."""
    found = _form(pattern).fullmatch(key) if key.startswith(_start(pattern)) else None
    return {f"<{name}>": text for name, text in found.groupdict().items()} if found else None


def fitting(pattern: str, keys: Iterable[str]) -> list[str]:
    """The `keys` that match a key with a `*`, in their order."""
    matches, start = _form(pattern).fullmatch, _start(pattern)
    return [key for key in keys if key.startswith(start) and matches(key)]


def has_all(inputs: Iterable[str], keys: Collection[str]) -> bool:
    """Whether `keys` contain every input; for an input with a `*`, at least one match."""
    return all(any(True for _ in fitting(each, keys)) if "*" in each else each in keys for each in inputs)


@lru_cache
def _start(pattern: str) -> str:
    """What every match begins with: far quicker to compare than a pattern."""
    return re.split(r"[*<]", pattern, maxsplit=1)[0]


@lru_cache
def _form(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*|<[a-z]+>)", pattern)
    groups = {"*": ".+"}
    return re.compile(
        "".join(
            groups.get(part) or (f"(?P<{part[1:-1]}>.+)" if _WORD.fullmatch(part) else re.escape(part))
            for part in parts
        )
    )


# ---------------------------------------------------------------- evaluation


def _divide(over: Floats, under: Floats) -> Floats:
    over, under = np.broadcast_arrays(over, under)
    found: Floats = np.full(over.shape, np.nan)
    return np.divide(over, under, out=found, where=under != 0)


_OPERATORS: dict[type[ast.operator], Callable[[Floats, Floats], Floats]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: _divide,
}


def _check(node: ast.expr) -> None:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        _check(node.left)
        _check(node.right)
    elif isinstance(node, ast.Call) and _is_least(node):
        _check(node.args[0])
        _check(node.args[1])
    elif not (isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and type(node.value) in (int, float))):
        raise BadFormula(f"a formula holds keys, numbers, + - * /, min and parentheses, not {ast.unparse(node)!r}")


def _is_least(call: ast.Call) -> bool:
    """Whether `call` is min(a, b). Keys are k0, k1 … here, so none is called min."""
    return isinstance(call.func, ast.Name) and call.func.id == "min" and len(call.args) == 2 and not call.keywords


def _evaluate(node: ast.expr, values: list[Floats]) -> Floats:
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_evaluate(node.left, values), _evaluate(node.right, values))
    if isinstance(node, ast.Call):
        return np.minimum(_evaluate(node.args[0], values), _evaluate(node.args[1], values))
    if isinstance(node, ast.Name):
        return values[int(node.id[1:])]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return np.asarray(node.value, np.float64)
    raise BadFormula(ast.dump(node))
