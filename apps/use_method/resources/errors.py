"""Application errors, by their numbers."""

import re
from collections import Counter

from apps.core.units import format_duration, with_unit
from apps.runs.pure import CODE, MOST_ERRORS
from apps.use_method.indicators import Indicator, Resource
from apps.use_method.levels import mean, peak, total
from apps.use_method.resources import codes
from apps.use_method.resources.connections import MANUAL
from apps.use_method.resources.counters import FROM_THE_FIRST
from apps.use_method.values import Aspect, NodeFacts, RuleResult, RunFacts, ServerError, UseLevel

FAILED, DONE, RECONNECTS = "client.errors", "client.throughput", "client.reconnects"
# Engine error within the server's 1030: "Got error 188 'Too many …' from storage engine InnoDB".
ENGINE_CODE = re.compile(r"\bgot error (\d{2,3})\b", re.IGNORECASE)
SHOWN = 3
TEXT = 80  # characters
SOURCES = {"tool": "what the load tool printed, by error number", "CloudWatch": "does not report errors of clients"}


def numbers(complaint: ServerError) -> set[int]:
    """Error numbers of the server and of the engine; duplicates are merged."""
    found = {int(text) for text in (*CODE.findall(complaint.text), *ENGINE_CODE.findall(complaint.text))}
    return found | ({complaint.code} if complaint.code else set())


