"""A release compared with its predecessor, as frozen values for pages, the API and the gate. Pure."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated

from apps.comparison.pure import ClaimLimit, Meaning
from apps.core.answers import Hidden, Name, Shown, Unbounded, component
from apps.core.names import with_tool
from apps.core.text import counted
from apps.core.units import NBSP

# The margin of rows for which none is set: one passes unless its interval includes a change for the worse by more than
# this share (non-inferiority).
TOLERANCE = 0.1
# The same for what is judged beside the primary metric: with equal runs the intervals of percentiles, work per
# transaction and downtimes are several times as wide.
LATENCY_TOLERANCE = 0.5
ERRORS, DIPS, LATENCY, WORK = "errors", "time in dips", "latency", "work per transaction"
# Kinds beside the primary metric by the beginning of its key; all others: latency.
KINDS = {
    "client.errors": ERRORS,
    "steadiness.": DIPS,
    "work.": WORK,
    "failover.": "write downtime",
}
# They pass unless more for certain: a few deadlocks of few transactions leave any share open.
COUNTED = (ERRORS, DIPS)
# Smaller p are shown as "< 0.0001".
LEAST_P = 1e-4


def p_words(p: float | None) -> str:
    if p is None:
        return "none"
    return f"< {LEAST_P:.4f}" if p < LEAST_P else f"{p:.2g}"


class RowVerdict(StrEnum):
    """Verdict of one row, in display order."""

    WORSE = "worse"
    BETTER = "better"
    MISSING = "missing"
    VOID = "not usable"
    WITHHELD = "verdict withheld"
    NO_RATIO = "no ratio"
    TOO_FEW = "too few repetitions"
    ONE_SESSION = "one session each"
    RATE_NOT_HELD = "rate not held"
    INCONCLUSIVE = "inconclusive"
    UNCHANGED = "unchanged"
    RATE_HELD = "rate held"


class Result(StrEnum):
    """Result of the gate."""

    FINE = "fine"
    REGRESSION = "regression"
    CANNOT_TELL = "cannot tell"


# Verdicts of rows without a result.
UNKNOWN = (
    RowVerdict.MISSING,
    RowVerdict.VOID,
    RowVerdict.WITHHELD,
    RowVerdict.NO_RATIO,
    RowVerdict.TOO_FEW,
    RowVerdict.ONE_SESSION,
    RowVerdict.RATE_NOT_HELD,
)


@dataclass(frozen=True)
class SystemPair:
    """Two systems that are compared; `differs` is not empty only if there was no other candidate."""

    system: Annotated[str, "slug"]
    system_name: str
    baseline_system: Annotated[str, "slug"]
    baseline_system_name: str
    differs: Annotated[str, "settings in which the two differ; empty: set alike"] = ""


@component(text="A workload at a load level in its primary metric or a percentile of latency, on one pair of systems.")
@dataclass(frozen=True)
class CheckRow:
    """One workload at one load level in one metric, on one pair of systems (ids and slugs; `system_id` None: the
    release has no match for the baseline's system). `visible`: the smallest rise that such runs find with
    80 % power (`visible_worse`: the same for a change for the worse). `worst` 0: it is not worse."""

    verdict: RowVerdict
    workload_id: int
    tool: str
    workload: str
    level_id: int
    level: str
    threads: int
    rate: Annotated[float | None, "1/s; null: unthrottled"]
    metric_id: Hidden[int]
    metric: Annotated[str, "key"]
    metric_name: str
    unit: str
    direction: Annotated[str, "which is better: higher or lower"]
    baseline_system_id: Hidden[int]
    baseline_system: Annotated[str, "slug"]
    system_id: Hidden[int | None] = None
    system: Annotated[str, "slug; empty: the release has no matching system"] = ""
    before: Annotated[Unbounded | None, "typical value of the baseline, in `unit`; null: no runs"] = None
    after: Unbounded | None = None
    runs_before: Annotated[tuple[int, ...], "ids"] = ()
    runs_after: tuple[int, ...] = ()
    ratio: Annotated[Unbounded | None, "after / before"] = None
    low: Annotated[Unbounded | None, "lower end of its 95 % interval; null: there is none, see `reason`"] = None
    high: Unbounded | None = None
    p: Annotated[float | None, "adjusted for all rows (Benjamini-Hochberg)"] = None
    smallest: Annotated[float, "smallest relative difference that counts"] = 0.0
    margin: Annotated[
        float | None,
        "share by which it may be worse and pass, as set when it was compared; null: the `tolerance`, beside the "
        "primary metric at least 0.5; errors have none",
    ] = None
    visible: Hidden[float | None] = None
    worst: Annotated[Unbounded | None, "greatest share by which it may be worse, by its interval"] = None
    failing: Annotated[
        float | None, "of errors: the share of the release's transactions that may fail; of dips: of its time"
    ] = None
    needed: Annotated[int | None, "per side for a conclusive result at 80 % power; 1001: more than 1,000"] = None
    sessions: Annotated[
        tuple[int, int] | None, "of baseline and release, if they are what repeats: `needed` counts these; null: runs"
    ] = None
    reason: str = ""
    origins: Annotated[tuple[str, ...], "of its runs"] = ()
    primary: Annotated[
        bool,
        "the workload's primary metric, at a fixed rate its latency too; not latency, errors, dips or work beside it",
    ] = True
    suspect: Annotated[bool, "of errors and dips: more by its own interval, but not among all rows"] = False
    claim_limits: Annotated[
        tuple[ClaimLimit, ...], "what failed quality checks of its runs make of the verdict, the worst first"
    ] = ()
    finding: Annotated[int | None, "id of its finding"] = None
    finding_state: str = ""
    is_accepted: Annotated[bool, "accepted as worse, and the acceptance has not ended"] = False
    accepted_until: Annotated[date | None, "last day of the acceptance; null: not accepted"] = None
    accepted_why: str = ""

    @property
    def change(self) -> float | None:
        """Relative: 0.12 for 12 % more."""
        return None if self.ratio is None else self.ratio - 1

    @property
    def workload_words(self) -> str:
        return with_tool(self.tool, self.workload)

    @property
    def visible_worse(
        self,
    ) -> Annotated[
        Shown[Unbounded | None],
        Name("visible"),
        "smallest change for the worse, as a share, that such runs find with 80 % power: a fall where higher is "
        "better, a rise where lower is",
    ]:
        """The test is on logarithms: it finds a fall to 1 / (1 + visible) as well as a rise to 1 + visible."""
        if self.visible is None or self.direction == "lower":
            return self.visible
        return 1 - 1 / (1 + self.visible)

    @property
    def kind(self) -> str:
        """What limits it: empty for the primary metric, else one of KINDS or latency."""
        if self.primary:
            return ""
        return next(
            (kind for begin, kind in KINDS.items() if self.metric.startswith(begin)),
            LATENCY if self.failing is None else ERRORS,
        )

    @property
    def counts_against(self) -> bool:
        return self.verdict is RowVerdict.WORSE and not self.is_accepted

    @property
    def compare(self) -> Annotated[Shown[str], "query of /api/v1/comparisons/ and of the page Compare"]:
        """Empty: one side only."""
        if not self.system:
            return ""
        return f"workload={self.workload_id}&side={self.baseline_system}&side={self.system}"


@dataclass(frozen=True)
class ReleaseCheck:
    """`result` and its reasons (`why`) are the gate's, with `tolerance`."""

    platform_id: Hidden[int]
    platform: Annotated[str, "slug"]
    platform_name: Hidden[str]
    release_id: Hidden[int]
    release: Annotated[str, "version"]
    baseline_id: Hidden[int | None]
    baseline: Annotated[str, "version; empty: no earlier release has runs"]
    hardware_id: Hidden[int]
    hardware: Annotated[str, "slug"]
    hardware_name: str
    lines: Annotated[tuple[SystemPair, ...], "pairs of compared systems"]
    rows: Annotated[tuple[CheckRow, ...], "the worse first, each kind by significance"]
    tests: Annotated[int, "number of tests for which p is corrected"]
    result: Result
    why: Annotated[tuple[str, ...], "sentences"]
    notes: Annotated[tuple[str, ...], "sentences about rows left out"]
    tolerance: float
    checked_at: datetime

    @property
    def counts(self) -> Annotated[Shown[dict[str, int]], "rows by verdict; `accepted`: of these, worse and accepted"]:
        found = Counter(row.verdict for row in self.rows)
        accepted = sum(row.verdict is RowVerdict.WORSE and row.is_accepted for row in self.rows)
        return {**{verdict.value: found[verdict] for verdict in RowVerdict}, "accepted": accepted}

    @property
    def title(self) -> Shown[str]:
        against = f" against {self.baseline}" if self.baseline else ""
        return f"{self.platform_name} {self.release}{against} on {self.hardware_name}"

    @property
    def summary(self) -> Shown[str]:
        """The counts by verdict as text."""
        counts = self.counts
        texts = [f"{counts[verdict]} {verdict}" for verdict in RowVerdict if counts[verdict]]
        if counts["accepted"]:
            texts[0] += f" ({counts['accepted']} accepted)"
        return ", ".join(texts) or "nothing to compare"


def answer(
    rows: Sequence[CheckRow], *, baseline: str, tolerance: float, allow_missing: bool = False
) -> tuple[Result, tuple[str, ...]]:
    """Result of the gate, and the reasons. `allow_missing`: missing rows do not prevent a result, as long as there are
    others."""
    against = [row for row in rows if row.counts_against]
    accepted = sum(row.is_accepted for row in rows if row.verdict is RowVerdict.WORSE)
    unknown = Counter(row.verdict for row in rows if row.verdict in UNKNOWN)
    coarse = [row for row in rows if is_coarse(row, tolerance)]
    by_limit = Counter((row.kind, margin_of(row, tolerance)) for row in coarse)
    why = []
    if against:
        why.append(f"{_rows(len(against))} worse" + (", not accepted." if accepted else "."))
    if accepted:
        why.append(f"{_rows(accepted)} worse and accepted: they do not count.")
    if not baseline:
        why.append("There is no earlier release with runs to compare with.")
    elif not rows:
        why.append("There is nothing to compare.")
    why += [
        f"{_rows(count, _UNKNOWN_VERBS.get(verdict, IS))} {_UNKNOWN_WORDS[verdict]}."
        for verdict, count in unknown.items()
        if verdict in _UNKNOWN_WORDS
    ]
    why += _limits(rows)
    why += [
        f"{_rows(count, of=f' of {kind}' * bool(kind))} inconclusive, and may be worse by more than "
        f"{limit * 100:g}{NBSP}%."
        for (kind, limit), count in sorted(by_limit.items())
    ]
    named = Counter(row.kind for row in rows if row.suspect and row.verdict is RowVerdict.INCONCLUSIVE)
    why += [
        f"{_rows(count, of=f' of {kind}')} more by itself, though not among all rows." for kind, count in named.items()
    ]
    if against:
        return Result.REGRESSION, tuple(why)
    if allow_missing:
        del unknown[RowVerdict.MISSING]
    there = sum(row.verdict is not RowVerdict.MISSING for row in rows)
    if unknown or coarse or not there:
        return Result.CANNOT_TELL, tuple(why)
    return Result.FINE, (
        *why,
        f"None of {_rows(there, ())} is worse{' beside these' * bool(accepted)}{_bounds(rows, tolerance)}.",
    )


def _limits(rows: Sequence[CheckRow]) -> Iterator[str]:
    """What failed checks make of the rows, the worst first; of those that are not usable, why they are not."""
    order = list(Meaning)
    found = Counter((order.index(each.meaning), each.head, each.text) for row in rows for each in row.claim_limits)
    for (_, head, text), count in sorted(found.items()):
        yield f"{head} ({_rows(count, ())}): {text}"


def _bounds(rows: Sequence[CheckRow], tolerance: float) -> str:
    """By how much the rows may be worse at most (non-inferiority), those of each kind and margin apart; empty: no row
    has an interval."""
    most: dict[tuple[str, float], float] = {}
    for row in rows:
        if row.kind not in COUNTED and row.worst is not None and not row.is_accepted:
            place = row.kind, margin_of(row, tolerance)
            most[place] = max(most.get(place, 0.0), row.worst)
    texts = [
        f"{f'of {kind} ' * bool(kind)}{math.ceil(worst * 1000) / 10:g}{NBSP}% (margin {margin * 100:g}{NBSP}%)"
        for (kind, margin), worst in sorted(most.items())
    ]
    if not texts:
        return ""
    return f" by more than its margin: at most {', '.join(texts)}, as far as each row's 95{NBSP}% interval reaches"


def is_coarse(row: CheckRow, tolerance: float) -> bool:
    """Whether it may be worse by more than its margin, by its interval. Of work without a ratio nothing is known:
    background work explains it."""
    if row.kind in COUNTED or row.verdict not in (RowVerdict.INCONCLUSIVE, RowVerdict.UNCHANGED):
        return False
    if row.worst is None:
        return row.verdict is RowVerdict.INCONCLUSIVE and row.kind != WORK
    return row.worst > margin_of(row, tolerance)


def lacks_sessions(row: CheckRow) -> bool:
    """Whether further sessions are what a verdict takes, and further runs of the same sessions no help."""
    without = row.verdict in (RowVerdict.INCONCLUSIVE, RowVerdict.TOO_FEW)
    return row.verdict is RowVerdict.ONE_SESSION or (without and row.sessions is not None)


def margin_of(row: CheckRow, tolerance: float) -> float:
    """That of the row; without one, `tolerance`, beside the primary metric LATENCY_TOLERANCE if that is more, and at
    least what is no finding."""
    if row.margin is not None:
        return row.margin
    return max(row.smallest, tolerance if row.primary else max(tolerance, LATENCY_TOLERANCE))


def is_relevant(row: CheckRow, tolerance: float) -> bool:
    """Whether a reader must know of the row: it differs, or its result is unknown."""
    if row.verdict is RowVerdict.RATE_HELD:
        return False
    if row.verdict in (RowVerdict.INCONCLUSIVE, RowVerdict.UNCHANGED):
        return row.suspect or is_coarse(row, tolerance)
    return True


_UNKNOWN_WORDS = {
    RowVerdict.MISSING: "missing: the baseline has them, this release has no runs that count",
    RowVerdict.WITHHELD: "without verdict until a person accepts the sides' differences",
    RowVerdict.NO_RATIO: "without a ratio",
    RowVerdict.TOO_FEW: "too few repetitions",
    RowVerdict.ONE_SESSION: "measured in one session of each side: how much sessions differ is not known",
    RowVerdict.RATE_NOT_HELD: "of a fixed rate that was not held: latency there is that of a growing queue",
}
# Singular and plural.
IS, HAS = ("is", "are"), ("has", "have")
_UNKNOWN_VERBS = {RowVerdict.TOO_FEW: HAS, RowVerdict.ONE_SESSION: ("was", "were")}


def _rows(count: int, verb: Sequence[str] = IS, *, of: str = "") -> str:
    word = counted(count, "row") + of
    return f"{word} {verb[0 if count == 1 else 1]}" if verb else word
