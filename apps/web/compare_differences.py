"""In what the sides of a comparison differ, group by group: everything that is recorded, the usual folded away."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from apps.comparison.comparability import TITLES, Difference, Group
from apps.comparison.variables import DEFAULT, PLACE, WEIGHTY
from apps.web.compare_seen import Seen

# Hidden ones that are named beside their number.
NAMED_HIDDEN = 5


@dataclass(frozen=True)
class Section:
    """Differences of one group, the weighty first."""

    title: str
    rows: tuple[Difference, ...]


@dataclass(frozen=True)
class Hidden:
    """How many are not shown for a reason, and the weighty ones among them by name."""

    reason: str
    count: int
    named: str


def context(seen: Seen) -> dict[str, Any]:
    every = seen.address.option("variables") == "all"
    found = seen.comparison.differences
    shown = [each for each in found if every or not each.hidden]
    order = list(Group)
    by_group = groupby(sorted(shown, key=lambda each: order.index(each.group)), key=lambda each: each.group)
    return {
        "sections": [Section(TITLES[group].capitalize(), tuple(rows)) for group, rows in by_group],
        "shown": len(shown),
        "hidden": [
            _hidden(reason, found) for reason in (DEFAULT, PLACE) if any(each.hidden == reason for each in found)
        ],
        "every": every,
        "every_url": seen.address.with_option("variables", "" if every else "all").url() + "#differences",
        "knows_defaults": any("default" in mark for each in found for mark in each.marks),
        "has_variables": any(each.field.startswith("variables.") for each in found),
    }


def _hidden(reason: str, found: Sequence[Difference]) -> Hidden:
    own = [each for each in found if each.hidden == reason]
    weighty = [each.label for each in own if each.label in WEIGHTY]
    more = ", …" if len(weighty) > NAMED_HIDDEN else ""
    return Hidden(reason, len(own), ", ".join(weighty[:NAMED_HIDDEN]) + more)
