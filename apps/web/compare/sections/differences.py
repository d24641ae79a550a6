"""Configuration differences of the sides: a one-sentence summary above the full list."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from apps.comparison.pure import (
    DEFAULT,
    NOT_SET,
    PLACE,
    PROVIDER_OPTIONS,
    TITLES,
    Comparison,
    Difference,
    FieldGroup,
    Weight,
)
from apps.core.text import counted
from apps.web.compare.view import CompareView

# Limits of the sentence: number of differences, and length of a value.
NAMED_DIFFERENCES = 4
LONGEST_VALUE = 32
OPTIONS = f"variables.{PROVIDER_OPTIONS}."
FEWEST_FOLDED = 4
# Number of hidden differences that are named.


@dataclass(frozen=True)
class DifferenceLabel:
    """A difference in the summary: `values` in the order of the sides, empty if shown elsewhere."""

    label: str
    values: str
    title: str


@dataclass(frozen=True)
class DifferenceSummary:
    """`named`: important differences; `more`: how many more are important; `minor`: the others, some as counts."""

    named: tuple[DifferenceLabel, ...]
    more: int
    minor: tuple[str, ...]


@dataclass(frozen=True)
class Folded:
    """One row for Galera provider options that a side lacks and all others share.

    `sides`: (name, value) of each option, by side.
    """

    label: str
    weight: Weight
    sides: tuple[tuple[tuple[str, str], ...], ...]


@dataclass(frozen=True)
class DifferenceSection:
    """Differences of one group, the most important first."""

    title: str
    rows: tuple[Difference, ...]
    folded: Folded | None = None


@dataclass(frozen=True)
class HiddenDifferences:
    """Number of differences hidden for one reason."""

    reason: str
    count: int


def context(seen: CompareView) -> dict[str, Any]:
    every = seen.address.option("variables") == "all"
    found = seen.comparison.differences
    shown = [each for each in found if every or not each.hidden]
    order = list(FieldGroup)
    by_group = groupby(sorted(shown, key=lambda each: order.index(each.group)), key=lambda each: each.group)
    return {
        "summary": summary(seen.comparison),
        "sections": [_section(group, list(rows)) for group, rows in by_group],
        "shown": len(shown),
        "hidden": [
            _hidden(reason, found) for reason in (DEFAULT, PLACE) if any(each.hidden == reason for each in found)
        ],
        "every": every,
        "every_url": seen.address.with_option("variables", "" if every else "all").url() + "#differences",
        "knows_defaults": any("default" in mark for each in found for mark in each.marks),
        "has_variables": any(each.field.startswith("variables.") for each in found),
    }


def summary(comparison: Comparison) -> DifferenceSummary:
    """Summary of the differences in one sentence. Values of blocking differences are in the warning instead."""
    shown = [each for each in comparison.differences if not each.hidden]
    important = [each for each in shown if each.weight is Weight.IMPORTANT]
    groups = dict.fromkeys(each.group for each in shown if each.weight is Weight.WITHHOLDS)
    minor = [each for each in shown if each.weight is Weight.MINOR]
    variables = sum(each.group is FieldGroup.VARIABLES for each in minor)
    counts = [counted(variables, "server variable")] if variables else []
    others = [each.label[0].lower() + each.label[1:] for each in minor if each.group is not FieldGroup.VARIABLES]
    named = [DifferenceLabel(TITLES[group], "", "") for group in groups]
    named += [_named(each) for each in important[:NAMED_DIFFERENCES]]
    return DifferenceSummary(tuple(named), max(0, len(important) - NAMED_DIFFERENCES), (*others, *counts))


def _named(difference: Difference) -> DifferenceLabel:
    """Settings and variables keep their names, other labels start in lower case."""
    label = difference.label
    name = label if difference.group in (FieldGroup.SETTINGS, FieldGroup.VARIABLES) else label[0].lower() + label[1:]
    shown = [value if own is None else ",".join(own) for value, _, own in difference.cells]
    short = [value if len(value) <= LONGEST_VALUE else f"{value[:LONGEST_VALUE]}…" for value in shown]
    return DifferenceLabel(name, " / ".join(short), " / ".join(difference.values))


def _section(group: FieldGroup, rows: Sequence[Difference]) -> DifferenceSection:
    options = [each for each in rows if each.field.startswith(OPTIONS)]
    places = range(len(rows[0].values))
    without = {place for place in places if all(each.values[place] == NOT_SET for each in options)}
    alike = [each for each in options if len({each.values[place] for place in places if place not in without}) == 1]
    if not without or len(alike) < FEWEST_FOLDED:
        return DifferenceSection(TITLES[group].capitalize(), tuple(rows))
    folded = Folded(
        label=f"{PROVIDER_OPTIONS}, {len(alike):,} of them",
        weight=min((each.weight for each in alike), key=list(Weight).index),
        sides=tuple(
            () if place in without else tuple((each.label, each.values[place]) for each in alike) for place in places
        ),
    )
    return DifferenceSection(TITLES[group].capitalize(), tuple(each for each in rows if each not in alike), folded)


def _hidden(reason: str, found: Sequence[Difference]) -> HiddenDifferences:
    return HiddenDifferences(reason, sum(each.hidden == reason for each in found))
