"""The answer of the Compare page: a verdict of each side at the chosen load, and what limits the claim."""

from collections.abc import Iterator
from dataclasses import dataclass

from apps.comparison.pure import (
    FEWEST_RUNS,
    NO_RUNS,
    NOT_MEASURED,
    Cell,
    ClaimLimit,
    ComparedMetric,
    Comparison,
    Difference,
    FieldGroup,
    Level,
    Meaning,
    Side,
    Verdict,
    Weight,
    claim_limits,
    interval_words,
    inverse,
    is_bound,
    label,
    ratio_text,
)
from apps.core.text import and_list, counted
from apps.core.units import NBSP, with_unit
from apps.web.compare.wording import remedy, said

SEVERE = (Meaning.VOID,)
# Of what a commit costs: these decide what an unequal comparison is worth.
DURABILITY = ("innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin", "innodb_doublewrite", "innodb_flush_method")
# Without a binary log they mean nothing: where it is on for some only, it stands for them.
OF_BINLOG = ("binlog_format", "binlog_row_image", "binlog_checksum", "log_slave_updates")
NAMED = 4
SHORT = 12  # characters of a value


@dataclass(frozen=True)
class MetricVerdict:
    """One metric of a side at the load: `words` as in the table, `shown` in its place, and the `text` after it."""

    metric: ComparedMetric
    label: str
    words: str
    shown: str
    text: str

    @property
    def shown_before(self) -> str:
        """`shown`, with a comma where the text goes on with another figure."""
        return self.shown if self.text.startswith(("(", "at ")) or not self.text else f"{self.shown},"


@dataclass(frozen=True)
class SideVerdict:
    """A side's sentence. `values` of the baseline; empty for the others. `borrowed`: that the spread of too few runs is
    that of earlier ones; empty: it is their own."""

    side: Side
    values: str
    metrics: tuple[MetricVerdict, ...]
    borrowed: str = ""


@dataclass(frozen=True)
class Ribbon:
    """What limits the claim. `tab`: the one with the evidence, which `link` names."""

    key: str
    is_severe: bool
    head: str
    text: str
    tab: str
    link: str


def verdicts(comparison: Comparison, level: Level | None) -> list[SideVerdict]:
    """The baseline first. At a fixed rate latency comes first: throughput is what was asked for."""
    if level is None:
        return []
    shown = [each for each in comparison.metrics if each.kind != "errors" or _differs(comparison, each, level)]
    is_fixed = level.rate is not None
    metrics = sorted(shown, key=lambda each: (is_fixed and each.kind != "latency", not each.primary))
    baseline, *others = comparison.sides
    return [
        SideVerdict(baseline, _values(comparison, baseline, level, metrics), ()),
        *(
            SideVerdict(
                side,
                "",
                tuple(_verdicts(comparison, side, level, metrics)),
                _borrowed(comparison, side, level, metrics[:1]),
            )
            for side in others
        ),
    ]


def _differs(comparison: Comparison, metric: ComparedMetric, level: Level) -> bool:
    cells = [cell for cell in comparison.cells if (cell.level, cell.metric) == (level.id, metric.key)]
    return any(cell.words in ("better", "worse") for cell in cells)


def _borrowed(comparison: Comparison, side: Side, level: Level, metrics: list[ComparedMetric]) -> str:
    """For example "1 run of Alpha: its spread is that of 30 earlier runs"."""
    parts = []
    for metric in metrics:
        for each in (comparison.sides[0], side):
            cell = comparison.cell(side=each.slug, level=level.id, metric=metric.key)
            if cell.history and 0 < len(cell.replicates) < FEWEST_RUNS:
                runs, earlier = counted(len(cell.replicates), "run"), counted(cell.history, "earlier run")
                parts.append(f"{runs} of {each.name}: the spread is that of {earlier}")
    return "; ".join(parts)


