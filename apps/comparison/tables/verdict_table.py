"""Verdicts on every metric of every side at every load level. Pure."""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from apps.comparison.stats import moderation, multiple_testing, rank_test, rare_events, rates, welch
from apps.comparison.stats.rare_events import Counted
from apps.comparison.stats.replicates import FEWEST_HISTORY, Replicates, Sample, geometric_mean
from apps.comparison.stats.welch import DraftRatio, Ratio, Verdict
from apps.comparison.values import Cell, ComparedMetric, ComparedRun, DraftCell, Level, More, PastValue, Replicate

JUDGED = (Verdict.HIGHER, Verdict.LOWER, Verdict.EQUIVALENT, Verdict.INCONCLUSIVE)
WITHHELD = "verdict withheld"
NO_RUNS = "no runs"
NOT_MEASURED = "not measured"  # although the side has runs at the level
NO_ERRORS = "none on either side"
THROUGHPUT = "client.throughput"
# Between two marks of a clock, each a step wide, the true time is up to a step shorter or longer: of fewer steps than
# these no upper end of a ratio to it is known.
FEWEST_STEPS = 3

# (side, level, metric) -> earlier runs, the newest first.
EarlierValues = Mapping[tuple[str, int, str], tuple[PastValue, ...]]


def judged(
    *,
    sides: Sequence[str],
    levels: Sequence[Level],
    metrics: Sequence[ComparedMetric],
    runs: Sequence[ComparedRun],
    history: EarlierValues,
    withheld: Collection[str],
) -> tuple[DraftCell, ...]:
    """One cell per metric, level and side, in this order; the first of `sides` is the baseline. `withheld`: sides
    without verdicts."""
    placed: dict[tuple[str, int], list[ComparedRun]] = defaultdict(list)
    for run in runs:
        placed[run.side, run.level].append(run)
    found: list[DraftCell] = []
    for metric in metrics:
        cells = [
            cell for level in levels for cell in _row(sides, level, metric, placed, history=history, withheld=withheld)
        ]
        # Cells of one metric are alike in how much they vary.
        drafts = iter(moderation.moderated([cell.ratio for cell in cells if cell.ratio is not None]))
        found += [replace(cell, ratio=next(drafts)) if cell.ratio is not None else cell for cell in cells]
    return tuple(found)


def _row(
    sides: Sequence[str],
    level: Level,
    metric: ComparedMetric,
    runs: Mapping[tuple[str, int], Sequence[ComparedRun]],
    *,
    history: EarlierValues,
    withheld: Collection[str],
) -> list[DraftCell]:
    key = metric.key
    counted = {side: [run for run in runs.get((side, level.id), ()) if key in run.values] for side in sides}
    replicates = {side: tuple(Replicate(run.id, run.values[key]) for run in own) for side, own in counted.items()}
    # One event per run: fewer than three are inconclusive, regardless of the spread of earlier runs.
    past = {side: () if metric.single_events else history.get((side, level.id, key), ()) for side in sides}
    samples = {side: sample_of(metric, counted[side], past[side]) for side in sides}
    return [
        DraftCell(
            side=side,
            level=level.id,
            metric=metric,
            replicates=replicates[side],
            summary=welch.summarise(samples[side].values, sessions=samples[side].sessions)
            if replicates[side]
            else None,
            history=_history_used(samples[side]),
            ratio=_draft(metric, level.rate, counted, samples, (sides[0], side)) if place else None,
            unknown=tuple(each for each in (sides[0], side) if not welch.has_noise(samples[each])) if place else (),
            withheld=side in withheld,
            has_runs=bool(runs.get((side, level.id))),
        )
        for place, side in enumerate(sides)
    ]


def _draft(
    metric: ComparedMetric,
    rate: float | None,
    runs: Mapping[str, Sequence[ComparedRun]],
    samples: Mapping[str, Sample],
    pair: tuple[str, str],
) -> DraftRatio:
    """Errors are counted, where the transactions are known too: most runs have none."""
    baseline, side = pair
    if metric.unjudged and runs[baseline] and runs[side]:
        return DraftRatio(Ratio(Verdict.NOT_JUDGED, reason=metric.unjudged))
    if metric.key == THROUGHPUT and rate is not None:
        done = [[(run.values[metric.key], run.duration or 0.0) for run in runs[each]] for each in pair]
        return rates.draft(rate, done[0], done[1])
    if metric.kind == "errors":
        counted = [_events(metric, runs[each], samples[each]) for each in pair]
        if counted[0] is not None and counted[1] is not None:
            found = rare_events.draft(counted[0], counted[1])
            values = samples[baseline].values, samples[side].values
            delta = welch.cliffs_delta(*values) if all(values) else None
            return replace(found, alone=replace(found.alone, delta=delta))
    return welch.draft(samples[baseline], samples[side])


