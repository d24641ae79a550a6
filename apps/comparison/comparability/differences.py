"""In what the sides of a comparison differ, the important first, and which of it withholds the verdict. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from apps.core.canonical import canonical_hash

NOT_KNOWN = "not known"
NOT_SET = "not set"
NONE = "none"
# Of values that a side's runs differ in, so many are told.
MOST_VALUES = 6


class Weight(StrEnum):
    """What a difference does: it withholds the verdict until a person accepts it, or it must be seen, or is noted."""

    WITHHOLDS = "withholds the verdict"
    IMPORTANT = "important"
    MINOR = "minor"


class FieldGroup(StrEnum):
    """What a field is about, in the order in which a reader asks. The first three withhold the verdict, each as a
    whole: a person accepts other hardware, another data set or other work, not one field of it."""

    HARDWARE = "hardware"
    DATASET = "dataset"
    WORKLOAD = "workload"
    MEMORY = "memory"
    VERSION = "version"
    TOPOLOGY = "topology"
    SETTINGS = "settings"
    VARIABLES = "variables"
    MEASUREMENT = "measurement"
    CLIENT = "client"
    SAMPLERS = "samplers"
    ORIGIN = "origin"
    DATE = "date"


TITLES = {
    FieldGroup.HARDWARE: "hardware",
    FieldGroup.DATASET: "data set",
    FieldGroup.WORKLOAD: "workload",
    FieldGroup.MEMORY: "memory against data",
    FieldGroup.VERSION: "platform and versions",
    FieldGroup.TOPOLOGY: "topology",
    FieldGroup.SETTINGS: "settings on purpose",
    FieldGroup.VARIABLES: "server variables",
    FieldGroup.MEASUREMENT: "how it was measured",
    FieldGroup.CLIENT: "load generator",
    FieldGroup.SAMPLERS: "what was sampled",
    FieldGroup.ORIGIN: "where the runs come from",
    FieldGroup.DATE: "date",
}
ACCEPTABLE = (FieldGroup.HARDWARE, FieldGroup.DATASET, FieldGroup.WORKLOAD)


@dataclass(frozen=True)
class Fact:
    """What is known of one side in one field. `values`: several where its runs differ among themselves, none where
    nobody knows. `missing`: the word for a side that has no such field. `number` with `tolerance` (a share): sizes so
    near each other are no difference. `mark`: a word on the value, for example that it is the server's default.
    `hidden`: why it is not shown at first; shown after all where another side's is not hidden. `short`: what is shown
    of a long value, where that tells the sides apart.
    """

    field: str
    label: str
    group: FieldGroup
    weight: Weight
    values: tuple[str, ...]
    missing: str = NOT_KNOWN
    number: float | None = None
    tolerance: float = 0.0
    mark: str = ""
    hidden: str = ""
    short: str = ""

    @property
    def text(self) -> str:
        if self.short:
            return self.short
        told, rest = self.values[:MOST_VALUES], self.values[MOST_VALUES:]
        return " or ".join([*told, *([f"{len(rest)} more"] if rest else [])]) or NOT_KNOWN

    @property
    def full(self) -> str:
        return " or ".join(self.values) or NOT_KNOWN


@dataclass(frozen=True)
class Difference:
    """One field in which the sides differ; `values` in the order of the sides, as words; `marks` belong to them.

    `hidden`: why it is not shown at first; empty: it is.
    """

    field: str
    label: str
    weight: Weight
    values: tuple[str, ...]
    group: FieldGroup = FieldGroup.VARIABLES
    marks: tuple[str, ...] = ()
    hidden: str = ""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Value and mark of each side."""
        marks = self.marks or ("",) * len(self.values)
        return tuple(zip(self.values, marks, strict=True))


@dataclass(frozen=True)
class AcceptedDifference:
    """That a person compares in spite of it: who, when and why."""

    id: int
    by: str
    at: datetime
    reason: str


