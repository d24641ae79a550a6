"""A release compared with the one before it, as frozen values that pages, the API and the gate read. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated

from apps.core.answers import Hidden, Unbounded
from apps.core.names import with_tool
from apps.core.text import counted
from apps.core.units import NBSP

# A row that is inconclusive passes unless its interval leaves open that it is worse by more than this share.
TOLERANCE = 0.1
# Below it a p is said to be so small, not written.
LEAST_P = 1e-4


def p_words(p: float | None) -> str:
    if p is None:
        return "none"
    return f"< {LEAST_P:.4f}" if p < LEAST_P else f"{p:.2g}"


class RowVerdict(StrEnum):
    """How a release stands to its baseline in one row, in the order in which a reader asks."""

    WORSE = "worse"
    BETTER = "better"
    MISSING = "missing"
    WITHHELD = "verdict withheld"
    NO_RATIO = "no ratio"
    TOO_FEW = "too few repetitions"
    INCONCLUSIVE = "inconclusive"
    UNCHANGED = "unchanged"


class Result(StrEnum):
    """The answer of the gate."""

    FINE = "fine"
    REGRESSION = "regression"
    CANNOT_TELL = "cannot tell"


# Nothing is known of such a row.
UNKNOWN = (RowVerdict.MISSING, RowVerdict.WITHHELD, RowVerdict.NO_RATIO, RowVerdict.TOO_FEW)


@dataclass(frozen=True)
class SystemPair:
    """Two systems that are compared with each other; they differ only where there are no others."""

    system: Annotated[str, "slug"]
    system_name: str
    baseline_system: Annotated[str, "slug"]
    baseline_system_name: str
    differs: Annotated[str, "settings in which the two differ; empty: set alike"] = ""


@dataclass(frozen=True)
class CheckRow:
    """One workload at one load level in its primary metric, on one pair of systems (ids and slugs; `system_id` None:
    the release has no match for the baseline's system). `visible`: the smallest rise that such runs find with
    80 % power (`visible_worse`: the same for the worse). `worst` 0: not at all."""

    verdict: RowVerdict
    workload_id: int
    tool: str
    workload: str
    level_id: int
    level: str
    threads: int
    rate: Annotated[float | None, "1/s; null: as fast as it goes"]
    metric_id: Hidden[int]
    metric: Annotated[str, "key"]
    metric_name: str
    unit: str
    direction: Annotated[str, "which is better: higher or lower"]
    baseline_system_id: Hidden[int]
    baseline_system: Annotated[str, "slug"]
    system_id: Hidden[int | None] = None
    system: Annotated[str, "slug; empty: the release has no such system"] = ""
    before: Annotated[Unbounded | None, "typical value of the baseline, in `unit`; null: no runs"] = None
    after: Unbounded | None = None
    runs_before: Annotated[tuple[int, ...], "ids"] = ()
    runs_after: tuple[int, ...] = ()
    ratio: Annotated[Unbounded | None, "after over before"] = None
    low: Annotated[Unbounded | None, "lower end of its 95 % interval; null: there is none, see `reason`"] = None
    high: Unbounded | None = None
    p: Annotated[float | None, "adjusted for all rows (Benjamini-Hochberg)"] = None
    smallest: Annotated[float, "relative difference from which on it counts"] = 0.0
    visible: Hidden[float | None] = None
    worst: Annotated[Unbounded | None, "share by which it may be worse, as the interval leaves open"] = None
    needed: Annotated[int | None, "repetitions of each side that are likely to suffice; 1001: more than 1,000"] = None
    reason: str = ""
    origins: Annotated[tuple[str, ...], "of its runs"] = ()
    finding: Annotated[int | None, "id of the finding that covers it"] = None
    finding_state: str = ""
    is_accepted: Annotated[bool, "people accepted that it is worse, and that has not ended"] = False
    accepted_until: Annotated[date | None, "last day of that; null: it is not accepted"] = None
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
        Unbounded | None,
        "share of the smallest change for the worse that such runs find (80 %): of a fall where higher is better, of a "
        "rise where lower is",
    ]:
        """The test is on logarithms: it sees a fall to
        1 / (1 + visible) as well as a rise to 1 + visible."""
        if self.visible is None or self.direction == "lower":
            return self.visible
        return 1 - 1 / (1 + self.visible)

    @property
    def counts_against(self) -> bool:
        return self.verdict is RowVerdict.WORSE and not self.is_accepted

    @property
    def compare(self) -> Annotated[str, "query of /api/v1/comparisons/ and of the page Compare"]:
        """Empty: there is only one side."""
        if not self.system:
            return ""
        return f"workload={self.workload_id}&side={self.baseline_system}&side={self.system}"


@dataclass(frozen=True)
class ReleaseCheck:
    """`result` and its reasons (`why`) are what the gate answers, with `tolerance`."""

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
    lines: Annotated[tuple[SystemPair, ...], "systems that are compared with each other"]
    rows: Annotated[tuple[CheckRow, ...], "the worse first, each kind by significance"]
    tests: Annotated[int, "comparisons that the correction of p is for"]
    result: Result
    why: Annotated[tuple[str, ...], "sentences"]
    notes: Annotated[tuple[str, ...], "sentences about what is left out"]
    tolerance: float
    checked_at: datetime

    @property
    def counts(self) -> Annotated[dict[str, int], "rows by verdict; `accepted`: of the worse ones"]:
        found = Counter(row.verdict for row in self.rows)
        accepted = sum(row.verdict is RowVerdict.WORSE and row.is_accepted for row in self.rows)
        return {**{verdict.value: found[verdict] for verdict in RowVerdict}, "accepted": accepted}

    @property
    def title(self) -> str:
        against = f" against {self.baseline}" if self.baseline else ""
        return f"{self.platform_name} {self.release}{against} on {self.hardware_name}"

    @property
    def summary(self) -> str:
        """Its counts as words."""
        counts = self.counts
        texts = [f"{counts[verdict]} {verdict}" for verdict in RowVerdict if counts[verdict]]
        if counts["accepted"]:
            texts[0] += f" ({counts['accepted']} accepted)"
        return ", ".join(texts) or "nothing to compare"


def answer(
    rows: Sequence[CheckRow], *, baseline: str, tolerance: float, allow_missing: bool = False
) -> tuple[Result, tuple[str, ...]]:
    """What the gate says, and why. `allow_missing`: rows that the release lacks keep nobody from an answer, as long as
    there are others."""
    against = [row for row in rows if row.counts_against]
    accepted = sum(row.is_accepted for row in rows if row.verdict is RowVerdict.WORSE)
    unknown = Counter(row.verdict for row in rows if row.verdict in UNKNOWN)
    coarse = [row for row in rows if is_coarse(row, tolerance)]
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
    ]
    if coarse:
        why.append(f"{_rows(len(coarse))} inconclusive, and may be worse by more than {tolerance * 100:.0f}{NBSP}%.")
    if against:
        return Result.REGRESSION, tuple(why)
    if allow_missing:
        del unknown[RowVerdict.MISSING]
    there = sum(row.verdict is not RowVerdict.MISSING for row in rows)
    if unknown or coarse or not there:
        return Result.CANNOT_TELL, tuple(why)
    return Result.FINE, (*why, f"None of {_rows(there, ())} is worse{' beside these' if accepted else ''}.")


def is_coarse(row: CheckRow, tolerance: float) -> bool:
    """Whether it may be worse by more than is tolerated, for all that is known."""
    return row.verdict is RowVerdict.INCONCLUSIVE and (row.worst is None or row.worst > tolerance)


def is_telling(row: CheckRow, tolerance: float) -> bool:
    """Whether a reader must know of it: it differs, or too little is known."""
    if row.verdict is RowVerdict.INCONCLUSIVE:
        return is_coarse(row, tolerance)
    return row.verdict is not RowVerdict.UNCHANGED


_UNKNOWN_WORDS = {
    RowVerdict.MISSING: "missing: the baseline has them, this release has no runs that count",
    RowVerdict.WITHHELD: "without verdict until a person accepts the sides' differences",
    RowVerdict.NO_RATIO: "without a ratio",
    RowVerdict.TOO_FEW: "too few repetitions",
}
# Of one and of several.
IS, HAS = ("is", "are"), ("has", "have")
_UNKNOWN_VERBS = {RowVerdict.TOO_FEW: HAS}


def _rows(count: int, verb: Sequence[str] = IS) -> str:
    word = counted(count, "row")
    return f"{word} {verb[0 if count == 1 else 1]}" if verb else word