def of_kind(kind: str) -> "Indicator":
    def rule(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
        return reported(kind, node, facts)

    title, reason, literature = KINDS[kind]
    return Indicator(
        key=f"errors.{kind}",
        aspect=Aspect.ERRORS,
        title=title,
        unit="errors",
        metrics=(FAILED,),
        formula="errors with these numbers that the load tool reported: "
        + (", ".join(str(code.number) for code in codes.CODES.values() if code.kind == kind)),
        limits=f"error {FROM_THE_FIRST}"
        if kind != codes.CONFLICT
        else f"watch {FROM_THE_FIRST}, error from {MOST_ERRORS * 100:g} % of the transactions on",
        reason=reason,
        literature=literature,
        sources=SOURCES,
        rule=rule,
    )


def reported(kind: str, _: NodeFacts, facts: RunFacts) -> RuleResult:
    """Unnumbered errors count as other, by text; beside numbered ones they are ignored, as the tool's last words."""
    found: Counter[int | str] = Counter()
    first: dict[int | str, float] = {}
    is_numbered = any(numbers(complaint) for complaint in facts.complaints)
    for complaint in facts.complaints:
        named: set[int | str] = {*numbers(complaint)} if is_numbered else {complaint.text[:TEXT]}
        for one in named:
            if (codes.describe(one).kind if isinstance(one, int) else codes.OTHER) == kind:
                found[one] += complaint.count
                if complaint.at is not None:
                    first[one] = min(first.get(one, complaint.at), complaint.at)
    if not found:
        return RuleResult(UseLevel.OK, 0.0, "none reported")
    words = "; ".join(_error_text(one, count, first.get(one)) for one, count in found.most_common(SHOWN))
    more = len(found) - SHOWN
    words += f"; {more} more kinds" if more > 0 else ""
    number = sum(found.values())
    level = UseLevel.WATCH if kind == codes.CONFLICT and _is_rare(number, facts) else UseLevel.ERROR
    # Without a series of their own: the spans give the times, the metric is the tool's count of all errors.
    moments = sorted(set(first.values()))
    return RuleResult(level, float(number), words, FAILED, None, tuple((at, at) for at in moments))


def _error_text(one: int | str, count: int, first: float | None) -> str:
    since = f", first at {format_duration(round(max(0.0, first), 1))}" if first is not None else ""
    if isinstance(one, str):
        return f"{count:,} × “{one}”{since}"
    code = codes.describe(one)
    return f"{count:,} × error {one}{since}: {code.meaning}, remedy: {code.remedy}"


def _is_rare(number: float, facts: RunFacts) -> bool:
    """Relative to the completed work; False if the tool does not report it."""
    done = _total(facts.client, DONE)
    return bool(done) and number / (number + (done or 0.0)) < MOST_ERRORS


def _total(node: NodeFacts | None, key: str) -> float | None:
    samples = node.series.get(key) if node else None
    return total(samples) if samples else None


def share(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    """By the tool's own count, which includes errors that it does not print."""
    failed, done = _total(node, FAILED), _total(node, DONE)
    if failed is None or done is None:
        if FAILED not in facts.headlines or DONE not in facts.headlines:
            return RuleResult(
                UseLevel.NOT_OBSERVABLE, None, f"{facts.tool} does not report how many of its operations failed"
            )
        failed, done = facts.headlines[FAILED], facts.headlines[DONE]
    if not failed:
        return RuleResult(UseLevel.OK, 0.0, "errors were counted: none", FAILED, 0.0)
    part = failed / (failed + done)
    series = node.series.get(FAILED)
    highest = peak(series) if series else None
    rate = mean(series) if series else facts.headlines.get(FAILED)
    words = f"{with_unit(rate, 'errors/s')} on average" + (
        f", highest {with_unit(highest, 'errors/s')}" if series else ""
    )
    return RuleResult(UseLevel.ERROR if part >= MOST_ERRORS else UseLevel.WATCH, 100 * part, words, FAILED, None)


def reconnects(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    number = _total(node, RECONNECTS)
    if number is None:
        return RuleResult(UseLevel.NOT_OBSERVABLE, None, "the tool does not count them")
    if number < 0.5:
        return RuleResult(UseLevel.OK, 0.0, "none", RECONNECTS, 0.0)
    return RuleResult(UseLevel.ERROR, float(round(number)), with_unit(round(number), "reconnects"), RECONNECTS)


def on(node: NodeFacts, facts: RunFacts) -> bool:
    """The load generator; the first node if a run broke off before it printed anything."""
    return node is facts.client or (facts.client is None and node is facts.nodes[0] and bool(facts.complaints))


KINDS = {
    codes.CONNECTION: (
        "connections lost or refused",
        "The service was unavailable: the connection's work is lost, or its outcome is unknown.",
        f"{MANUAL}, B.3.2 Common Errors; MySQL Error Message Reference, ch. 2 and 3",
    ),
    codes.CONFLICT: (
        "deadlocks, timeouts, certification",
        "The transaction was rolled back because of another one; an application has to repeat it, and one in a "
        "hundred already moves the 99th percentile.",
        f"{MANUAL}, 17.7.5.3 How to Minimize and Handle Deadlocks",
    ),
    codes.REFUSED: (
        "writes refused",
        "The client reached a server that may not write: a reader, or a promotion that is not finished.",
        f"{MANUAL}, 7.1.8 Server System Variables, read_only",
    ),
    codes.STORAGE: (
        "failures of storage and memory",
        "Data could not be written or read: disk full, memory used up, or the engine aborted the statement.",
        f"{MANUAL}, B.3.4.3 How MySQL Handles a Full Disk; Tusa, AWS Aurora Benchmarking part 2, 2016 (188)",
    ),
    codes.OTHER: (
        "other errors",
        "The workload and the server disagree, so that the measured load may not be the intended one.",
        "MySQL Error Message Reference, ch. 2; MariaDB Server Documentation, Error Codes",
    ),
}

RESOURCE = Resource(
    key="errors",
    title="Application errors",
    layer="client",
    question="Which errors did the application get, and what is the remedy?",
    indicators=(
        *(of_kind(kind) for kind in KINDS),
        Indicator(
            key="errors.share",
            aspect=Aspect.ERRORS,
            title="operations that failed",
            unit="%",
            metrics=(FAILED, DONE),
            formula="client.errors / (client.errors + client.throughput)",
            limits=f"watch {FROM_THE_FIRST}, error from {MOST_ERRORS * 100:g} % on",
            reason="An attempt that fails ends early: one in a hundred is enough to move the 99th percentile.",
            literature="Gregg, Systems Performance, 2nd ed., 2.5.9 The USE Method: errors",
            sources={"tool": "its own count, including errors that it ignores"},
            rule=share,
        ),
        Indicator(
            key="errors.reconnects",
            aspect=Aspect.ERRORS,
            title="reconnects",
            unit="reconnects",
            metrics=(RECONNECTS,),
            formula="rise of client.reconnects",
            limits=f"error {FROM_THE_FIRST}",
            reason="Each is a connection that the load lost.",
            literature=f"{MANUAL}, B.3.2.9 Communication Errors and Aborted Connections",
            sources={"tool": "its own count"},
            rule=reconnects,
        ),
    ),
    on=on,
)
