"""Noisy neighbours: stolen CPU time, and other users of the host or the database. Pure."""

from collections import defaultdict

from apps.runs.quality.rules import generator, work_done
from apps.runs.quality.values import (
    AGENT,
    QualityFacts,
    QualityNode,
    RuleFinding,
    cannot_tell,
    failed,
    limit,
    listed,
    passed,
    percent,
    plain,
)

# Stolen time lowers throughput where the CPU is the limit. Comparisons treat an effect of this size as equivalent.
MOST_STOLEN = 2.0  # % of the CPU time
# Includes kernel work for the database's own network and disks.
MOST_OTHERS = 0.15  # share of the host's CPUs
# Includes health checks and the heartbeat of replication.
MOST_STATEMENTS, ALWAYS_ALLOWED = 0.1, 10.0  # share of the client's; statements/s
# Servers count a connection's end as a statement, and most clients set something up at its beginning.
PER_CONNECTION = 2.0
MOST_NAMED = 3
LIMITS = (
    f"at most {MOST_STOLEN:g} % of the CPU time stolen; on a host whose programs are known, others than database, "
    f"proxies, load tool and agent take at most {limit(MOST_OTHERS)} of the CPUs; other clients send at most "
    f"{limit(MOST_STATEMENTS)} of what this one does, or {ALWAYS_ALLOWED:g} statements/s"
)
STEAL = "derived.cpu.steal"


def check(facts: QualityFacts) -> RuleFinding:
    stolen = {node.name: value for node in facts.nodes if (value := node.mean(STEAL)) is not None}
    troubles = [
        f"{plain(value)} % of the CPU time of {name} was stolen"
        for name, value in stolen.items()
        if value > MOST_STOLEN
    ]
    fine = [f"at most {plain(max(stolen.values()))} % of the CPU time was stolen"] if stolen else []
    for nodes in _by_host(facts):
        taken = generator.taken_by_others(facts, nodes[0], nodes)
        cpus = nodes[0].mean(generator.CPUS)
        if taken is not None and cpus:
            names = ", ".join(node.name for node in nodes)
            text = f"others took {plain(taken)} of {plain(cpus, 'CPUs')} on the host of {names}"
            text += "" if nodes[0].apart else _named(facts)
            (troubles if taken > MOST_OTHERS * cpus else fine).append(text)
    more = _other_statements(facts)
    if more is not None:
        share, is_trouble = more
        text = f"the servers executed {percent(max(share, 0))} more statements than this client sent"
        if is_trouble:
            troubles.append(f"{text}: others used the database")
        else:
            fine.append(text)
    if troubles:
        return failed(f"{_capital(listed(troubles))}.", stolen=stolen)
    if not stolen:
        why = "No host's CPU was sampled, so stolen time is not known"
        return cannot_tell(f"{why}; {listed(fine)}." if fine else f"{why}.")
    return passed(f"{_capital(listed(fine))}.", stolen=stolen)


def _by_host(facts: QualityFacts) -> list[list[QualityNode]]:
    """The nodes of each host, or set of CPUs, whose other programs can be separated from the load tool; the first of
    each was sampled with its CPUs."""
    own = generator.own_node(facts)
    is_tool_known = own is not None and own.mean(generator.TOOL_CPU) is not None
    found: dict[str, list[QualityNode]] = defaultdict(list)
    for node in facts.nodes:
        is_sampled = generator.BUSY in node.stats or generator.SERVER in node.stats
        if (node.apart or is_tool_known) and node.role != AGENT and is_sampled:
            found[node.host].append(node)
    return [sorted(nodes, key=lambda node: node.mean(generator.BUSY) is None) for nodes in found.values()]


def _named(facts: QualityFacts) -> str:
    most = sorted((facts.neighbours or {}).items(), key=lambda one: -one[1])[:MOST_NAMED]
    return f" ({listed([f'{name} {plain(cpus)}' for name, cpus in most])})" if most else ""


def _other_statements(facts: QualityFacts) -> tuple[float, bool] | None:
    """Statements the servers executed beyond the client's, as a share of the client's, and whether it is too much."""
    client, done = facts.headlines.get("client.queries"), facts.headlines.get("client.throughput")
    if not client or not facts.servers or not facts.length or facts.faults:
        return None
    failing = (facts.headlines.get("client.errors") or 0.0) * (client / done if done else 1.0)
    server = sum(map(work_done.others_statements, facts.servers))
    opened = (facts.headlines.get("client.connections.opened") or 0.0) / facts.length
    more = server - client - failing - PER_CONNECTION * opened
    allowed = max(MOST_STATEMENTS * client, ALWAYS_ALLOWED) + work_done.EDGES * client / facts.length
    return more / client, more > allowed


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
