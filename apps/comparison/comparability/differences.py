"""Differences between the sides of a comparison, the important first, and which withhold the verdict. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from apps.core.answers import Hidden, Name, OneOf
from apps.core.canonical import canonical_hash

NOT_KNOWN = "not known"
NOT_SET = "not set"
NONE = "none"
# Of a role that a side has no node in: that is a difference of topology, between it and the others none of hardware.
NO_NODE = "no such node"
# Before the value that a server has without being told, as a mark.
IS = "is "
# Values listed where the runs of one side differ.
MOST_VALUES = 6


class Weight(StrEnum):
    """Effect of a difference: it withholds the verdict until a person accepts it, or is important, or only noted."""

    WITHHOLDS = "withholds the verdict"
    IMPORTANT = "important"
    MINOR = "minor"


class FieldGroup(StrEnum):
    """Subject of a field, in display order. The first three withhold the verdict, each as a whole: a person accepts
    other hardware, another data set or other work, not one field of it."""

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
    FieldGroup.MEMORY: "memory and data",
    FieldGroup.VERSION: "platform and versions",
    FieldGroup.TOPOLOGY: "topology",
    FieldGroup.SETTINGS: "intended settings",
    FieldGroup.VARIABLES: "server variables",
    FieldGroup.MEASUREMENT: "measurement",
    FieldGroup.CLIENT: "load generator",
    FieldGroup.SAMPLERS: "sampling",
    FieldGroup.ORIGIN: "origin of the runs",
    FieldGroup.DATE: "date",
}
ACCEPTABLE = (FieldGroup.HARDWARE, FieldGroup.DATASET, FieldGroup.WORKLOAD)


@dataclass(frozen=True)
class Fact:
    """Value of one field for one side. `values`: several if its runs differ, none if unknown. `missing`: the text for
    a side without this field. `tolerance` (a share): sizes (`number`) this near each other do not differ. `mark`: a
    word beside the value, for example that it is the server's default. `hidden`: why it is collapsed at first; shown
    if another side's is not hidden. `short`: abbreviation of a long value, used where it still differs between sides.
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
        found, rest = self.values[:MOST_VALUES], self.values[MOST_VALUES:]
        return " or ".join([*found, *([f"{len(rest)} more"] if rest else [])]) or NOT_KNOWN

    @property
    def full(self) -> str:
        return " or ".join(self.values) or NOT_KNOWN


