"""Work done: the client's count of its work compared with the servers' counters. Pure."""

from apps.core.units import format_number
from apps.runs.quality.values import (
    COMMITTED,
    QUESTIONS,
    QualityFacts,
    QualityNode,
    RuleFinding,
    cannot_tell,
    failed,
    limit,
    passed,
    percent,
)

# Two counters of the same statements differ by those in flight at the phase's ends, and by the ends' times: servers
# are sampled once a second.
TOLERANCE, EDGES = 0.02, 1.0  # share; s of the client's rate
# PostgreSQL's sessions report what they counted once a second.
REPORTED = 1.0  # s
# Below this, a write workload mostly consists of lookups that find nothing.
LEAST_MATCHED = 0.5
LIMITS = (
    f"the servers may count {limit(TOLERANCE)} and {EDGES:g} s of the client's rate less than the client, "
    f"PostgreSQL's {REPORTED:g} s more; at least "
    f"{limit(LEAST_MATCHED)} of the statements that write change a row"
)
STATUS = "mysql.status."
WRITES = tuple(f"{STATUS}Com_{verb}" for verb in ("insert", "update", "delete", "replace"))
INSERTED = f"{STATUS}Innodb_rows_inserted"
SAMPLING = "agent.statements"
TRANSACTIONS = "transactions"


def check(facts: QualityFacts) -> RuleFinding:
    if not facts.has_database:
        return cannot_tell(f"No database takes part in {facts.tool}: there is no second count of its work.")
    if not facts.servers and not _of_postgresql(facts):
        return cannot_tell("No server's counters were sampled, so the client's count cannot be verified.")
    claims = [each for each in (_statements(facts), _transactions(facts), _writes(facts), _rows(facts)) if each]
    if not claims or not facts.length:
        return cannot_tell("The tool counts nothing that the servers also count.")
    counted = []
    detail: dict[str, float] = {}
    wrong = False
    for what, client, server in claims:
        edges = EDGES + (REPORTED if what == TRANSACTIONS else 0.0)
        lacking = client - server > TOLERANCE * client + edges * client / facts.length
        wrong |= lacking
        counted.append(f"{format_number(client, 4)} {what}/s by the client, {format_number(server, 4)} by the servers")
        detail |= {f"{what}.client": client, f"{what}.servers": server}
    matched = _matched(facts)
    if matched is not None and matched < LEAST_MATCHED:
        share = percent(matched)
        text = f"Only {share} of the writing statements changed a row: the workload did not do what it claims."
        return failed(text, matched=matched)
    text = "; ".join(counted)
    if wrong:
        return failed(f"The servers did less than the client claims: {text}.", **detail)
    return passed(f"The servers did what the client claims: {text}.", **detail)


def of_servers(facts: QualityFacts, *keys: str) -> float | None:
    """Total rate of the counters `keys` over all servers, 1/s; None: no server has any of them."""
    found = [value for node in facts.servers for key in keys if (value := node.mean(key)) is not None]
    return sum(found) if found else None


def _of_busiest(facts: QualityFacts, *keys: str) -> float | None:
    """Total rate on the node with the highest count: replicas apply and count the same writes again."""
    sums = [[value for key in keys if (value := node.mean(key)) is not None] for node in facts.servers]
    return max((sum(values) for values in sums if values), default=None)


def others_statements(node: QualityNode) -> float:
    """Statements/s of a server without those of sampling."""
    return (node.mean(QUESTIONS) or 0.0) - (node.mean(SAMPLING) or 0.0)


def _of_postgresql(facts: QualityFacts) -> list[float]:
    """Transactions/s that each server committed in its database, without those of sampling."""
    found = [(node.mean(COMMITTED), node.mean(SAMPLING) or 0.0) for node in facts.nodes]
    return [committed - own for committed, own in found if committed is not None]


def _transactions(facts: QualityFacts) -> tuple[str, float, float] | None:
    """A transaction of the client is at least one of the server."""
    client, servers = facts.headlines.get("client.throughput"), _of_postgresql(facts)
    return (TRANSACTIONS, client, sum(servers)) if client and servers else None


def _statements(facts: QualityFacts) -> tuple[str, float, float] | None:
    if not facts.servers:
        return None
    client = facts.headlines.get("client.queries")
    if client is None:
        # A lower bound: transactions have at least one statement.
        client = facts.headlines.get("client.throughput")
    return ("statements", client, sum(map(others_statements, facts.servers))) if client else None


def _writes(facts: QualityFacts) -> tuple[str, float, float] | None:
    client, server = facts.headlines.get("client.writes"), _of_busiest(facts, *WRITES)
    if client and server is not None and server < client:
        server = of_servers(facts, *WRITES)  # several nodes took writes
    return ("writes", client, server) if client and server is not None else None


def _rows(facts: QualityFacts) -> tuple[str, float, float] | None:
    client, server = facts.headlines.get("client.rows"), _of_busiest(facts, INSERTED)
    return ("rows inserted", client, server) if client and server is not None else None


def _matched(facts: QualityFacts) -> float | None:
    """Share of the writes that changed a row; None: not reported by the tool, or almost no writes."""
    writes, unmatched = facts.headlines.get("client.writes"), facts.headlines.get("client.unmatched")
    if writes is None:
        return None
    if unmatched is not None:
        return writes / (writes + unmatched) if writes + unmatched > 1 else None
    server = _of_busiest(facts, *WRITES)
    if not server or server <= 1:
        return None
    # sysbench counts writes that matched no row as "other". What others wrote is no work of this client.
    client = facts.headlines.get("client.queries") or 0.0
    others = max(sum(map(others_statements, facts.servers)) - client, 0.0) if client else 0.0
    return writes / max(server - others, writes)