@dataclass(frozen=True)
class Obstacle:
    """Why the verdict on one side is withheld until it is `accepted`: a group in which it differs from the baseline.

    `fingerprint` names what a person accepts: the group, the two systems and their values, in no order, so that it is
    the same whichever of the two is the baseline; another value is another obstacle. `said` is the same to read.
    """

    side: str
    group: FieldGroup
    fields: tuple[tuple[str, str, str], ...]  # (label, the side's value, the baseline's)
    fingerprint: str
    said: dict[str, Any]
    accepted: AcceptedDifference | None = None

    @property
    def title(self) -> str:
        return TITLES[self.group]


def differences(sides: Sequence[Sequence[Fact]], besides: Iterable[Difference] = ()) -> tuple[Difference, ...]:
    """All fields in which any two sides differ, by weight, then by group, then in the order in which they were told.
    `besides`: those that are found already."""
    weights, groups = list(Weight), list(FieldGroup)
    found = (*_differing(sides), *besides)
    return tuple(sorted(found, key=lambda each: (weights.index(each.weight), groups.index(each.group))))


def _differing(sides: Sequence[Sequence[Fact]]) -> list[Difference]:
    known = [{fact.field: fact for fact in side} for side in sides]
    found = []
    for field in dict.fromkeys(fact.field for side in sides for fact in side):
        facts = [side.get(field) for side in known]
        told = [fact for fact in facts if fact is not None]
        missing = told[0].missing
        values = tuple(missing if fact is None else fact.text for fact in facts)
        if len(set(values)) < len({fact and fact.values for fact in facts}):  # shortened, two of them read the same
            values = tuple(missing if fact is None else fact.full for fact in facts)
        if len({fact and fact.values for fact in facts}) == 1 or _are_near(facts):
            continue
        found.append(
            Difference(
                field=field,
                label=told[0].label,
                weight=min((fact.weight for fact in told), key=list(Weight).index),
                values=values,
                group=told[0].group,
                marks=tuple(fact.mark if fact else "" for fact in facts),
                hidden=told[0].hidden if all(fact.hidden for fact in told) else "",
            )
        )
    return found


def _are_near(facts: Sequence[Fact | None]) -> bool:
    numbers = [fact.number for fact in facts if fact is not None and fact.number is not None]
    if len(numbers) < len(facts) or min(numbers) <= 0:
        return False
    return max(numbers) <= min(numbers) * (1 + max(fact.tolerance for fact in facts if fact))


def obstacles(found: Sequence[Difference], sides: Sequence[tuple[str, str]]) -> tuple[Obstacle, ...]:
    """What withholds verdicts, side by side after the baseline. `sides`: key and system's slug of each side."""
    return tuple(
        _obstacle(key, group, fields, (system, place), sides[0][1])
        for place, (key, system) in enumerate(sides)
        for group in ACCEPTABLE
        if (fields := _withholding(found, group, place))
    )


def _withholding(found: Sequence[Difference], group: FieldGroup, place: int) -> list[Difference]:
    return [
        each
        for each in found
        if each.weight is Weight.WITHHOLDS and each.group is group and each.values[place] != each.values[0]
    ]


def _obstacle(
    key: str, group: FieldGroup, fields: Sequence[Difference], side: tuple[str, int], baseline: str
) -> Obstacle:
    system, place = side
    both = [
        {"system": slug, "values": {each.field: each.values[at] for each in fields}}
        for slug, at in ((baseline, 0), (system, place))
    ]
    both.sort(key=canonical_hash)
    labels = {each.field: each.label for each in fields}
    return Obstacle(
        side=key,
        group=group,
        fields=tuple((each.label, each.values[place], each.values[0]) for each in fields),
        fingerprint=canonical_hash({"group": group.value, "sides": both}),
        said={"group": group.value, "sides": both, "labels": labels},
    )


def mixtures(side: Iterable[Fact]) -> tuple[str, ...]:
    """In what the runs of one side differ among themselves, as phrases."""
    return tuple(f"{fact.label[0].lower()}{fact.label[1:]} {fact.text}" for fact in side if len(fact.values) > 1)