def _values(comparison: Comparison, side: Side, level: Level, metrics: list[ComparedMetric]) -> str:
    cells = [(each, comparison.cell(side=side.slug, level=level.id, metric=each.key)) for each in metrics]
    known = [(metric, cell.summary) for metric, cell in cells if cell.summary]
    texts = [
        with_unit(summary.value, metric.unit)
        # "772 transactions/s" names itself, "2.28 s" does not.
        if metric.kind == "throughput" and metric.unit.endswith("/s")
        else f"{label(metric)} {with_unit(summary.value, metric.unit)}"
        for metric, summary in known
    ]
    has_runs = any((run.side, run.level) == (side.slug, level.id) for run in comparison.counted)
    return ", ".join(texts) or f"{NOT_MEASURED if has_runs else NO_RUNS} at {level.text}"


def _verdicts(
    comparison: Comparison, side: Side, level: Level, metrics: list[ComparedMetric]
) -> Iterator[MetricVerdict]:
    names = {each.slug: each.name for each in comparison.sides}
    for metric in metrics:
        cell = comparison.cell(side=side.slug, level=level.id, metric=metric.key)
        is_named = metric is not metrics[0]
        if not cell.replicates:
            named = cell.words == NO_RUNS or is_named
            shown = cell.words if named else f"{label(metric)} {cell.words}"
            yield MetricVerdict(metric, label(metric), cell.words, shown, f"at {level.text}")
            if cell.words == NO_RUNS:
                return
            continue
        shown, text = _said(metric, cell, names, is_named=is_named)
        yield MetricVerdict(metric, label(metric), cell.words, shown, text)


def _said(metric: ComparedMetric, cell: Cell, names: dict[str, str], *, is_named: bool) -> tuple[str, str]:
    """`is_named`: the metric's name stands before its verdict."""
    ratio = cell.ratio
    if ratio is None or ratio.value is None:
        return cell.words, ratio.reason if ratio and ratio.reason != cell.words else ""
    if ratio.low is None:
        return cell.words, remedy(cell, names) if cell.words == Verdict.TOO_FEW else ratio.reason
    if is_bound(ratio):
        interval, text = "", ratio_text(ratio) if is_named else f"{ratio_text(ratio)} the {label(metric)}"
    elif metric.kind == "latency" and is_named:
        interval, text = f"({interval_words(ratio)})", f"{ratio_text(ratio)} ({interval_words(ratio)})"
    else:
        interval = f"(95{NBSP}% interval {interval_words(ratio)})"
        text = f"{ratio_text(ratio)} the {label(metric)} {interval}"
    if cell.words == Verdict.INCONCLUSIVE:
        return cell.words, f"{text}; {remedy(cell, names)}"
    small = said(cell).removeprefix(cell.words)
    if label(metric) == "throughput" and cell.words == "better":
        return f"{ratio_text(ratio)} faster", interval + small
    if label(metric) == "throughput" and cell.words == "worse":
        return f"{ratio_text(inverse(ratio))} slower", text + small
    return said(cell), text


def grounds(comparison: Comparison, level: Level | None) -> str:
    """What the answer rests on: runs of each side at the load, the days or sessions they came from, their length."""
    runs = [run for run in comparison.counted if level is not None and run.level == level.id]
    counts = [sum(run.side == side.slug for run in runs) for side in comparison.sides]
    if not any(counts):
        return ""
    least, most = min(counts), max(counts)
    many = f"{counted(most, 'run')} a side" if least == most else f"{least} to {counted(most, 'run')} a side"
    sessions = len({run.campaign.id for run in runs if run.campaign is not None})
    parts = [many, *([f"from {counted(sessions, 'campaign')}"] if sessions > 1 else [])]
    lengths = sorted({run.duration for run in runs if run.duration is not None})
    if lengths:
        ends = dict.fromkeys(f"{length:g}" for length in (lengths[0], lengths[-1]))
        parts.append(f"{' to '.join(ends)}{NBSP}s each")
    days = {run.started_at.date() for run in runs}
    parts.append("on one day" if len(days) == 1 else f"on {len(days)} days")
    if len({run.session for run in runs}) > 1:
        of_sides = [len({run.session for run in runs if run.side == side.slug}) for side in comparison.sides]
        fewest = f"{min(of_sides)} to " if min(of_sides) < max(of_sides) else ""
        parts.append(f"in {fewest}{counted(max(of_sides), 'session')} a side")
    machines = {side.hardware for side in comparison.sides}
    if len(machines) == 1:
        parts.append(f"all on {machines.pop()}")
    if local := [side.name for side in comparison.sides if side.is_local]:
        whose = "" if len(local) == len(comparison.sides) else f" of {and_list(local)}"
        parts.append(f"all servers{whose} and their load generator on one machine")
    return ", ".join(parts)


