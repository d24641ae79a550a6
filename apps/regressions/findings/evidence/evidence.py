"""Evidence for a change of a finding: runs of both sides with their values, differences of their servers' indicators,
of the work per transaction, of statements and of the configurations, and these together as ranked causes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from django.db.models import F

from apps.catalog.models import LoadLevel
from apps.comparison.api import RunsWork, compare, dips_and_work, sessions_of, variables_of, verdicts, work_of_runs
from apps.comparison.pure import (
    ClaimLimit,
    Comparison,
    Difference,
    FieldGroup,
    Weight,
    geometric_mean,
    limits_between,
    variables,
)
from apps.comparison.pure import differences as comparability_differences
from apps.core.answers import Hidden, Inline, Name, OneOf, Rounded, Shown, Words
from apps.core.problems import Invalid
from apps.regressions.findings.evidence import causes, statement_difference, use_difference, work_difference
from apps.regressions.findings.evidence.causes import Cause
from apps.regressions.findings.evidence.quantities import Judge, Sides
from apps.regressions.findings.evidence.statement_difference import StatementDifference
from apps.regressions.findings.evidence.use_difference import UseDifference
from apps.regressions.findings.evidence.work_difference import WorkDifference
from apps.regressions.findings.values import ChangeRow
from apps.regressions.models import Change
from apps.runs.api import attachments
from apps.runs.models import Measurement, Run
from apps.runs.pure import StatementCounts
from apps.use_method.api import panels_of

# Runs of each side of a trend, those nearest to the change: server metrics long before it are irrelevant.
NEAREST = 10
# Of each side in Compare: their ids stand in its address.
MOST_COMPARED = 50
# Causes in the sentence.
MOST_NAMED = 3
BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class SideRun:
    id: int
    side: Annotated[str, OneOf((BEFORE, AFTER))]
    value: Annotated[Rounded | None, "in the metric's unit; null: no longer stored"]
    length: Hidden[float | None]  # of the measured phase, s
    started_at: datetime
    system: Annotated[str, "slug"]
    system_name: Hidden[str]
    release: Annotated[str, "version"]
    server_version: str
    provenance: str
    campaign: Hidden[int | None]
    is_excluded: Annotated[bool, "excluded since"]
    failed_checks: Annotated[tuple[str, ...], "keys of the checks"]


@dataclass(frozen=True)
class SettingDifference:
    difference: Annotated[Difference, Inline("field", "label", "group", "weight", "values", "hidden")]


@dataclass(frozen=True)
class Evidence:
    """`runs` of both sides, before first, each side's in order of time. `systems`: slug and name of the two compared;
    the same twice for a change in a system's own trend. `differences`: of their configurations. `pending`: runs whose
    USE panel is not evaluated yet. `problem`: why the two could not be compared. `level`: key of the load level in
    addresses. `work`: the largest change first; `statements`: by their share; `causes`: the likeliest first.
    """

    change: Hidden[ChangeRow]
    runs: Annotated[tuple[SideRun, ...], "of both sides, each in time"]
    systems: Hidden[tuple[tuple[str, str], tuple[str, str]] | None]
    use: Annotated[UseDifference, Inline()]
    pending: Annotated[int, "runs whose USE panel is still to be judged"]
    differences: Hidden[tuple[Difference, ...]]
    problem: Annotated[str, "why the configurations were not compared; empty: they were"]
    level: Hidden[str]
    work: Annotated[tuple[WorkDifference, ...], "what a transaction cost both sides, the largest change first"] = ()
    per: Annotated[str, "what work and executions are per: transaction, query or row"] = "transaction"
    statements: Annotated[
        tuple[StatementDifference, ...], "whose time or work differs, by their share of the additional time"
    ] = ()
    causes: Annotated[
        tuple[Cause, ...], "what changed together with the result, the likeliest cause first; causation is not claimed"
    ] = ()

    @property
    def change_id(self) -> Annotated[Shown[int], Name("change"), "among the finding's `changes`"]:
        return self.change.id

    @property
    def settings(self) -> Annotated[Shown[tuple[SettingDifference, ...]], "in what the configurations differ"]:
        return tuple(SettingDifference(each) for each in self.differences)

    @property
    def sentence(
        self,
    ) -> Annotated[Shown[Words], Name("use_sentence"), "what changed and what the servers did differently"]:
        """ "Throughput −12 %; Redo log: waits for the log buffer 0 → 340 waits/s."."""
        change = self.change
        what = f"{change.metric.name} {change.size}; " if change.metric and change.ratio is not None else ""
        named = [each.words for each in self.causes if each.is_indicated][:MOST_NAMED]
        text = f"{what}{'; '.join(named) or self.use.nothing}"
        return f"{text[:1].upper()}{text[1:]}."

    @property
    def is_apart(self) -> bool:
        """Whether one side was measured only after the other, so that the machine may have drifted in between."""
        spans = [[run.started_at for run in side if not run.is_excluded] for side in (self.before, self.after)]
        first, second = sorted(spans, key=lambda own: min(own, default=datetime.max.replace(tzinfo=UTC)))
        return bool(first and second) and max(first) < min(second)

    @property
    def doubted(self) -> int:
        """Runs that failed a check."""
        return sum(bool(run.failed_checks) for run in self.runs)

    @property
    def claim_limits(
        self,
    ) -> Annotated[Shown[tuple[ClaimLimit, ...]], "what failed quality checks make of the verdict, the worst first"]:
        failed = {
            side: [run.failed_checks for run in self.runs if run.side == side and not run.is_excluded]
            for side in (BEFORE, AFTER)
        }
        is_better = {"better": True, "worse": False}.get(self.change.verdict)
        return tuple(limits_between(failed[BEFORE], failed[AFTER], is_better=is_better))

    @property
    def before(self) -> tuple[SideRun, ...]:
        return tuple(run for run in self.runs if run.side == BEFORE)

    @property
    def after(self) -> tuple[SideRun, ...]:
        return tuple(run for run in self.runs if run.side == AFTER)

    @property
    def shown_differences(self) -> tuple[Difference, ...]:
        """Without hidden differences (unset, or different between any two servers) and dates."""
        return tuple(each for each in self.differences if not each.hidden and each.group is not FieldGroup.DATE)

    @property
    def compared_runs(self) -> tuple[int, ...]:
        """Ids of the runs that the change was found in, at most MOST_COMPARED of each side."""
        return tuple(run.id for run in nearest(self.runs, most=MOST_COMPARED))


def gather(change: ChangeRow) -> Evidence:
    """Queries: constant in the numbers of runs, except for USE panels not evaluated yet. A missing result has no runs
    and no evidence but its reason."""
    runs = _runs(change)
    near = nearest(runs, most=NEAREST)
    panels, due = panels_of([run.id for run in near]) if near else ({}, frozenset())
    sides = [
        {run.id: panels[run.id] for run in near if run.side == side and run.id in panels} for side in (BEFORE, AFTER)
    ]
    systems = _systems(near)
    is_worse = change.verdict != Change.Verdict.BETTER
    found, differences, problem = _compared(change, near, systems) if systems else (None, (), "")
    use = use_difference.compare(*sides, is_worse=is_worse)
    threads, level = _level(change)
    costs = _costs(near, found, threads, is_worse=is_worse) if systems else Costs()
    return Evidence(
        change=change,
        runs=runs,
        systems=systems,
        use=use,
        pending=len(due),
        differences=differences,
        problem=problem,
        level=level,
        work=costs.work,
        per=costs.per,
        statements=costs.statements,
        causes=causes.ranked(
            use=use,
            work=costs.work,
            statements=costs.statements,
            settings=differences,
            is_worse=is_worse,
            throughput=costs.throughput,
            metric=change.metric.key if change.metric else "",
        ),
    )


def nearest(runs: Sequence[SideRun], *, most: int) -> tuple[SideRun, ...]:
    """The runs of each side that are nearest to the change."""
    before = [run for run in runs if run.side == BEFORE and not run.is_excluded]
    after = [run for run in runs if run.side == AFTER and not run.is_excluded]
    return (*before[-most:], *after[:most])


def _level(change: ChangeRow) -> tuple[int, str]:
    """Threads of the load level, 0: none; and its key in addresses."""
    if change.load_level_id is None:
        return 0, ""
    threads, rate = LoadLevel.objects.values_list("threads", "rate").get(pk=change.load_level_id)
    return threads, f"{threads}" if rate is None else f"{threads}@{rate:g}"


def _runs(change: ChangeRow) -> tuple[SideRun, ...]:
    """In the order of the trend if there is one, else of time. Two queries."""
    sides = {run: side for side, ids in ((AFTER, change.runs_after), (BEFORE, change.runs_before)) for run in ids}
    rows = (
        Run.objects.filter(pk__in=sides)
        .order_by()
        .values(
            *("id", "started_at", "server_version", "provenance", "is_excluded", "failed_checks"),
            *("measured_from", "measured_to"),
            slug=F("system__slug"),
            name=F("system__short_name"),
            release=F("system__release__version"),
            campaign=F("job_run__job__campaign_id"),
        )
    )
    by_id = {row["id"]: row for row in rows}
    key = change.metric.key if change.metric else ""
    values = dict(Measurement.objects.filter(run__in=sides, metric__key=key).order_by().values_list("run", "value"))
    if key in {metric.key for metric in dips_and_work.METRICS}:
        costs = dips_and_work.run_costs(list(sides)).values()
        values = {run: own[key] for run, own in costs.items() if key in own}
    found = [
        SideRun(
            id=run,
            side=sides[run],
            value=values.get(run),
            length=None if row["measured_to"] is None else row["measured_to"] - (row["measured_from"] or 0.0),
            started_at=row["started_at"],
            system=row["slug"],
            system_name=row["name"],
            release=row["release"],
            server_version=row["server_version"],
            provenance=row["provenance"],
            campaign=row["campaign"],
            is_excluded=row["is_excluded"],
            failed_checks=tuple(row["failed_checks"]),
        )
        for run in (*change.runs_before, *change.runs_after)
        if (row := by_id.get(run)) is not None
    ]
    if change.history is None:
        found.sort(key=lambda run: (run.side == AFTER, run.started_at, run.id))
    return tuple(found)


def _systems(runs: Collection[SideRun]) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """Slug and name of the systems of the runs nearest to the change, on both sides; None: a side has no runs."""
    before = [run for run in runs if run.side == BEFORE]
    after = [run for run in runs if run.side == AFTER]
    if not before or not after:
        return None
    return (before[-1].system, before[-1].system_name), (after[0].system, after[0].system_name)


def _compared(
    change: ChangeRow, runs: Sequence[SideRun], systems: tuple[tuple[str, str], tuple[str, str]]
) -> tuple[Comparison | None, tuple[Difference, ...], str]:
    """The comparison of two systems, the differences of the configurations, or why they are unknown."""
    if systems[0] == systems[1]:
        return None, _of_one_system(runs), ""
    try:
        found = compare.compare(
            sides=[slug for slug, _ in systems], workload_id=change.workload.id, runs=[run.id for run in runs]
        )
    except Invalid as error:
        return None, (), str(error)
    return found, found.differences, ""


@dataclass(frozen=True)
class Costs:
    """Differences of the work per unit `per` and of statements. `throughput`: after / before; None: not known."""

    per: str = "transaction"
    work: tuple[WorkDifference, ...] = ()
    statements: tuple[StatementDifference, ...] = ()
    throughput: float | None = None


def _costs(runs: Sequence[SideRun], comparison: Comparison | None, threads: int, *, is_worse: bool) -> Costs:
    """Of two systems, earlier runs help to estimate the spread. Six queries, and the files of statements."""
    sides = [run.id for run in runs if run.side == BEFORE], [run.id for run in runs if run.side == AFTER]
    asked = verdicts.run_ids(comparison) if comparison else [run.id for run in runs]
    spent = work_of_runs(asked)
    if comparison:
        judge = partial(verdicts.cells, comparison)
    else:
        both = dict(zip((BEFORE, AFTER), sides, strict=True))
        judge = partial(verdicts.between, sides=both, sessions=sessions_of(asked))
    lengths = {run.id: run.length for run in runs if run.length}
    listed = attachments.statements([run.id for run in runs])
    return costs_of(spent, listed, lengths, sides, judge, threads=threads, is_worse=is_worse)


def costs_of(
    spent: RunsWork,
    listed: Mapping[int, tuple[StatementCounts, ...]],
    lengths: Mapping[int, float],
    sides: Sides,
    judge: Judge,
    *,
    threads: int,
    is_worse: bool,
) -> Costs:
    """`listed`: statements of each run; `lengths` of the measured phases, s; `threads` of the load, 0: not known."""
    amounts = {run: each.whole for run, each in spent.spent.items()}
    done = [[spent.done[run] for run in side if spent.done.get(run)] for side in sides]
    rates = [geometric_mean(side) for side in done] if all(done) else None
    elapsed = threads / rates[1] - threads / rates[0] if rates else 0.0
    work = work_difference.differences(spent.per, amounts, sides, judge)
    statements = statement_difference.differences(
        listed, spent.done, lengths, sides, judge, is_worse=is_worse, elapsed=elapsed
    )
    return Costs(spent.per, work, statements, rates[1] / rates[0] if rates else None)


def _of_one_system(runs: Sequence[SideRun]) -> tuple[Difference, ...]:
    """The settings are the same, but the reported server version and variables may differ."""
    sides = [[run for run in runs if run.side == side] for side in (BEFORE, AFTER)]
    seen = [[each for own in variables_of([run.id for run in side]).values() for each in own] for side in sides]
    found = variables.differing((tuple(seen[0]), tuple(seen[1])), frozenset()) if any(seen) else ()
    versions = [
        " or ".join(sorted({run.server_version or comparability_differences.NOT_KNOWN for run in side}))
        for side in sides
    ]
    if versions[0] == versions[1]:
        return found
    version = Difference("server_version", "Server version", Weight.IMPORTANT, tuple(versions), FieldGroup.VERSION)
    return (version, *found)
