"""Privileges on one schema, from the lines of SHOW GRANTS. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterable

ALL = "ALL PRIVILEGES"
# Of whole schemas only: not of tables, columns, routines, roles and proxies.
LINE = re.compile(
    r"(?P<verb>GRANT|REVOKE) (?P<what>.+?) ON (?P<where>\*|`(?:[^`]|``)+`|\"(?:[^\"]|\"\")+\"|[^\s.`\"]+)\.\*"
    r" (?:TO|FROM) (?P<who>\S+)",
    re.IGNORECASE,
)
EVERY = "*"


def privileges_on(schema: str, grants: Iterable[str]) -> frozenset[str]:
    """In capitals. Of an account's or role's rows for schemas the server uses only the most specific that fits."""
    everywhere: dict[str, set[str]] = defaultdict(set)
    revoked: dict[str, set[str]] = defaultdict(set)
    fitting: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for line in grants:
        found = LINE.match(line.strip())
        if found is None:
            continue
        where, who = _unquoted(found["where"]), found["who"]
        what = {" ".join(each.upper().split()) for each in found["what"].split(",")}
        if found["verb"].upper() == "REVOKE":  # MySQL's partial one, of a privilege that the account has everywhere
            if where == schema:
                revoked[who] |= what
        elif where == EVERY:
            everywhere[who] |= what
        elif _pattern(where).fullmatch(schema):
            fitting[who][where] |= what
    own: set[str] = set()
    for who in {*everywhere, *fitting}:
        rows = fitting[who]
        own |= everywhere[who] - revoked[who]
        own |= rows[min(rows, key=_generality)] if rows else set()
    return frozenset(own)


def lacking(needed: Iterable[str], granted: frozenset[str]) -> list[str]:
    return [] if ALL in granted else sorted(set(needed) - granted)


def _unquoted(name: str) -> str:
    quote = name[0]
    return name[1:-1].replace(quote * 2, quote) if quote in '`"' else name


def _parts(pattern: str) -> list[str]:
    r"""Characters, escaped ones (`\_`) with their backslash."""
    return re.findall(r"\\.|.", pattern, re.DOTALL)


def _pattern(name: str) -> re.Pattern[str]:
    meant = {"%": ".*", "_": "."}
    return re.compile("".join(meant.get(part, re.escape(part[-1])) for part in _parts(name)), re.DOTALL)


def _generality(name: str) -> tuple[bool, int]:
    """The server sorts its rows so: those without wildcards first, then those whose first wildcard comes latest."""
    parts = _parts(name)
    first = next((place for place, part in enumerate(parts) if part in ("%", "_")), None)
    return first is not None, -(first or 0)
