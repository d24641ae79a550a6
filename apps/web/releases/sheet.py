"""A release compared with the previous one, as shown: rows with verdicts as text and sign, and the summary."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from apps.comparison.pure import FEWEST_RUNS
from apps.core.text import counted
from apps.core.units import NBSP, all_digits, format_number
from apps.dispatch.api import MAX_REPETITIONS
from apps.regressions.api import (
    CheckRow,
    ReleaseCheck,
    Result,
    RowVerdict,
    TrendStep,
    change_interval,
    change_size,
    is_relevant,
    p_words,
    share,
)
from apps.web.findings.wording import beside_row
from apps.web.releases.strips import Strip, strips
from workers.protocol.workloads import WORKLOADS

# Result -> mark's class, sign, words.
RESULTS = {
    Result.FINE: ("good", "✓", "no regression"),
    Result.REGRESSION: ("bad", "✗", "regression"),
    Result.CANNOT_TELL: ("waiting", "?", "cannot tell"),
}
FIRST = ("first", "–", "first release")
# Order of the list.
WORST_FIRST = (Result.REGRESSION, Result.CANNOT_TELL, Result.FINE)
# In column order of the list.
COUNTED = (
    (RowVerdict.WORSE, "worse"),
    (RowVerdict.BETTER, "better"),
    (RowVerdict.UNCHANGED, "unchanged"),
    (RowVerdict.INCONCLUSIVE, "inconclusive"),
    (RowVerdict.TOO_FEW, "too few repetitions"),
    (RowVerdict.ONE_SESSION, "one session each"),
    (RowVerdict.MISSING, "missing"),
)
# Shown beside these, if any.
SELDOM = (RowVerdict.VOID, RowVerdict.WITHHELD, RowVerdict.NO_RATIO, RowVerdict.RATE_NOT_HELD, RowVerdict.RATE_HELD)
MORE_THAN_MOST = 1000
LONGEST_NAME = 120
# Warm-up and planned duration of a run, s; None: unknown.
Times = tuple[float, float | None]
# System, workload, load level and metric.
SeriesKey = tuple[int | None, int, int, int]
BARE_PERCENT = re.compile(r"(?<=\d)%")


@dataclass(frozen=True)
class ReleaseRow:
    """A row; `kind`: class of its verdict; `turned`: class of its sign if lower is better; `interval`, or why there is
    none.

    `step`: the finding of a step in its trend, where the row has none or another; `step_why`: why that has another
    word, empty: it has the same.

    `also`: smallest detectable change, or runs needed; `plan_url`: the form of a campaign with these runs, empty: none.
    `strip` None: there is no interval. `trend_url`: of the series that the release's runs are part of; empty: none.
    """

    row: CheckRow
    kind: str
    turned: str
    before: str
    after: str
    change: str
    interval: str
    title: str
    also: str
    compare_url: str
    plan_url: str
    strip: Strip | None
    trend_url: str
    step: TrendStep | None
    step_why: str

    @property
    def p(self) -> str:
        return p_words(self.row.p)


@dataclass(frozen=True)
class ReleaseSheet:
    """`relevant`: rows to read; `others`: unchanged, or inconclusive and at most slightly worse. `why`: reasons beside
    the counts of `answer`. `finding`: of the most significant row that counts against the release, and its
    state; None: no such row has one."""

    check: ReleaseCheck
    mark: str
    sign: str
    words: str
    answer: str
    why: tuple[str, ...]
    relevant: tuple[ReleaseRow, ...]
    others: tuple[ReleaseRow, ...]
    missing: tuple[ReleaseRow, ...]
    finding: tuple[int, str] | None


def result_words(check: ReleaseCheck) -> tuple[str, str, str]:
    """Class, sign and words of its mark."""
    return RESULTS[check.result] if check.baseline else FIRST


def worst_first(check: ReleaseCheck) -> tuple[bool, int]:
    """Sort key of the list: regressions first, releases without an earlier one last."""
    return not check.baseline, WORST_FIRST.index(check.result)


def sheet(
    check: ReleaseCheck,
    times: Mapping[int, Times],
    trends: Mapping[SeriesKey, int] | None = None,
    steps: Mapping[SeriesKey, TrendStep] | None = None,
) -> ReleaseSheet:
    """`times`: of the runs in `to_repeat`. `trends`: ids. `steps`: findings in these."""
    mark, sign, words = result_words(check)
    drawn = zip(check.rows, strips(check.rows), strict=True)
    shown = [
        _shown(row, times, strip, (trends or {}).get(series_key(row)), (steps or {}).get(series_key(row)))
        for row, strip in drawn
    ]
    return ReleaseSheet(
        check=check,
        mark=mark,
        sign=sign,
        words=words,
        answer=f"{check.title}: {check.summary}",
        why=_why(check),
        relevant=tuple(each for each in shown if is_relevant(each.row, check.tolerance) and not _is_missing(each)),
        others=tuple(each for each in shown if not is_relevant(each.row, check.tolerance)),
        missing=tuple(each for each in shown if _is_missing(each)),
        finding=next(
            ((row.finding, row.finding_state) for row in check.rows if row.counts_against and row.finding), None
        ),
    )


def _why(check: ReleaseCheck) -> tuple[str, ...]:
    """The reasons, without the number of worse rows where the answer gives the same."""
    is_said = any(row.counts_against for row in check.rows) and not check.counts["accepted"]
    return check.why[1:] if is_said else check.why


def _value(value: float | None, unit: str) -> str:
    """Without the unit, which is shown beside the metric."""
    return "no runs" if value is None else format_number(value, unit=unit)


def _is_missing(shown: ReleaseRow) -> bool:
    return shown.row.verdict is RowVerdict.MISSING


def series_key(row: CheckRow) -> SeriesKey:
    return row.system_id, row.workload_id, row.level_id, row.metric_id


def _shown(
    row: CheckRow, times: Mapping[int, Times], strip: Strip | None, trend: int | None, step: TrendStep | None
) -> ReleaseRow:
    step = step if step and step.finding != row.finding else None
    kinds = {
        RowVerdict.WORSE: "worse",
        RowVerdict.BETTER: "better",
        RowVerdict.UNCHANGED: "equivalent",
        RowVerdict.RATE_HELD: "plain",
    }
    kind = kinds.get(row.verdict, "unknown")
    turned = {"better": "verdict--down", "worse": "verdict--up"}.get(kind, "") if row.direction == "lower" else ""
    return ReleaseRow(
        row=row,
        kind=kind,
        turned=turned,
        before=_value(row.before, row.unit),
        after=_value(row.after, row.unit),
        change=_change(row),
        interval=interval(row),
        title=_title(row),
        also=_also(row),
        compare_url=f"{reverse('web:compare')}?{row.compare}" if row.compare and row.after is not None else "",
        plan_url=_plan_url(row, times),
        strip=strip,
        trend_url=reverse("web:trend", args=[trend]) if trend else "",
        step=step,
        step_why=beside_row("history", row) if step and step.verdict != row.verdict else "",
    )


def to_repeat(check: ReleaseCheck) -> list[int]:
    """One run of each row that needs more repetitions, as the model of its parameters."""
    return [row.runs_before[-1] for row in check.rows if _can_be_planned(row)]


def _can_be_planned(row: CheckRow) -> bool:
    """Whether the campaign form can plan it: an agent's tool, no fixed rate, within the maximum of repetitions."""
    more_would_tell = row.needed is not None and row.verdict in (RowVerdict.INCONCLUSIVE, RowVerdict.TOO_FEW)
    is_possible = row.tool in WORKLOADS and row.rate is None and bool(row.system and row.runs_before)
    return more_would_tell and is_possible and (row.needed or 0) <= MAX_REPETITIONS


