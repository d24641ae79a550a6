"""Work per transaction: each run's server and machine counters divided by its completed work."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from apps.catalog.pure import WorkSpec, work
from apps.comparison.sections import verdicts
from apps.comparison.sections.section import Section
from apps.comparison.stats.measures.work_per_transaction import FINGERPRINT, Spent, spent
from apps.comparison.stats.replicates import geometric_mean
from apps.comparison.stats.welch import Direction
from apps.comparison.values import Cell, ComparedMetric, Comparison
from apps.core.answers import Hidden
from apps.core.text import counted
from apps.runs.api import queries
from apps.runs.models import Measurement, Run

# Unit of the divisor -> metric that counts it per second.
TRANSACTION = "transaction"
PER = {TRANSACTION: "client.throughput", "query": "client.queries", "row": "client.rows"}


@dataclass(frozen=True)
class NodeWork:
    """Work of one node per transaction of the whole load over `runs` runs: their geometric mean, or the mean if one is
    zero."""

    side: str
    level: int
    node: str
    role: str
    metric: str
    value: Annotated[float, "per transaction of the whole load; geometric mean of the runs"]
    runs: int


@dataclass(frozen=True)
class NotObserved:
    """Reason why a quantity of a side is unknown."""

    side: str
    metric: str
    reason: str


@dataclass(frozen=True)
class ComparedWork:
    """`per`: unit of the divisor; `choices`: the possible ones. `metrics`: those of any side's runs, with `cells` in
    the form of the comparison's; `resources`, `meanings` and `formulas` by key. `not_observed`: unknown quantities."""

    per: Annotated[str, "divisor: transaction, query or row"]
    choices: Hidden[tuple[str, ...]]
    metrics: tuple[ComparedMetric, ...]
    resources: Annotated[dict[str, str], "by key of a metric"]
    meanings: dict[str, str]
    formulas: Annotated[dict[str, str], "over mean rates of the run's counters"]
    cells: Annotated[tuple[Cell, ...], "as those of the comparison, corrected for their own number"]
    nodes: Annotated[tuple[NodeWork, ...], "of sides with several nodes"]
    not_observed: tuple[NotObserved, ...]
    notes: tuple[str, ...]


def work_of(comparison: Comparison) -> tuple[ComparedWork, ...]:
    """One for each unit of PER that the runs count, the most frequent first; empty: no run has both counters and a
    count of its work. Four queries."""
    asked = verdicts.run_ids(comparison)
    rates = queries.rates_of(asked, (*work.PATTERNS, *FINGERPRINT, *PER.values()))
    done = _done(asked, rates)
    lengths = _lengths(asked)
    have = Counter(word for run in comparison.counted for word in done.get(run.id, {}))
    choices = tuple(sorted(have, key=lambda word: (-have[word], list(PER).index(word))))
    compared = []
    for per in choices:
        found = _spent(rates, done, lengths, per)
        compared.append(_per(comparison, found, rates, per=per, choices=choices))
    return tuple(one for one in compared if one.metrics)


def per_transaction(runs: Sequence[int]) -> dict[int, Spent]:
    """Of the runs that have counters and a count of transactions. Four queries."""
    rates = queries.rates_of(runs, (*work.PATTERNS, *FINGERPRINT, *PER.values()))
    return _spent(rates, _done(runs, rates), _lengths(runs), TRANSACTION)


@dataclass(frozen=True)
class RunsWork:
    """Of each run: `done`, units of `per` completed, 1/s, and what was spent for each; runs without counters lack the
    latter."""

    per: str
    done: dict[int, float]
    spent: dict[int, Spent]


def work_of_runs(runs: Sequence[int]) -> RunsWork:
    """Per the unit of PER that most runs count. Four queries."""
    rates = queries.rates_of(runs, (*work.PATTERNS, *FINGERPRINT, *PER.values()))
    done = _done(runs, rates)
    per = max(PER, key=lambda word: sum(word in own for own in done.values()))
    counts = {run: own[per] for run, own in done.items() if per in own}
    return RunsWork(per, counts, _spent(rates, done, _lengths(runs), per))


def _spent(
    rates: Mapping[int, Sequence[queries.NodeRates]],
    done: Mapping[int, Mapping[str, float]],
    lengths: Mapping[int, float],
    per: str,
) -> dict[int, Spent]:
    return {
        run: spent(nodes, per_second=done[run][per], length=lengths[run])
        for run, nodes in rates.items()
        if per in done.get(run, {}) and lengths.get(run)
    }


