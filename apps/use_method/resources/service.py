"""Availability of a node's server."""

from apps.core.units import format_duration
from apps.use_method.indicators import Indicator, Resource, on_servers
from apps.use_method.levels import for_and_from
from apps.use_method.resources.counters import QUESTIONS
from apps.use_method.values import Aspect, NodeFacts, RuleResult, RunFacts, UseLevel

UPTIME = "mysql.status.Uptime"


def silent(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    start, end = facts.measured or (0.0, float("inf"))
    spans = tuple((max(span[0], start), min(span[1], end)) for span in node.silent if span[1] > start and span[0] < end)
    if spans:
        length = sum(until - since for since, until in spans)
        words = f"no answer {for_and_from(spans)}"
        return RuleResult(UseLevel.ERROR, length, words, QUESTIONS, None, spans)
    return RuleResult(UseLevel.OK, 0.0, "it always answered", QUESTIONS) if UPTIME in node.series else None


def restarts(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    samples = node.series.get(UPTIME)
    if samples is None:
        return None
    start, end = facts.measured or (0.0, float("inf"))
    seen = [at for at in samples.resets if start <= at <= end]
    if not seen:
        return RuleResult(UseLevel.OK, 0.0, "none seen", UPTIME)
    return RuleResult(UseLevel.ERROR, float(len(seen)), f"up again at {format_duration(round(seen[0], 1))}", UPTIME)


RESOURCE = Resource(
    key="service",
    title="service",
    layer="server",
    question="Does the server answer?",
    on=lambda node, facts: on_servers(node, facts) and not facts.aws,
    indicators=(
        Indicator(
            key="service.silent",
            aspect=Aspect.ERRORS,
            title="time without an answer",
            unit="s",
            metrics=(UPTIME, QUESTIONS),
            formula="time in which SHOW GLOBAL STATUS was not answered",
            limits="error from the first sample on that was not answered",
            reason="A server that is dead, frozen or out of connections does not answer its sampler either; what it "
            "does meanwhile is not observable.",
            literature="Gregg, Systems Performance, 2nd ed. 2020, 2.5.9 (errors first: they are quick to read)",
            sources={"MariaDB and MySQL": "the agent's own connection, once a second"},
            rule=silent,
        ),
        Indicator(
            key="service.restarts",
            aspect=Aspect.ERRORS,
            title="restarts",
            unit="restarts",
            metrics=(UPTIME,),
            formula="number of resets of Uptime",
            limits="error from the first on",
            reason="Its counters restart, its buffer pool is cold, its connections are closed.",
            literature="MariaDB and MySQL manuals, server status variables: Uptime",
            sources={"MariaDB and MySQL": "SHOW GLOBAL STATUS"},
            rule=restarts,
        ),
    ),
)