def _plan_url(row: CheckRow, times: Mapping[int, Times]) -> str:
    if not _can_be_planned(row):
        return ""
    asked = [
        ("name", f"{row.workload}, {row.level}: {row.baseline_system} and {row.system} again"[:LONGEST_NAME]),
        *(("system", system) for system in (row.baseline_system, row.system)),
        ("workload", row.workload_id),
        ("threads", row.threads),
        # A campaign is one session.
        ("repetitions", FEWEST_RUNS if row.sessions else row.needed),
    ]
    if (known := times.get(row.runs_before[-1])) and known[1] is not None:
        asked += [("warmup", f"{known[0]:g}"), ("duration", f"{known[1]:g}")]
    return f"{reverse('web:campaign-new')}?{urlencode(asked)}"


def _change(row: CheckRow) -> str:
    """Errors and dips have no ratio where a run has none."""
    if row.ratio is not None:
        return change_size(row.ratio, row.low, row.high)
    words = {RowVerdict.WORSE: "more", RowVerdict.BETTER: "fewer"}
    return words.get(row.verdict, "") if row.low is None else ""


def interval(row: CheckRow) -> str:
    """For example "[−14 %, −10 %]", or why there is none."""
    if row.low is None or row.high is None:
        return "" if row.after is None or row.ratio is None else "no interval"
    return change_interval(row.low, row.high)