def _events(metric: ComparedMetric, runs: Sequence[ComparedRun], sample: Sample) -> Counted | None:
    """None: a run has no throughput or no length."""
    lengths = [run.duration or 0.0 for run in runs]
    transactions = [run.values.get(THROUGHPUT, 0.0) * each for run, each in zip(runs, lengths, strict=True)]
    events = [run.values[metric.key] * each for run, each in zip(runs, lengths, strict=True)]
    if not all(0 < each < math.inf for each in transactions) or not all(0 <= each < math.inf for each in events):
        return None
    return Counted(tuple(map(round, events)), tuple(transactions), sample.sessions, sample.blocks)


def sample_of(metric: ComparedMetric, runs: Sequence[ComparedRun], past: Sequence[PastValue]) -> Sample:
    """Resolution: a step of the tool's grid, or its last decimal if coarser. A single event is no mean over a session:
    each counts for itself."""
    values = [run.values[metric.key] for run in runs]
    sessions = [run.session for run in runs if run.session is not None]
    has_sessions = len(sessions) == len(runs) and not metric.single_events
    blocks = [run.block for run in runs if run.block]
    positive = [value for value in values if value > 0 and math.isfinite(value)]
    printed = metric.printed_step / geometric_mean(positive) if positive else 0.0
    return Sample(
        values=tuple(values),
        history=tuple(each.value for each in past),
        resolution=max(metric.resolution, printed),
        sessions=tuple(sessions) if has_sessions else (),
        history_sessions=tuple(each.session for each in past),
        blocks=tuple(blocks) if len(blocks) == len(runs) else (),
        is_coarse=FEWEST_STEPS * printed > 1,
    )


def _history_used(sample: Sample) -> int:
    """Earlier runs in the estimate of the spread: of sessions, those of three others at least."""
    others = [session for session in sample.history_sessions if session not in sample.sessions]
    if sample.sessions and len(set(others)) >= FEWEST_HISTORY:
        return len(others)
    noise = welch.noise(sample) if sample.values and min(sample.values) > 0 else None
    return noise.history if noise else 0


def _more(ratio: Ratio, baseline: DraftCell, cell: DraftCell) -> tuple[More, ...]:
    """What each side lacks for a likely answer; nothing where there is one."""
    if ratio.needed is None or ratio.verdict not in (Verdict.INCONCLUSIVE, Verdict.TOO_FEW):
        return ()
    unit = "session" if by_session(ratio) else "run"
    runs = len(baseline.replicates), len(cell.replicates)
    is_without_interval = ratio.verdict is Verdict.TOO_FEW and unit == "run"
    counts = dict(zip((baseline.side, cell.side), runs if is_without_interval else ratio.counts or runs, strict=True))
    asked = cell.unknown if is_without_interval and cell.unknown else counts
    lacking = {side: ratio.needed - counts[side] for side in asked}
    return tuple(More(side, number, unit) for side, number in lacking.items() if number > 0)


def by_session(ratio: Ratio) -> bool:
    """Whether what is needed counts sessions; an interval lacks runs, ranks may lack sessions."""
    is_without_interval = ratio.verdict is Verdict.TOO_FEW and ratio.needed != rank_test.FEWEST_EACH
    return ratio.replicates in (Replicates.SESSIONS, Replicates.PAIRED_SESSIONS) and not is_without_interval


def corrected(found: Sequence[DraftCell]) -> tuple[Cell, ...]:
    """The cells of one table, each after its baseline's, with ratios corrected together."""
    ratios = iter(multiple_testing.correct_for_many([cell.ratio for cell in found if cell.ratio is not None]))
    cells: list[Cell] = []
    baseline = None
    for cell in found:
        ratio = next(ratios) if cell.ratio is not None else None
        if ratio is None:
            baseline = cell
        cells.append(
            Cell(
                side=cell.side,
                level=cell.level,
                metric=cell.metric.key,
                replicates=cell.replicates,
                summary=cell.summary,
                history=cell.history,
                ratio=ratio,
                words=_words(cell, ratio) if ratio else "",
                more=_more(ratio, baseline, cell) if ratio is not None and baseline is not None else (),
            )
        )
    return tuple(cells)


def _words(cell: DraftCell, ratio: Ratio) -> str:
    if not cell.replicates:
        return NOT_MEASURED if cell.has_runs else NO_RUNS
    if cell.metric.kind == "errors" and ratio.delta == 0 and all(each.value == 0 for each in cell.replicates):
        return NO_ERRORS
    if cell.withheld and ratio.verdict in JUDGED:
        return WITHHELD
    return welch.words(ratio.verdict, cell.metric.direction)
