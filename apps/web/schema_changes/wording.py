"""Texts of schema changes: how long nothing ended, and who paid for it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from apps.comparison.pure import SchemaChange
from apps.core import units
from apps.core.text import counted

# s: both gaps are known to 50 ms.
RESOLUTION = 0.1
GAP, STALL = "gap", "stall"
NOBODY = "nobody"


@dataclass(frozen=True)
class Paid:
    """`is_failure`: transactions failed; `is_known` False: it was not observed; `is_told`: the answer names it."""

    words: str
    is_failure: bool = False
    is_known: bool = True
    is_told: bool = False


def answers(changes: Sequence[SchemaChange]) -> Iterable[str]:
    """A sentence per manner: the longest stall by system, compared with undisturbed load, and what failed."""
    for manner, group in groupby(changes, key=lambda each: each.manner):
        own = [change for change in group if change.trials]
        for key, words in ((GAP, "longest time without a transaction"), (STALL, "longest stall")):
            values = [(change, change.value(key)) for change in own]
            if values and all(each.median is not None for _, each in values):
                named = ", ".join(
                    f"{units.with_unit(each.median, 's')} on {change.system_name}" for change, each in values
                )
                usual = undisturbed(own) if key == GAP else ""
                beside = f" (undisturbed {usual})" if usual else ""
                yield f"{manner.text}: {_quiet(own)}{words} {named}{beside}{_failures(own)}"
                break


def _quiet(changes: Sequence[SchemaChange]) -> str:
    is_free = all(is_quiet(change) and [each.words for each in paid(change)] == [NOBODY] for change in changes)
    return "nobody paid, " if is_free else ""


def _failures(changes: Sequence[SchemaChange]) -> str:
    """For example "; 8 to 10 transactions failed on galera"."""
    failed = [(change, each) for change in changes for each in paid(change) if each.is_failure or each.is_told]
    named = ", ".join(f"{each.words} on {change.system_name}" for change, each in failed)
    return f"; {named}" if named else ""


def undisturbed(changes: Iterable[SchemaChange]) -> str:
    """Longest times without a transaction before the changes: "0.0500 to 0.100 s"; empty: not observed."""
    values = [value for change in changes if (value := change.value("gap_before").median) is not None]
    if not values:
        return ""
    low, high = units.format_number(min(values)), units.with_unit(max(values), "s")
    return high if min(values) == max(values) else f"{low} to {high}"


def is_quiet(change: SchemaChange) -> bool | None:
    """No transaction waited longer than before the change; None: not observed."""
    gap, before = change.value(GAP).high, change.value("gap_before").median
    return None if gap is None or before is None else gap <= before + RESOLUTION


def paid(change: SchemaChange) -> tuple[Paid, ...]:
    """Who paid for the change: transactions that were lost first, then who waited."""
    failed, queue = change.value("failed"), change.value("lock_queue")
    found = list(_in_its_way(change))
    if failed.high:
        found.append(Paid(f"{_span(failed.low, failed.high, 'transaction')} failed", is_failure=True))
    if queue.high:
        found.append(Paid(f"{_span(queue.low, queue.high, 'connection')} waited for the lock"))
    quiet = is_quiet(change)
    if quiet is False and not queue.high:
        found.append(Paid("all writers: no transaction ended"))
    found += _of_other_tables(change)
    if found and (failed.median is not None or any(each.is_known for each in found)):
        return tuple(found)
    if failed.median is None or quiet is None:
        return (Paid("not observable", is_known=False),)
    return (Paid(NOBODY),)


def _in_its_way(change: SchemaChange) -> Iterable[Paid]:
    """The transaction that held the table when the statement came."""
    if not change.manner.hold or not change.trials:
        return
    lost = [trial.values["holders_lost"] for trial in change.trials if "holders_lost" in trial.values]
    if not lost:
        yield Paid("what became of the transaction in its way is not known", is_known=False)
    elif any(lost):
        times = "" if all(lost) else f" in {sum(map(bool, lost))} of {len(lost)} runs"
        yield Paid(f"the transaction in its way was rolled back{times}", is_failure=True)


def _of_other_tables(change: SchemaChange) -> Iterable[Paid]:
    failed, gap, before = (change.value(key) for key in ("other_failed", "other_gap", "other_gap_before"))
    if failed.high:
        yield Paid(f"{_span(failed.low, failed.high, 'write')} to another table failed", is_failure=True)
    if gap.median is not None and gap.high and before.high is not None and gap.high > before.high + RESOLUTION:
        yield Paid(f"writers of another table waited {units.with_unit(gap.median, 's')}", is_told=True)


def _span(low: float | None, high: float, noun: str) -> str:
    if low is None or low == high:
        return counted(round(high), noun)
    return f"{low:,.0f} to {counted(round(high), noun)}"
