"""What changed together with a result, the likeliest cause first. Pure: an order by rules, no claim of causation.

Candidates are ranked by what they show:

1. the runs' conditions: other hardware, data set or workload explains anything;
2. a resource that became saturated or had errors, by saturation or errors, then by utilization (USE method);
3. a statement that took half or more of the additional time per transaction;
4. work per transaction, by its change beyond that of throughput, and saturation or errors that grew below that level;
5. other statements that took a tenth or more of that time, by their share;
6. versions and important settings that are not known to govern anything that changed;
7. what cannot explain this metric: of throughput, errors of too few operations; of errors, what makes nothing fail;
8. what follows throughput: work that rose per transaction but, within its interval, not per second, at no saturated
   resource; statements in execution;
9. what moved the other way.

Errors explain as much of a change of throughput as their share of the operations (`error_share`): with half or more of
it they stand under 2, with a tenth or more under 5, else under 7.

What a person sets or writes stands before what follows from it: a setting directly before the first candidate of 2 to 5
that it governs (`setting_effects`; at most two settings, others behind it), a statement of 3 that examines more rows or
is executed more often directly before the first resource.
One candidate stands for all indicators, and all work, of one resource. Utilization with room left, and utilization that
moved the other way, explains nothing and is left out. For a change for the better all directions are reversed.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Annotated

from apps.catalog.pure import BY_KEY
from apps.comparison.pure import (
    ACCEPTABLE,
    DEFAULT,
    THROUGHPUT,
    Difference,
    FieldGroup,
    Ratio,
    Verdict,
    Weight,
    differing_entries,
    with_interval,
)
from apps.core.answers import Hidden, OneOf, Words, component
from apps.core.text import and_list, counted
from apps.regressions.findings.evidence import error_share
from apps.regressions.findings.evidence.setting_effects import governs, names
from apps.regressions.findings.evidence.statement_difference import StatementDifference
from apps.regressions.findings.evidence.use_difference import IndicatorDifference, UseDifference
from apps.regressions.findings.evidence.work_difference import WorkDifference
from apps.use_method.pure import RESOURCE_OF, Aspect, UseLevel, resource_name

RESOURCE, WORK, STATEMENT, SETTING = "resource", "work", "statement", "setting"
KINDS = (RESOURCE, WORK, STATEMENT, SETTING)
ERRORS = "client.errors"
CONDITIONS, SATURATION, UTILIZATION, MOST_TIME, SIZE, SOME_TIME, UNKNOWN, UNRELATED, FOLLOWS, CONTRARY = range(10)
# Shares of the additional time per transaction, or of the change of throughput.
MOST, LEAST = 0.5, 0.1
# Of settings that are not known to govern anything that changed.
MOST_UNKNOWN = 5
# With as many clients as before, statements that take longer are more at once (Little's law), whatever they wait for.
CONCURRENCY = ("cpu.threads_running", "threads.held")
# Settings directly before one candidate; those whose names its evidence has, and important ones, first.
MOST_BEFORE = 2
VALUE_SHOWN = 40
OPTIONS = (FieldGroup.SETTINGS, FieldGroup.VARIABLES)
# A variable that one side's version does not have is at best renamed.
MISSING = "no such variable"
# Resources of the catalog's work that have other names in use_method; those that a statement's own work goes to.
RESOURCES = {"storage engine calls": "cpu", "replication log": "disk"}
WORKED = ("cpu", "memory", "disk", "network", "row_locks", "buffer_pool", "redo_log", "temporary_tables", "purge")


@component("Cause")
@dataclass(frozen=True)
class Cause:
    """`key`: of the first indicator or quantity, of the statement, or the setting's field. `where`: node of a resource.
    `tier`, `size`: place in the order; `beside`: -1 directly before what it governs there, 1 behind it. `keys`: of all
    that it stands for, with `declared`, their declarations; `rose`: whether their values did. `resource`: of
    use_method. `does_more`: of a statement, in the direction of the change."""

    kind: Annotated[str, OneOf(KINDS)]
    key: Annotated[str, "of the indicator, metric, statement or field, as in the other lists"]
    words: Annotated[Words, "what it was before and after"]
    why: Annotated[Words, "why it ranks here"]
    explains: Annotated[bool, "false: it cannot, only follows throughput, or moved the other way"]
    tier: Hidden[int]
    size: Hidden[float] = 0.0
    beside: Hidden[int] = 0
    where: Hidden[str] = ""
    resource: Hidden[str] = ""
    keys: Hidden[tuple[str, ...]] = ()
    declared: Hidden[str] = ""
    rose: Hidden[bool] = True
    does_more: Hidden[bool] = False

    @property
    def is_indicated(self) -> bool:
        """Whether something that was observed points to it."""
        return self.tier < UNKNOWN

    @property
    def order(self) -> tuple[int, float, int, str, str]:
        return self.tier, -self.size, self.beside, self.kind, self.key


def ranked(
    *,
    use: UseDifference,
    work: Sequence[WorkDifference],
    statements: Sequence[StatementDifference],
    settings: Sequence[Difference],
    is_worse: bool,
    throughput: float | None,
    metric: str = THROUGHPUT,
) -> tuple[Cause, ...]:
    """The likeliest first. `throughput`: after / before; None: not known. `metric`: key of what changed, which is none
    of its own causes; settings that govern it are."""
    others = [each for each in work if each.key != metric]
    own = [each for each in work if each.key == metric]
    errors = error_share.of_change(use, throughput) if metric == THROUGHPUT else None
    seen = sorted(
        [
            *_joined(_resources(use, errors, is_worse=is_worse)),
            *_joined(_work(others, use.pressed, throughput, is_worse=is_worse)),
            *_statements(statements, is_worse=is_worse),
        ],
        key=lambda each: each.order,
    )
    if metric == ERRORS:
        seen = sorted(map(_of_errors, seen), key=lambda each: each.order)
    worked = next((each for each in seen if each.kind == RESOURCE and each.resource in WORKED and each.explains), None)
    found = [
        _beside(each, worked, -1) if worked and each.tier == MOST_TIME and each.does_more else each for each in seen
    ]
    governed = [*seen, *_work(own, use.pressed, throughput, is_worse=is_worse)]
    found += _settings(settings, sorted(governed, key=lambda each: each.order))
    return tuple(sorted(found, key=lambda each: each.order))


def _of_errors(cause: Cause) -> Cause:
    """Where errors are what changed: most costs make no operation fail."""
    if not cause.explains or (cause.kind == RESOURCE and cause.resource in error_share.MAKE_FAIL):
        return cause
    return replace(cause, tier=UNRELATED, explains=False, why=f"{cause.why}; it makes no operation fail")


def _beside(cause: Cause, governed: Cause, beside: int) -> Cause:
    moved = replace(cause, tier=governed.tier, size=governed.size, beside=beside)
    return min(cause, moved, key=lambda each: each.order)


def _joined(causes: Iterable[Cause]) -> Iterator[Cause]:
    """One for each resource (on a node) in a tier or above and below the line of what explains."""
    ordered = sorted(causes, key=lambda each: (each.where, each.resource, each.explains, each.order))
    for _, same in groupby(ordered, key=lambda each: (each.where, each.resource, each.explains)):
        first, *others = same
        more = f"; {counted(len(others), 'more difference')} of this resource" if others else ""
        yield replace(
            first,
            why=f"{first.why}{more}",
            keys=(*first.keys, *(key for each in others for key in each.keys)),
            declared=" ".join(each.declared for each in (first, *others)),
        )


def _resources(use: UseDifference, errors: float | None, *, is_worse: bool) -> Iterator[Cause]:
    """`errors`: greatest share of the change that they can explain; None: not known."""
    several = len({each.where for each in use.differences}) > 1
    for each in use.differences:
        is_used, explains = each.indicator.aspect is Aspect.UTILIZATION, each.grew is is_worse
        if is_used and (each.had_room or not explains):
            continue
        indicator, level = each.indicator, f" ({each.after.level.word})" if each.after.level.severity > 1 else ""
        aspect = indicator.aspect.value
        if not explains:
            tier, why = CONTRARY, f"{aspect} moved the other way"
        elif indicator.key in CONCURRENCY:
            tier, why = FOLLOWS, "counts statements that wait for anything: it follows their duration"
        elif each.climbed and max(each.before.level.severity, each.after.level.severity) >= UseLevel.SATURATED.severity:
            tier, why = UTILIZATION if is_used else SATURATION, f"{aspect} reached another level: {each.level_words}"
        else:
            grew = (
                f"{'grew' if each.grew else 'fell'}{f', {each.level_words}' if each.climbed else ' within its level'}"
            )
            tier, why = SIZE, f"{aspect} {grew}"
        size = _logarithm(each) if tier == SIZE else abs(each.climbed) + each.size
        if explains and errors is not None and RESOURCE_OF[indicator.key].key == error_share.RESOURCE:
            why = f"{why}; at most {100 * errors:.0f}\u00a0% of the change: an attempt that fails ends early"
            if errors < MOST:
                tier, size = SOME_TIME if errors >= LEAST else UNRELATED, errors
        yield Cause(
            kind=RESOURCE,
            key=indicator.key,
            words=f"{each.title}{f' on {each.where}' if several else ''} {each.span}{each.numbers}{level}",
            why=why,
            explains=explains and tier not in (FOLLOWS, UNRELATED),
            tier=tier,
            size=size,
            where=each.where,
            resource=RESOURCE_OF[indicator.key].key,
            keys=(indicator.key,),
            declared=f"{indicator.reason} {indicator.limits} {indicator.formula} {each.after.words}",
            rose=each.grew,
        )


def _logarithm(each: IndicatorDifference) -> float:
    values = [(side.value or 0.0) + each.floor for side in each.sides]
    return abs(math.log(values[1] / values[0])) if min(values) > 0 else 0.0


def _work(
    work: Sequence[WorkDifference], pressed: frozenset[str], throughput: float | None, *, is_worse: bool
) -> Iterator[Cause]:
    for each in work:
        resource = BY_KEY[each.key].resource
        resource = RESOURCES.get(resource, resource.replace(" ", "_"))
        found, shift = each.found, math.log(throughput) if throughput else 0.0
        # Of the amount per second; its end nearest to no change.
        beyond, end = found.size + shift, found.low if found.rose else found.high
        is_beyond = not end or (math.log(end) + shift > 0) is found.rose
        ratio = Ratio(Verdict.HIGHER, found.ratio, found.low, found.high) if found.ratio and found.low else None
        size = f"{with_interval(ratio)} per {each.per}" if ratio else f"per {each.per}, one side none"
        if found.rose is not is_worse:
            tier, why = CONTRARY, f"{size}: moved the other way"
        elif resource in pressed:
            tier, why = SIZE, f"{size}, at a saturated resource"
        elif not is_beyond:
            tier, why = FOLLOWS, f"{size}, but not shown per second: it follows throughput"
        else:
            tier, why = SIZE, f"{size}, more than the change of throughput"
        yield Cause(
            kind=WORK,
            key=each.key,
            words=f"{each.span} per {each.per}",
            why=why,
            explains=tier == SIZE,
            tier=tier,
            size=max(beyond if found.rose else -beyond, 0.0),
            resource=resource,
            keys=(each.key,),
            rose=found.rose,
        )


def _statements(statements: Sequence[StatementDifference], *, is_worse: bool) -> Iterator[Cause]:
    for each in statements:
        does_more = any(own.rose is is_worse for own in each.work)
        took_longer = each.time is not None and each.time.is_sure and each.time.rose is is_worse
        if each.share is None or each.share < LEAST or not (does_more or took_longer):
            continue
        time = "additional" if is_worse else "saved"
        yield Cause(
            kind=STATEMENT,
            key=each.key,
            words=f"{each.short}: {each.spans}",
            why=f"{100 * each.share:.0f}\u00a0% of the {time} time per transaction"
            + (f"; it does {'more' if is_worse else 'less'} work" if does_more else ""),
            explains=True,
            tier=MOST_TIME if each.share >= MOST else SOME_TIME,
            size=each.share,
            does_more=does_more,
            keys=("statement.commit",) if each.text.startswith("commit") else (),
            rose=is_worse,
        )


def _settings(settings: Sequence[Difference], seen: Sequence[Cause]) -> Iterator[Cause]:
    unknown, versions, beside = 0, 0, Counter[str]()
    for each in sorted(settings, key=lambda one: (not _is_named(one, seen), one.weight is Weight.MINOR)):
        if each.group is FieldGroup.DATE or each.hidden not in ("", DEFAULT) or each.is_same_in_effect:
            continue
        cause = Cause(SETTING, each.field, f"{each.label} {_span(each)}", "", explains=True, tier=UNKNOWN)
        governed = _governed(each, seen) if each.group in OPTIONS and MISSING not in each.values else []
        if each.weight is Weight.WITHHOLDS and each.group in ACCEPTABLE:
            yield replace(cause, tier=CONDITIONS, why="other conditions explain any difference")
        elif governed:
            first = governed[0][0]
            beside[first.key] += 1
            names = and_list(list(dict.fromkeys(_name(key) for _, key in governed[:2])))
            place = -1 if beside[first.key] <= MOST_BEFORE else 1
            cause = replace(cause, why=f"governs {names}, which changed with it{_part(first)}")
            if first.tier == UNRELATED:
                yield replace(cause, tier=first.tier, size=first.size, beside=place, explains=False)
            else:
                yield _beside(cause, first, place)
        elif each.hidden or each.weight is Weight.MINOR:
            continue
        elif each.group is FieldGroup.VERSION:
            versions += 1
            if versions == 1:
                yield replace(cause, size=1.0, why="another version may change anything; nothing points to it")
        elif unknown < MOST_UNKNOWN:
            unknown += 1
            yield replace(cause, why="differs; nothing that it is known to govern changed")


def _part(governed: Cause) -> str:
    is_part = governed.resource == error_share.RESOURCE and governed.tier in (SOME_TIME, UNRELATED)
    return f": at most {100 * governed.size:.0f}\u00a0% of the change" if is_part else ""


def _is_named(setting: Difference, seen: Sequence[Cause]) -> bool:
    return any(names(setting, each.declared) for each in seen if each.tier <= SOME_TIME)


def _governed(setting: Difference, seen: Sequence[Cause]) -> list[tuple[Cause, str]]:
    """With the first key of each, in their order."""
    found = []
    for each in seen:
        keys = [key for key in each.keys if governs(setting, key, rose=each.rose, declared=each.declared)]
        if keys and (SATURATION <= each.tier <= SOME_TIME or each.tier == UNRELATED):
            found.append((each, keys[0]))
    return found


def _span(setting: Difference) -> str:
    """Of lists only the entries that differ."""
    values = [value or own for value, own in zip(setting.in_effect, setting.values, strict=True)]
    ends = values[0], values[-1]
    before, after = [",".join(own) or "nothing more" for own in differing_entries(ends)] or ends
    return " → ".join(text if len(text) <= VALUE_SHOWN else f"{text[: VALUE_SHOWN - 1]}…" for text in (before, after))


def _name(key: str) -> str:
    if key in RESOURCE_OF:
        return resource_name(RESOURCE_OF[key].key)
    return BY_KEY[key].name if key in BY_KEY else "commits"