@dataclass(frozen=True)
class AlsoDiffering:
    """Labels of important differences besides what is compared, those of durability first and with the sides' values;
    `more`: how many others."""

    labels: tuple[str, ...]
    more: int


def also_differing(comparison: Comparison) -> AlsoDiffering:
    important = (
        each
        for each in comparison.differences
        if each.weight is Weight.IMPORTANT
        and not each.hidden
        and each.group in (FieldGroup.SETTINGS, FieldGroup.VARIABLES)
    )
    # A setting may be known as a variable too.
    found = {each.label: each for each in important}
    if "log_bin" in found:
        found = {label: each for label, each in found.items() if label not in OF_BINLOG}
    ordered = sorted(found, key=lambda label: DURABILITY.index(label) if label in DURABILITY else len(DURABILITY))
    named = tuple(label + _side_values(found[label]) for label in ordered[:NAMED])
    return AlsoDiffering(named, max(0, len(found) - NAMED))


def _side_values(difference: Difference) -> str:
    """Of durability, in the order of the sides: " OFF / OFF / ON"; else empty."""
    values = difference.in_effect
    is_short = len(values) <= NAMED and all(0 < len(each) <= SHORT for each in values)
    return f" {' / '.join(values)}" if difference.label in DURABILITY and is_short else ""


def ribbons(comparison: Comparison, level: Level | None) -> list[Ribbon]:
    """The worst first."""
    held = (Ribbon(each.key, False, each.head, each.text, "runs", "Runs") for each in comparison.cautions)
    return [*_obstacles(comparison), *_limits(comparison, level), *held]


def _obstacles(comparison: Comparison) -> Iterator[Ribbon]:
    names = {side.slug: side.name for side in comparison.sides}
    for is_open in (True, False):
        found = [each for each in comparison.obstacles if (each.accepted is None) is is_open]
        if not found:
            continue
        titles = and_list(list(dict.fromkeys(each.title for each in found)))
        sides = and_list([names[slug] for slug in dict.fromkeys(each.side for each in found)])
        if is_open:
            text = f"other {titles}: verdicts on {sides} are withheld until someone accepts the difference"
            yield Ribbon("not-comparable", True, "Not comparable", f"{text}.", "differences", "Differences")
        else:
            text = f"other {titles} of {sides}, accepted: what is seen may be due to it"
            yield Ribbon("accepted", False, "Different conditions", f"{text}.", "differences", "Differences")


def _limits(comparison: Comparison, level: Level | None) -> Iterator[Ribbon]:
    metric = next((each for each in comparison.metrics if each.primary), next(iter(comparison.metrics), None))
    if level is None or metric is None:
        return
    names = {side.slug: side.name for side in comparison.sides}
    for each in claim_limits(comparison, level, metric):
        yield Ribbon(
            each.meaning.value,
            each.meaning in SEVERE,
            each.head,
            _limit_text(each, names, several=len(comparison.sides) > 2),
            "runs",
            f"{each.failed:,} of {counted(each.runs, 'run')} at {level.text}",
        )


def _limit_text(limit: ClaimLimit, names: dict[str, str], *, several: bool) -> str:
    sides = f"{and_list([names[slug] for slug in limit.sides])}: " * several
    return f"{sides}{limit.text}"
