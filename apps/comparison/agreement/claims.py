"""Which tools bear a claim out: a side, better or worse than the baseline under a kind of load, and who says so.

One tool proves nothing. A witness is a workload; those whose load the same program makes are one witness together,
however many there are. What articles state stands beside them and is never counted.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.comparison import verdict_table
from apps.comparison.agreement import published_evidence
from apps.comparison.agreement.published_evidence import StatedWitness
from apps.comparison.matrix import PRIMARY, Many, ManySide, compare_many
from apps.comparison.sections.section import Section
from apps.comparison.selection.sides import FEWEST_SIDES
from apps.comparison.stats.welch import Verdict
from apps.comparison.values import Cell, ComparedMetric, ComparedWorkload, Comparison, Level
from workers.protocol.workloads.kinds import KINDS, generator_of, kind_of

BETTER, WORSE, EQUIVALENT = "better", "worse", Verdict.EQUIVALENT.value
DEPENDS, CANNOT_TELL = "depends on the load", "cannot tell"
CONTESTED, WITHHELD = "contested", verdict_table.WITHHELD
# What neither supports nor contradicts anything.
SILENT = (CANNOT_TELL, WITHHELD)
# What a witness may say that supports a claim; first what says most.
CLAIMS = (BETTER, WORSE, EQUIVALENT)


@dataclass(frozen=True)
class Testimony:
    """A load level and the cell of the matrix there."""

    level: Level
    cell: Cell


@dataclass(frozen=True)
class Witness:
    """A workload in its own headline metric. `says` of the side: better or worse where a level says so and none the
    opposite, equivalent where every level says so, else that it depends on the load, cannot tell, or is withheld."""

    workload: ComparedWorkload
    program: str
    metric: ComparedMetric
    testimony: tuple[Testimony, ...]
    says: str


@dataclass(frozen=True)
class SideClaim:
    """What can be claimed of a side under one kind of load: better, worse or equivalent; contested where programs
    contradict each other; else what all witnesses say alike.

    `agree`, `contradict` and `cannot_tell` are witnesses, those that say it depends on the load among those that
    contradict. `programs` are those of `agree`: one of them is `alone`.
    """

    side: str
    kind: str
    says: str
    agree: tuple[Witness, ...]
    contradict: tuple[Witness, ...]
    cannot_tell: tuple[Witness, ...]
    stated: tuple[StatedWitness, ...]
    programs: tuple[str, ...]

    @property
    def kind_words(self) -> str:
        return KINDS[self.kind]

    @property
    def is_measured(self) -> bool:
        """Otherwise only articles speak of it."""
        return bool(self.agree or self.contradict or self.cannot_tell)

    @property
    def is_claimed(self) -> bool:
        return self.says in CLAIMS

    @property
    def alone(self) -> bool:
        return self.is_claimed and len(self.programs) == 1


@dataclass(frozen=True)
class Corroboration:
    """Claims about each side but the baseline, in the order of sides and kinds. `tests`: cells judged at once, since
    verdicts are corrected for the number of all workloads together."""

    sides: tuple[ManySide, ...]
    claims: tuple[SideClaim, ...]
    tests: int
    notes: tuple[str, ...]


def corroborate(systems: Sequence[str], *, campaign: int | None = None) -> Corroboration | None:
    """`systems`: slugs, the first is the baseline. None with fewer than two of them. A constant number of queries."""
    chosen = list(dict.fromkeys(systems))
    if len(chosen) < FEWEST_SIDES:
        return None
    many = compare_many(sides=chosen, metrics=[PRIMARY], campaign=campaign)
    about = {
        side.slug: published_evidence.stated_about(side.platform_slug, many.sides[0].platform_slug)
        for side in many.sides[1:]
    }
    return Corroboration(many.sides, claims(many, about), many.tests, many.notes)


def claims(many: Many, about: Mapping[str, Mapping[str, tuple[StatedWitness, ...]]]) -> tuple[SideClaim, ...]:
    """`about`: side -> kind -> what articles state. A kind of which only articles speak has no witnesses."""
    found = []
    for place, side in enumerate(many.sides[1:], start=1):
        witnesses = _witnesses(many, place)
        said = about.get(side.slug, {})
        found += [
            _claim(side.slug, kind, witnesses[kind], said.get(kind, ()))
            for kind in KINDS
            if witnesses[kind] or said.get(kind)
        ]
    return tuple(found)


def _witnesses(many: Many, place: int) -> dict[str, list[Witness]]:
    """Kind -> workloads that the side at `place` ran."""
    rows = defaultdict(list)
    for row in many.rows:
        rows[row.workload.id].append(row)
    found: dict[str, list[Witness]] = defaultdict(list)
    for own in rows.values():
        testimony = tuple(Testimony(row.level, row.cells[place]) for row in own if row.cells[place].replicates)
        if testimony:
            first = own[0]
            workload = first.workload
            found[kind_of(workload.tool, workload.parameters)].append(
                Witness(workload, generator_of(workload.tool), first.metric, testimony, says(testimony))
            )
    return found


def says(testimony: Sequence[Testimony]) -> str:
    """What the load levels of one workload say together."""
    words = {each.cell.words for each in testimony}
    if WITHHELD in words:
        return WITHHELD
    if {BETTER, WORSE} <= words:
        return DEPENDS
    if words == {EQUIVALENT}:
        return EQUIVALENT
    return next((claim for claim in (BETTER, WORSE) if claim in words), CANNOT_TELL)


def _claim(side: str, kind: str, witnesses: Sequence[Witness], stated: tuple[StatedWitness, ...]) -> SideClaim:
    said = _together(witnesses)
    supported = said if said in CLAIMS else DEPENDS if said == DEPENDS else ""
    agree = tuple(each for each in witnesses if each.says == supported)
    return SideClaim(
        side=side,
        kind=kind,
        says=said,
        agree=agree,
        contradict=tuple(each for each in witnesses if each.says not in (supported, *SILENT)),
        cannot_tell=tuple(each for each in witnesses if each.says in SILENT),
        stated=stated,
        programs=tuple(sorted({each.program for each in agree})),
    )


def _together(witnesses: Sequence[Witness]) -> str:
    """The claim that most programs support; contested where as many say the opposite."""
    programs = {claim: {each.program for each in witnesses if each.says == claim} for claim in (*CLAIMS, DEPENDS)}
    if not any(programs.values()):
        return WITHHELD if any(each.says == WITHHELD for each in witnesses) else CANNOT_TELL
    most = max(len(found) for found in programs.values())
    leading = [claim for claim, found in programs.items() if len(found) == most]
    return leading[0] if len(leading) == 1 else CONTESTED


def corroboration_of(comparison: Comparison) -> Corroboration | None:
    """Of the comparison's systems, from all workloads that they share (in its campaign, if it has one)."""
    campaign = comparison.campaign.id if comparison.campaign else None
    return corroborate([side.system for side in comparison.sides], campaign=campaign)


def _read(comparison: Comparison, _level: Level | None) -> Corroboration | None:
    return corroboration_of(comparison)


READING = Section("corroboration", Corroboration | None, _read)
