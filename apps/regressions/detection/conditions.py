"""Runs from which on the conditions of a series differ: a change there is not caused by the server. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Planned warm-ups and lengths, and sizes of the data, within these shares of each other count as equal.
LENGTH, SIZE = 0.02, 0.1
MOST_NAMED = 3
# What takes turns in a pool: the detector takes its effects out.
TURNS = MACHINE, ZONE = "load generator's name", "writer's zone"


@dataclass(frozen=True)
class Conditions:
    """Conditions of one run. `warmup` and `duration` in s as planned, `data` in bytes, `host`: lasting facts of the
    load generator's host; `zone`: the writer's. None, an empty text or an absent fact: unknown, which is no
    difference."""

    warmup: float | None = None
    duration: float | None = None
    data: float | None = None
    tool: str = ""
    host: Mapping[str, Any] | None = None
    zone: str = ""


def resets(runs: Sequence[Conditions]) -> dict[int, str]:
    """Run index -> differences of its conditions, as text. A run is compared with everything known of the runs since
    the last reset, so that runs with missing facts do not hide a difference. Another load generator of a pool, whose
    machines return, is no difference, and another zone of the writer to which it returns is none."""
    found: dict[int, str] = {}
    known: dict[str, Any] = {}
    facts = [dict(_facts(conditions)) for conditions in runs]
    last = {(name, own[name]): number for number, own in enumerate(facts) for name in TURNS if name in own}
    returns = dict.fromkeys(TURNS, -1)  # the last run of any machine, or zone, seen so far
    for number, own in enumerate(facts):
        for name in [name for name in TURNS if name in own]:
            until = returns[name]
            returns[name] = max(until, last[name, own[name]])
            if until >= number:
                own.pop(name)
        differences = [
            f"{name} {_text(name, own[name])} instead of {_text(name, known[name])}"
            for name in own
            if _differs(name, known.get(name), own[name])
        ]
        if differences:
            rest = len(differences) - MOST_NAMED
            found[number] = ", ".join(differences[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
            known = own
        else:
            known = {**own, **known}
    return found


def _facts(conditions: Conditions) -> Iterator[tuple[str, Any]]:
    plain = {
        "planned warm-up": conditions.warmup,
        "planned length": conditions.duration,
        "size of the data": conditions.data,
        "load tool": conditions.tool or None,
        ZONE: conditions.zone or None,
    }
    yield from ((name, value) for name, value in plain.items() if value is not None)
    yield from ((f"load generator's {name}", value) for name, value in sorted((conditions.host or {}).items()))


def _differs(name: str, known: Any, own: Any) -> bool:
    if known is None or known == own:
        return False
    tolerance = {"planned warm-up": LENGTH, "planned length": LENGTH, "size of the data": SIZE}.get(name)
    return tolerance is None or abs(own - known) > tolerance * max(abs(known), abs(own))


def _text(name: str, value: Any) -> str:
    if name == "size of the data" or name.endswith("_bytes"):
        return f"{value / 2**30:,.3g} GiB"
    if name.startswith("planned"):
        return f"{value:g} s"
    return f"{value:g}" if isinstance(value, int | float) else str(value)