def differing_entries(values: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Of lists, such as optimizer_switch, the entries of each that the others do not all have; empty: no lists."""
    if not all("," in value for value in values):
        return ()
    entries = [value.split(",") for value in values]
    shared = set[str].intersection(*map(set, entries))
    return tuple(tuple(one for one in own if one not in shared) for own in entries)


@dataclass(frozen=True)
class Difference:
    """One field in which the sides differ."""

    field: str
    label: str
    weight: Weight
    values: Annotated[tuple[str, ...], "in the order of the sides"]
    group: Annotated[FieldGroup, "subject of the field"] = FieldGroup.VARIABLES
    marks: Annotated[tuple[str, ...], 'on the values, for example "default"'] = ()
    hidden: Annotated[str, "why pages collapse it at first; empty: not collapsed"] = ""

    def is_from_baseline(self, place: int) -> bool:
        """Whether the side at `place` differs from the first one."""
        pair = {self.values[0], self.values[place]}
        return len(pair) == 2 and NO_NODE not in pair

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Value and mark of each side."""
        marks = self.marks or ("",) * len(self.values)
        return tuple(zip(self.values, marks, strict=True))

    @property
    def cells(self) -> tuple[tuple[str, str, tuple[str, ...] | None], ...]:
        """Value and mark of each side, and of a list the entries that not all sides have; None: it is no list."""
        entries = differing_entries(self.values) or (None,) * len(self.values)
        return tuple((value, mark, own) for (value, mark), own in zip(self.pairs, entries, strict=True))

    @property
    def in_effect(self) -> tuple[str, ...]:
        """What the sides' servers have, also those that do not set it; empty: not known."""
        return tuple(mark.removeprefix(IS) if value == NOT_SET else value for value, mark in self.pairs)

    @property
    def is_same_in_effect(self) -> bool:
        """Whether what one side sets on purpose is what the others' servers have without it."""
        have = set(self.in_effect)
        return len(have) == 1 and have != {""}


@dataclass(frozen=True)
class AcceptedDifference:
    """Acknowledgement of a difference: who, when and why."""

    id: Annotated[int, "of the acknowledgement"]
    by: str
    at: datetime
    reason: str


@dataclass(frozen=True)
class BlockingDifference:
    """Blocking difference: a group in which a side differs from the baseline; withholds its verdict until `accepted`.

    `fingerprint` is the hash of what a person accepts: the group, the two systems and their values, in no order, so
    that it is the same whichever is the baseline; another value gives another hash. `said`: the same, readable.
    """

    side: str
    group: Annotated[FieldGroup, OneOf(ACCEPTABLE)]
    fields: Annotated[
        tuple[tuple[str, str, str], ...],
        Name("differences"),
        "of each field its label, the side's value, the baseline's",
    ]
    fingerprint: Annotated[str, "of what is accepted: the group, both systems and their values"]
    said: Hidden[dict[str, Any]]
    accepted: Annotated[AcceptedDifference | None, "null: not accepted; verdicts on this side are withheld"] = None

    @property
    def title(self) -> str:
        return TITLES[self.group]


def differences(sides: Sequence[Sequence[Fact]], besides: Iterable[Difference] = ()) -> tuple[Difference, ...]:
    """All fields in which any two sides differ, by weight, then by group, then in the order of the facts. `besides`:
    differences found elsewhere."""
    weights, groups = list(Weight), list(FieldGroup)
    found = (*_differing(sides), *besides)
    return tuple(sorted(found, key=lambda each: (weights.index(each.weight), groups.index(each.group))))


def _differing(sides: Sequence[Sequence[Fact]]) -> list[Difference]:
    known = [{fact.field: fact for fact in side} for side in sides]
    found = []
    for field in dict.fromkeys(fact.field for side in sides for fact in side):
        facts = [side.get(field) for side in known]
        rows = [fact for fact in facts if fact is not None]
        missing = rows[0].missing
        values = tuple(missing if fact is None else fact.text for fact in facts)
        if len(set(values)) < len({fact and fact.values for fact in facts}):  # two shortened values are equal
            values = tuple(missing if fact is None else fact.full for fact in facts)
        compared = rows if missing == NO_NODE else facts
        if len({fact and fact.values for fact in compared}) == 1 or _are_near(facts):
            continue
        difference = Difference(
            field=field,
            label=rows[0].label,
            weight=min((fact.weight for fact in rows), key=list(Weight).index),
            values=values,
            group=rows[0].group,
            marks=tuple(fact.mark if fact else "" for fact in facts),
            hidden=rows[0].hidden if all(fact.hidden for fact in rows) else "",
        )
        is_noted = difference.group is FieldGroup.SETTINGS and difference.is_same_in_effect
        if missing == NO_NODE and not any(difference.is_from_baseline(place) for place in range(len(values))):
            difference = replace(difference, weight=Weight.IMPORTANT)
        found.append(replace(difference, weight=Weight.MINOR) if is_noted else difference)
    return found


def _are_near(facts: Sequence[Fact | None]) -> bool:
    numbers = [fact.number for fact in facts if fact is not None and fact.number is not None]
    if len(numbers) < len(facts) or min(numbers) <= 0:
        return False
    return max(numbers) <= min(numbers) * (1 + max(fact.tolerance for fact in facts if fact))


def blocking_differences(
    found: Sequence[Difference], sides: Sequence[tuple[str, str]]
) -> tuple[BlockingDifference, ...]:
    """Blocking differences by side, without the baseline. `sides`: key and system slug of each side."""
    return tuple(
        _blocking_difference(key, group, fields, (system, place), sides[0][1])
        for place, (key, system) in enumerate(sides)
        for group in ACCEPTABLE
        if (fields := _withholding(found, group, place))
    )


def _withholding(found: Sequence[Difference], group: FieldGroup, place: int) -> list[Difference]:
    return [
        each
        for each in found
        if each.weight is Weight.WITHHOLDS and each.group is group and each.is_from_baseline(place)
    ]


def _blocking_difference(
    key: str, group: FieldGroup, fields: Sequence[Difference], side: tuple[str, int], baseline: str
) -> BlockingDifference:
    system, place = side
    both = [
        {"system": slug, "values": {each.field: each.values[at] for each in fields}}
        for slug, at in ((baseline, 0), (system, place))
    ]
    both.sort(key=canonical_hash)
    labels = {each.field: each.label for each in fields}
    return BlockingDifference(
        side=key,
        group=group,
        fields=tuple((each.label, each.values[place], each.values[0]) for each in fields),
        fingerprint=canonical_hash({"group": group.value, "sides": both}),
        said={"group": group.value, "sides": both, "labels": labels},
    )


def mixtures(side: Iterable[Fact]) -> tuple[str, ...]:
    """Fields in which the runs of one side differ, as phrases."""
    return tuple(f"{fact.label[0].lower()}{fact.label[1:]} {fact.text}" for fact in side if len(fact.values) > 1)
