"""Agreement across tools: whether a side is better or worse than the baseline under a kind of load.

One tool proves nothing. Each workload has a result; those of workloads driven by the same program count as one, however
many there are. So do those of programs measured in the same sessions: a session's effect on a system is in all of them.
Published results are shown beside them and never counted.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from apps.comparison.agreement import published_evidence
from apps.comparison.agreement.published_evidence import PublishedResult
from apps.comparison.sections.section import Section
from apps.comparison.selection.data import sessions_of
from apps.comparison.selection.sides import FEWEST_SIDES
from apps.comparison.stats.replicates import WITHIN_ONE
from apps.comparison.stats.welch import UNJUDGED, Verdict
from apps.comparison.tables import verdict_table
from apps.comparison.tables.matrix import PRIMARY, Matrix, MatrixSide, compare_systems
from apps.comparison.values import Cell, ComparedMetric, ComparedWorkload, Comparison, Level
from apps.core.answers import Hidden, Shown
from workers.protocol.workloads.kinds import KINDS, generator_of, kind_of

BETTER, WORSE, EQUIVALENT = "better", "worse", Verdict.EQUIVALENT.value
DEPENDS, CANNOT_TELL = "depends on the load", "cannot tell"
CONTESTED, WITHHELD = "contested", verdict_table.WITHHELD
# Neither supports nor contradicts a claim.
SILENT = (CANNOT_TELL, WITHHELD)
# Results of a workload that support a claim, the strongest first.
CLAIMS = (BETTER, WORSE, EQUIVALENT)


@dataclass(frozen=True)
class LevelResult:
    """A load level and its cell of the matrix."""

    level: Level
    cell: Annotated[Cell, "from the matrix of all shared workloads"]


@dataclass(frozen=True)
class WorkloadResult:
    """A workload in its own headline metric. `says`, of the side: better or worse if most levels show that and none
    the opposite, equivalent if every level does; else "depends on the load", "cannot tell" or withheld."""

    workload: ComparedWorkload
    program: Annotated[str, "load generator; workloads with the same program count as one tool"]
    metric: ComparedMetric
    testimony: tuple[LevelResult, ...]
    says: Annotated[str, 'better, worse, equivalent, "depends on the load", "cannot tell"']
    sessions: Annotated[tuple[int, ...], "of its runs on both sides, numbered over all workloads of this answer"] = ()

    @property
    def within_one(self) -> bool:
        """One session of each side: how much sessions differ is not known."""
        ratios = [each.cell.ratio for each in self.testimony]
        return any(ratio is not None and ratio.p is not None and ratio.replicates in WITHIN_ONE for ratio in ratios)

    def is_independent(self, other: "WorkloadResult") -> bool:
        """Of another program, and no session's effect is in both."""
        shares = not set(self.sessions).isdisjoint(other.sessions)
        return self.program != other.program and not shares and not (self.within_one and other.within_one)


@dataclass(frozen=True)
class SideClaim:
    """The claim about a side under one kind of load: better, worse or equivalent; contested where as many witnesses
    contradict it; else the common result of all workloads. "depends on the load" counts as contradicting.
    """

    side: Annotated[str, "slug of a system"]
    kind: Annotated[str, "of load: reads, writes, mixed, ingest, tpcc, …"]
    says: Annotated[str, 'of the side: as of a workload, or "contested"']
    agree: tuple[WorkloadResult, ...]
    contradict: tuple[WorkloadResult, ...]
    cannot_tell: tuple[WorkloadResult, ...]
    stated: Annotated[tuple[PublishedResult, ...], "published in articles; not counted"]
    programs: Annotated[tuple[str, ...], "programs that support the claim"]

    @property
    def kind_words(self) -> str:
        return KINDS[self.kind]

    @property
    def is_measured(self) -> bool:
        """False: there are published results only."""
        return bool(self.agree or self.contradict or self.cannot_tell)

    @property
    def is_claimed(self) -> bool:
        return self.says in CLAIMS

    @property
    def alone(self) -> Annotated[Shown[bool], "only one tool supports it"]:
        return self.is_claimed and len(self.programs) == 1

    @property
    def witnesses(
        self,
    ) -> Annotated[
        Shown[int],
        "independent results that support the claim: of other programs in other sessions; those of one session of each "
        "side count as one together",
    ]:
        return witnesses(self.agree)

    @property
    def shared_sessions(self) -> Annotated[Shown[bool], "several tools support it, but are one witness"]:
        return self.is_claimed and len(self.programs) > 1 == self.witnesses


@dataclass(frozen=True)
class ToolAgreement:
    """Claims in the order of sides and kinds; verdicts are corrected over all workloads."""

    sides: Hidden[tuple[MatrixSide, ...]]
    claims: Annotated[tuple[SideClaim, ...], "about each side but the baseline"]
    tests: Annotated[int, "number of tests for which the verdicts are corrected"]
    notes: tuple[str, ...]


def tool_agreement(
    systems: Sequence[str], *, campaign: int | None = None, beside: Comparison | None = None
) -> ToolAgreement | None:
    """`systems`: slugs, the first is the baseline. None for fewer than two. A constant number of queries. `beside`: the
    comparison that is shown with it; what that leaves undecided is not decided here by a smaller correction."""
    chosen = list(dict.fromkeys(systems))
    if len(chosen) < FEWEST_SIDES:
        return None
    matrix = compare_systems(sides=chosen, metrics=[PRIMARY], campaign=campaign)
    about = {
        side.slug: published_evidence.stated_about(side.platform_slug, matrix.sides[0].platform_slug)
        for side in matrix.sides[1:]
    }
    matrix = _no_stronger(matrix, beside) if beside else matrix
    runs = (one.run for row in matrix.rows for cell in row.cells for one in cell.replicates)
    sessions = sessions_of(runs, baseline=chosen[0])
    return ToolAgreement(matrix.sides, claims(matrix, about, sessions), matrix.tests, matrix.notes)