def _title(row: CheckRow) -> str:
    runs = f"{len(row.runs_before)} and {len(row.runs_after)} runs ({', '.join(row.origins) or 'no origin'})"
    values = f"{all_digits(row.before)} and {all_digits(row.after)} {row.unit}".strip()
    ratio = "" if row.ratio is None else f"; ratio {all_digits(row.ratio)}"
    ends = "" if row.low is None else f", 95 % interval {all_digits(row.low)} to {all_digits(row.high)}"
    return f"{values}, of {runs}{ratio}{ends}"


def _also(row: CheckRow) -> str:
    """Details beyond the verdict."""
    parts = [row.reason] if row.reason else []
    if row.verdict in (RowVerdict.INCONCLUSIVE, RowVerdict.UNCHANGED) and row.visible_worse is not None:
        turn = "rise" if row.direction == "lower" else "fall"
        parts.append(f"a {turn} of {share(row.visible_worse)} would have been detected")
    if row.verdict is RowVerdict.INCONCLUSIVE and row.worst:
        parts.append(f"may be worse by up to {share(row.worst)}")
    if row.margin is not None:
        parts.append(f"margin {row.margin * 100:g}{NBSP}%")
    if row.needed is not None and row.verdict in (RowVerdict.INCONCLUSIVE, RowVerdict.TOO_FEW):
        many = f"more than {MORE_THAN_MOST:,}" if row.needed > MORE_THAN_MOST else f"{row.needed:,}"
        parts.append(f"{many} {'sessions' if row.sessions else 'repetitions'} per side needed")
    parts += [each.words.removesuffix(".") for each in row.claim_limits]
    # Older stored reasons lack the space before "%".
    return BARE_PERCENT.sub(f"{NBSP}%", "; ".join(parts))


@dataclass(frozen=True)
class Count:
    """`verdict`: the column's heading; `note`: how many of them are accepted."""

    verdict: str
    number: int
    kind: str
    note: str = ""


def counts(check: ReleaseCheck) -> list[Count]:
    """In the order of COUNTED."""
    found = check.counts
    kinds = {RowVerdict.WORSE: "worse", RowVerdict.BETTER: "better", RowVerdict.MISSING: "unknown"}
    return [
        Count(
            words,
            found[verdict],
            kinds.get(verdict, "") if found[verdict] else "",
            f"{found['accepted']} accepted" if verdict is RowVerdict.WORSE and found["accepted"] else "",
        )
        for verdict, words in COUNTED
    ]


def seldom(check: ReleaseCheck) -> str:
    """For example "2 verdict withheld"; empty: none."""
    return ", ".join(f"{check.counts[verdict]} {verdict}" for verdict in SELDOM if check.counts[verdict])


def overall(checks: Sequence[ReleaseCheck]) -> str:
    """Summary above a list of releases."""
    if not checks:
        return ""
    bad = [check for check in checks if check.result is Result.REGRESSION]
    first = sum(not check.baseline for check in checks)
    unsure = sum(check.result is Result.CANNOT_TELL for check in checks) - first
    fine = len(checks) - len(bad) - unsure - first
    parts = []
    if bad:
        named = ", ".join(f"{check.platform_name} {check.release} on {check.hardware_name}" for check in bad[:3])
        more = f" and {len(bad) - 3} more" if len(bad) > 3 else ""
        parts.append(f"{_number(len(bad))} regressed beyond what was accepted: {named}{more}")
    parts += [f"{_number(unsure)} inconclusive"] if unsure else []
    parts += [f"{_number(first)} without an earlier one"] if first else []
    parts += [f"{_number(fine)} {'is' if fine == 1 else 'are'} no worse than the one before"] if fine else []
    return "; ".join(parts) + "."


def _number(count: int) -> str:
    return counted(count, "release")
