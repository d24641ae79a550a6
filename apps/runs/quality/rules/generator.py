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
    percent,
    plain,
)

# Above this share of its one CPU, the asynchronous client itself adds latency.
MOST_OF_ITS_CPU = 0.9
# Above this share of the CPUs that its threads can use at once, a tool is busy with its own work.
MOST_OF_THREADS = 0.8
# Periods (of 100 ms, usually) in which a control group's CPU quota was used up: the tool stands still until the next.
MOST_THROTTLED = 0.05
# Mean lateness at a fixed rate, as a share of the mean latency, which includes it.
MOST_LATE = 0.1
# On a separate host: above this, the generator's threads wait for a CPU, and the wait is measured as latency.
MOST_BUSY = 80.0  # % of the CPU time
# On the server's host: once all CPUs are busy, a tool that takes most of them is what was measured.
ALL_BUSY, MOST_TAKEN = 90.0, 0.5  # % of the CPU time; share of it
# The agent samples and parses the tool's output on the generator's host.
MOST_OF_AGENT = 0.5  # CPUs
LIMITS = (
    f"its host at most {MOST_BUSY:g} % busy; where it shares the server's, less than {ALL_BUSY:g} % busy or at most "
    f"{limit(MOST_TAKEN)} of that by the load tool and the agent; a CPU quota used up in at most "
    f"{limit(MOST_THROTTLED)} of its periods; the tool at most {limit(MOST_OF_THREADS)} of the CPUs that its threads "
    f"can use; the agent at most {MOST_OF_AGENT:g} CPUs; our own asynchronous client at most {MOST_OF_ITS_CPU:g} CPUs; "
    f"late by at most {limit(MOST_LATE)} of the mean latency"
)
BUSY, CPUS, SERVER, ITSELF = "derived.cpu.busy", "host.cpus", "derived.cpu.server", "agent.cpu.seconds"
TOOL = TOOL_CPU, PERIODS, THROTTLED = (
    "agent.tool.cpu.seconds",
    "agent.tool.quota.periods",
    "agent.tool.quota.throttled",
)


def check(facts: QualityFacts) -> RuleFinding:
    seen = [*_own(facts), *_tool(facts), *_agent(facts), *_host(facts)]
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


def _tool(facts: QualityFacts) -> list[tuple[bool, str]]:
    own = own_node(facts)
    if own is None:
        return []
    found = []
    periods, throttled = own.mean(PERIODS), own.mean(THROTTLED)
    if periods and throttled is not None:
        share = throttled / periods
        found.append((share > MOST_THROTTLED, f"its CPU quota was used up in {percent(share)} of the periods"))
    used = own.mean(TOOL_CPU)
    if used is not None and facts.threads:
        hosts = [value for node in facts.nodes if not node.apart and (value := node.mean(CPUS))]
        most = min([float(facts.threads), *hosts])
        threads = f"{facts.threads} thread{'s' if facts.threads > 1 else ''}"
        found.append((used > MOST_OF_THREADS * most, f"{facts.tool} kept {plain(used)} CPUs busy with {threads}"))
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
    busy, cpus = host.mean(BUSY) or 0.0, host.mean(CPUS) or 0.0
    where = f"it shares the host of {host.name}, whose {plain(cpus, 'CPUs')} were {plain(busy)} % busy"
    taken = _of_generator(facts, host, shared)
    if taken is None:
        return [(False, where)]
    is_most = busy >= ALL_BUSY and taken > MOST_TAKEN * cpus * busy / 100
    return [(is_most, f"{where}, {plain(taken)} of them with the load")]


def _of_generator(facts: QualityFacts, host: QualityNode, on_host: list[QualityNode]) -> float | None:
    """CPUs that load tool and agent kept busy; where the tool was not seen, with all others than servers and proxies;
    None: not known."""
    own = own_node(facts)
    tool = own.mean(TOOL_CPU) if own is not None else None
    if own is None or tool is None:
        return taken_by_others(facts, host, on_host)
    return tool + (own.mean(ITSELF) or 0.0)


def own_node(facts: QualityFacts) -> QualityNode | None:
    """The node of the agent that ran the load tool."""
    return next((node for node in facts.nodes if node.name == AGENT), None)


def taken_by_others(facts: QualityFacts, host: QualityNode, on_host: list[QualityNode]) -> float | None:
    """CPUs kept busy on the host of `host`, which runs the nodes `on_host`, by other processes than servers, proxies,
    and, on the load generator's, agent and load tool; None: not known."""
    busy, cpus = host.mean(BUSY), host.mean(CPUS)
    servers = [value for node in on_host if (value := node.mean(SERVER)) is not None]
    if busy is None or not cpus or not servers:
        return None
    own = None if host.apart else own_node(facts)
    ours = [own.mean(key) or 0.0 for key in (ITSELF, TOOL_CPU)] if own is not None else []
    return max(cpus * busy / 100 - sum(servers) - sum(ours), 0.0)