def _per(
    comparison: Comparison,
    found: Mapping[int, Spent],
    rates: Mapping[int, Sequence[queries.NodeRates]],
    *,
    per: str,
    choices: tuple[str, ...],
) -> ComparedWork:
    known = {key for run in comparison.counted if run.id in found for key in found[run.id].whole}
    specs = [spec for spec in work.ALL if spec.key in known]
    metrics = [as_metric(spec) for spec in specs]
    return ComparedWork(
        per=per,
        choices=choices,
        metrics=tuple(metrics),
        resources={spec.key: spec.resource for spec in specs},
        meanings={spec.key: spec.description for spec in specs},
        formulas={spec.key: spec.formula.text for spec in specs},
        cells=verdicts.cells(comparison, metrics, {run: each.whole for run, each in found.items()}),
        nodes=tuple(_nodes(comparison, found, rates)),
        not_observed=tuple(_not_observed(comparison, found)),
        notes=tuple(_notes(comparison, found, per)),
    )


def as_metric(spec: WorkSpec) -> ComparedMetric:
    return ComparedMetric(spec.key, spec.name, spec.unit, Direction(spec.direction), "work", primary=False)


def _done(runs: Sequence[int], rates: Mapping[int, Sequence[queries.NodeRates]]) -> dict[int, dict[str, float]]:
    """Run -> unit of PER -> rate, 1/s: the tool's own total, else the mean of its seconds."""
    words = {key: word for word, key in PER.items()}
    found: dict[int, dict[str, float]] = defaultdict(dict)
    for run, nodes in rates.items():
        for node in nodes:
            for key, word in words.items():
                if node.number == 0 and key in node.rates and node.rates[key].mean > 0:
                    found[run][word] = node.rates[key].mean
    known = Measurement.objects.filter(run_id__in=runs, metric__key__in=list(words), value__gt=0)
    for run, key, value in known.order_by().values_list("run_id", "metric__key", "value"):
        found[run][words[key]] = value
    return found


def _lengths(runs: Sequence[int]) -> dict[int, float]:
    rows = Run.objects.filter(pk__in=runs).values_list("pk", "measured_from", "measured_to")
    return {pk: end - start for pk, start, end in rows if start is not None and end is not None}


def _nodes(
    comparison: Comparison, found: Mapping[int, Spent], rates: Mapping[int, Sequence[queries.NodeRates]]
) -> list[NodeWork]:
    """For sides with more than one node."""
    values: dict[tuple[str, int, str, str, str], list[float]] = defaultdict(list)
    for run in comparison.counted:
        each = found.get(run.id)
        if each is None or len(each.nodes) < 2:
            continue
        roles = {node.name: node.role for node in rates[run.id]}
        for name, known in each.nodes.items():
            for key, value in known.items():
                values[run.side, run.level, name, roles[name], key].append(value)
    return [
        NodeWork(side, level, name, role, key, geometric_mean(own) if min(own) > 0 else sum(own) / len(own), len(own))
        for (side, level, name, role, key), own in values.items()
    ]


def _not_observed(comparison: Comparison, found: Mapping[int, Spent]) -> list[NotObserved]:
    """Quantities that none of a side's runs has, with the most frequent reason."""
    reasons: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    known = set()
    for run in comparison.counted:
        for key, reason in found[run.id].lacking.items() if run.id in found else ():
            reasons[run.side, key][reason] += 1
        known |= {(run.side, key) for key in found[run.id].whole} if run.id in found else set()
    return [
        NotObserved(side, key, rows.most_common(1)[0][0])
        for (side, key), rows in reasons.items()
        if (side, key) not in known
    ]


def _notes(comparison: Comparison, found: Mapping[int, Spent], per: str) -> list[str]:
    names = {side.slug: side.name for side in comparison.sides}
    without = Counter(run.side for run in comparison.counted if run.id not in found)
    notes = [
        f"{counted(count, 'run')} of {names[side]} without counters or without a count of its"
        f" {'queries' if per == 'query' else f'{per}s'}: left out of the work."
        for side, count in without.items()
    ]
    partly: dict[str, list[int]] = defaultdict(list)
    for run in comparison.counted:
        for sentence in found[run.id].partly if run.id in found else ():
            partly[sentence].append(run.id)
    return notes + [
        f"Run {', '.join(map(str, runs[:5]))}{' …' if len(runs) > 5 else ''}: {sentence}"
        for sentence, runs in partly.items()
    ]


SECTION = Section("work", tuple[ComparedWork, ...], lambda comparison, _: work_of(comparison))
