"""Availability of a node's server."""

from apps.core.units import format_duration
from apps.use_method.indicators import UPTIME_OF_POSTGRESQL, Indicator, Resource, on_servers
from apps.use_method.levels import for_and_from
from apps.use_method.resources.counters import QUESTIONS
from apps.use_method.resources.postgresql import COMMITTED
from apps.use_method.values import Aspect, NodeFacts, RuleResult, RunFacts, UseLevel

UPTIME = "mysql.status.Uptime"
UPTIMES = (UPTIME, UPTIME_OF_POSTGRESQL)


def uptime(node: NodeFacts) -> str:
    """The key that the node has; empty: none."""
    return next((key for key in UPTIMES if key in node.series), "")


def silent(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    start, end = facts.measured or (0.0, float("inf"))
    spans = tuple((max(span[0], start), min(span[1], end)) for span in node.silent if span[1] > start and span[0] < end)
    if spans:
        length = sum(until - since for since, until in spans)
        words = f"no answer {for_and_from(spans)}"
        return RuleResult(UseLevel.ERROR, length, words, _shown(node), None, spans)
    return RuleResult(UseLevel.OK, 0.0, "it always answered", _shown(node)) if uptime(node) else None


def _shown(node: NodeFacts) -> str:
    """The series linked as evidence: the work that the server did meanwhile."""
    return COMMITTED if COMMITTED in node.series else QUESTIONS


def restarts(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    key = uptime(node)
    if not key:
        return None
    samples = node.series[key]
    start, end = facts.measured or (0.0, float("inf"))
    seen = [at for at in samples.resets if start <= at <= end]
    if not seen:
        return RuleResult(UseLevel.OK, 0.0, "none seen", key)
    return RuleResult(UseLevel.ERROR, float(len(seen)), f"up again at {format_duration(round(seen[0], 1))}", key)


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
            metrics=(UPTIME, QUESTIONS, UPTIME_OF_POSTGRESQL, COMMITTED),
            formula="time in which the statement for the counters was not answered",
            limits="error from the first sample on that was not answered",
            reason="A server that is dead, frozen or out of connections does not answer its sampler either; what it "
            "does meanwhile is not observable.",
            literature="Gregg, Systems Performance, 2nd ed. 2020, 2.5.9 (errors first: they are quick to read)",
            sources={"MariaDB, MySQL and PostgreSQL": "the agent's own connection, once a second"},
            rule=silent,
        ),
        Indicator(
            key="service.restarts",
            aspect=Aspect.ERRORS,
            title="restarts",
            unit="restarts",
            metrics=UPTIMES,
            formula="number of resets of Uptime",
            limits="error from the first on",
            reason="Its counters restart, its buffer pool is cold, its connections are closed.",
            literature="MariaDB and MySQL manuals, server status variables: Uptime",
            sources={"MariaDB and MySQL": "SHOW GLOBAL STATUS", "PostgreSQL": "pg_postmaster_start_time()"},
            rule=restarts,
        ),
    ),
)