def _no_stronger(matrix: Matrix, beside: Comparison) -> Matrix:
    undecided = {
        (cell.side, cell.level, cell.metric): cell
        for cell in beside.cells
        if cell.ratio and cell.ratio.verdict is Verdict.INCONCLUSIVE
    }
    return replace(
        matrix,
        rows=tuple(
            replace(
                row,
                cells=tuple(undecided.get((each.side, row.level.id, row.metric.key), each) for each in row.cells),
            )
            if row.workload.id == beside.workload.id
            else row
            for row in matrix.rows
        ),
    )


def claims(
    matrix: Matrix, about: Mapping[str, Mapping[str, tuple[PublishedResult, ...]]], sessions: Mapping[int, int]
) -> tuple[SideClaim, ...]:
    """`about`: side -> kind -> published results. A kind with published results only has no workloads. `sessions`: run
    -> number."""
    found = []
    for place, side in enumerate(matrix.sides[1:], start=1):
        results = _results(matrix, place, sessions)
        published = about.get(side.slug, {})
        found += [
            claim_of(side.slug, kind, results[kind], published.get(kind, ()))
            for kind in KINDS
            if results[kind] or published.get(kind)
        ]
    return tuple(found)


def _results(matrix: Matrix, place: int, sessions: Mapping[int, int]) -> dict[str, list[WorkloadResult]]:
    """Kind -> workloads run by the side at `place`."""
    rows = defaultdict(list)
    for row in matrix.rows:
        rows[row.workload.id].append(row)
    found: dict[str, list[WorkloadResult]] = defaultdict(list)
    for own in rows.values():
        levels = tuple(LevelResult(row.level, row.cells[place]) for row in own if row.cells[place].replicates)
        if levels:
            first = own[0]
            workload, program = first.workload, generator_of(first.workload.tool)
            runs = (one.run for row in own for cell in (row.cells[0], row.cells[place]) for one in cell.replicates)
            own_sessions = tuple(sorted({sessions[run] for run in runs}))
            found[kind_of(workload.tool, workload.parameters)].append(
                WorkloadResult(workload, program, first.metric, levels, says(levels), own_sessions)
            )
    return found


def says(levels: Sequence[LevelResult]) -> str:
    """Result of one workload over its load levels."""
    # At a fixed rate throughput says nothing of how fast a side is.
    words = [word for each in levels if (word := _word(each.cell)) not in UNJUDGED]
    if WITHHELD in words:
        return WITHHELD
    if BETTER in words and WORSE in words:
        return DEPENDS
    if words and all(word == EQUIVALENT for word in words):
        return EQUIVALENT
    return next((word for word in (BETTER, WORSE) if 2 * words.count(word) > len(words)), CANNOT_TELL)


def _word(cell: Cell) -> str:
    """A difference within the margin makes no practical one."""
    is_small = cell.words in (BETTER, WORSE) and cell.ratio is not None and cell.ratio.is_small
    return EQUIVALENT if is_small else cell.words


def claim_of(side: str, kind: str, results: Sequence[WorkloadResult], stated: tuple[PublishedResult, ...]) -> SideClaim:
    result = _together(results)
    supported = result if result in CLAIMS else DEPENDS if result == DEPENDS else ""
    agree = tuple(each for each in results if each.says == supported)
    return SideClaim(
        side=side,
        kind=kind,
        says=result,
        agree=agree,
        contradict=tuple(each for each in results if each.says not in (supported, *SILENT)),
        cannot_tell=tuple(each for each in results if each.says in SILENT),
        stated=stated,
        programs=tuple(sorted({each.program for each in agree})),
    )


def _together(results: Sequence[WorkloadResult]) -> str:
    """The claim supported by most witnesses; contested on a tie."""
    support = {claim: witnesses([each for each in results if each.says == claim]) for claim in (*CLAIMS, DEPENDS)}
    most = max(support.values())
    if not most:
        return WITHHELD if any(each.says == WITHHELD for each in results) else CANNOT_TELL
    leading = [claim for claim, found in support.items() if found == most]
    return leading[0] if len(leading) == 1 else CONTESTED


def witnesses(results: Sequence[WorkloadResult]) -> int:
    """How many of these are independent of each other: taken in turn, the one first that excludes the fewest."""
    left, found = list(results), 0
    while left:
        taken = min(left, key=lambda one: sum(not one.is_independent(other) for other in left))
        left = [each for each in left if each.is_independent(taken)]
        found += 1
    return found


def agreement_of(comparison: Comparison) -> ToolAgreement | None:
    """For the comparison's systems, over all workloads that they share (within its campaign, if any)."""
    campaign = comparison.campaign.id if comparison.campaign else None
    return tool_agreement([side.system for side in comparison.sides], campaign=campaign, beside=comparison)


def _read(comparison: Comparison, _level: Level | None) -> ToolAgreement | None:
    return agreement_of(comparison)


SECTION = Section("corroboration", ToolAgreement | None, _read)
