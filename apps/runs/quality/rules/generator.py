"""Load generator as the limit: its CPU, its lateness, or the agent on its host. Pure."""

from apps.runs.quality.values import (
    AGENT,
    QualityFacts,
    QualityNode,
    RuleFinding,
    cannot_tell,
    failed,
    limit,
    passed,
    plain,
)

# Above this share of its one CPU, the asynchronous client itself adds latency.
MOST_OF_ITS_CPU = 0.9
# Mean lateness at a fixed rate, as a share of the mean latency, which includes it.
MOST_LATE = 0.1
# On a separate host: above this, the generator's threads wait for a CPU, and the wait is measured as latency.
MOST_BUSY = 80.0  # % of the CPU time
# On the server's host: once all CPUs are busy, other processes take CPU time from the server.
ALL_BUSY, MOST_TAKEN = 90.0, 0.25  # % of the CPU time; share of it
# The agent samples and parses the tool's output on the generator's host.
MOST_OF_AGENT = 0.5  # CPUs
LIMITS = (
    f"its host at most {MOST_BUSY:g} % busy; where it shares the server's, less than {ALL_BUSY:g} % busy or at most "
    f"{limit(MOST_TAKEN)} of that by others than the server; the agent at most {MOST_OF_AGENT:g} CPUs; our own "
    f"asynchronous client at most {MOST_OF_ITS_CPU:g} CPUs; late by at most {limit(MOST_LATE)} of the mean latency"
)
BUSY, CPUS, SERVER, ITSELF = "derived.cpu.busy", "host.cpus", "derived.cpu.server", "agent.cpu.seconds"


def check(facts: QualityFacts) -> RuleFinding:
    seen = [*_own(facts), *_agent(facts), *_host(facts)]
    troubles = [text for is_trouble, text in seen if is_trouble]
    if troubles:
        return failed(f"The load generator was a limit: {'; '.join(troubles)}.")
    fine = [text for _, text in seen]
    if not any(BUSY in node.stats for node in facts.nodes) and "client.cpu" not in facts.headlines:
        return cannot_tell("The CPU of the load generator's host was not sampled.")
    return passed(f"The load generator had room: {'; '.join(fine)}.")


def _own(facts: QualityFacts) -> list[tuple[bool, str]]:
    found = []
    cpu, late, latency = (
        facts.headlines.get(key) for key in ("client.cpu", "client.schedule_lag", "client.latency.avg")
    )
    if cpu is not None:
        found.append((cpu > MOST_OF_ITS_CPU, f"its one thread used {plain(cpu)} CPUs"))
    if late is not None and latency:
        found.append((late > MOST_LATE * latency, f"transactions began {plain(late, 'ms')} late"))
    return found


def _agent(facts: QualityFacts) -> list[tuple[bool, str]]:
    used = [value for node in facts.nodes if node.role == AGENT and (value := node.mean(ITSELF)) is not None]
    return [(max(used) > MOST_OF_AGENT, f"the agent used {plain(max(used))} CPUs")] if used else []


def _host(facts: QualityFacts) -> list[tuple[bool, str]]:
    own = next((node for node in facts.nodes if node.name == AGENT and node.mean(BUSY) is not None), None)
    if own is not None:
        busy = own.mean(BUSY) or 0.0
        return [(busy > MOST_BUSY, f"the CPUs of its own host were {plain(busy)} % busy")]
    shared = [node for node in facts.nodes if not node.apart and (BUSY in node.stats or SERVER in node.stats)]
    host = next((node for node in shared if node.mean(BUSY) is not None), None)
    if host is None:
        return []
    taken = taken_by_others(facts, host, shared)
    busy = host.mean(BUSY) or 0.0
    if taken is None:
        return [(False, f"it shares the host of {host.name}, whose CPUs were {plain(busy)} % busy")]
    text = (
        f"it shares the host of {host.name}, whose CPUs were {plain(busy)} % busy, and others than the server took "
        f"{plain(taken)} of its {plain(host.mean(CPUS) or 0, 'CPUs')}"
    )
    cpus = (host.mean(CPUS) or 0.0) * busy / 100
    return [(busy >= ALL_BUSY and taken > MOST_TAKEN * cpus, text)]


def taken_by_others(facts: QualityFacts, host: QualityNode, on_host: list[QualityNode]) -> float | None:
    """CPUs kept busy on the host of `host`, which runs the nodes `on_host`, by other processes than servers, proxies
    and the agent; None: not known."""
    busy, cpus = host.mean(BUSY), host.mean(CPUS)
    servers = [value for node in on_host if (value := node.mean(SERVER)) is not None]
    if busy is None or not cpus or not servers:
        return None
    agents = [node.mean(ITSELF) or 0.0 for node in facts.nodes if node.name == AGENT and not host.apart]
    return max(cpus * busy / 100 - sum(servers) - sum(agents), 0.0)
