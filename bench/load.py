"""Load, held: twenty agents with a thousand series a second each and ten readers, in a warehouse with many runs.

The last third of the time is compared with the first, so that what grows shows; bars are of the whole time.
"""

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import orjson
from django.db import connection

from apps.dispatch import api as dispatch
from apps.runs.models import Run
from apps.runs.pure import Column, SampledNode
from bench import pages, recording, rounds, warehouse
from bench.context import Bench
from bench.peers import Span
from bench.rounds import Compared
from bench.servers import Connection, Failed
from bench.warehouse import Warehouse
from config.launch import processes
from workers.agent.runtime import lease

AGENTS, SERIES, READERS = 20, 1000, 10
BATCH = 10  # s
RUN = 300  # s, then the agent ends its run and opens another
LOOKS = (1.0, 3.0)  # s that a reader looks at a page
ASKED_EVERY, WEIGHED_EVERY = 2.0, 5.0  # s
DATA_SETS = 4
SWITCH_INTERVAL = 0.001  # s; at 5 ms what is measured is mostly the wait for other threads here
P95 = 0.95
BATCHES_WITHIN, PAGES_WITHIN = 100.0, 500.0  # ms
SEEN_WITHIN = 15.0  # s
GROWTH = 1.1  # of memory
FEWEST = 3  # pieces of the first and last third with values
PEER = "the first third of the time"


@dataclass
class Seen:
    """Values by kind with the second at which each was measured; `failures`: of threads."""

    began: float
    values: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    open_runs: dict[int, tuple[int, float]] = field(default_factory=dict)  # agent -> run, start
    ended: list[tuple[int, float]] = field(default_factory=list)  # run, when its end was accepted

    def note(self, kind: str, value: float) -> None:
        self.values.setdefault(kind, []).append((time.monotonic() - self.began, value))


@dataclass(frozen=True)
class Sent:
    """Of one run: names of its nodes, and its batches."""

    nodes: Sequence[str]
    payloads: Sequence[bytes]


def measure(bench: Bench, *, runs: int, seconds: float, port: int, url: str) -> None:
    warehouse.manage("seed_rig", "--runs", str(runs), "--series", "10", "--seconds", "100", "--add")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    bench.say(f"a warehouse of {runs:,} runs is there")
    addresses = {address: name for name, address in pages.addresses(url).items()}
    data = [[_cut(node) for node in recording.a_run(2000 + number)] for number in range(DATA_SETS)]
    # Agents encode on machines of their own; here it would be measured with the server's time. Nobody reads the uid.
    sent = [
        Sent([node.name for node in nodes], list(recording.batches("load", nodes, seconds=BATCH))) for nodes in data
    ]
    seen, stop = Seen(time.monotonic()), threading.Event()
    agents = [_agent(number, port, runs=int(seconds // RUN) + 2) for number in range(AGENTS)]
    jobs: list[Callable[[], None]] = [
        *(
            _repeated(seen, stop, _of_agent(seen, stop, n, agent, sent[n % DATA_SETS]))
            for n, agent in enumerate(agents)
        ),
        *(_repeated(seen, stop, _of_lease(stop, agent)) for agent in agents),
        *(_repeated(seen, stop, _of_reader(seen, stop, n, port, addresses)) for n in range(READERS)),
        _repeated(seen, stop, _of_watcher(seen, stop, port, _changing(data))),
        _repeated(seen, stop, _of_scales(seen, stop, bench.warehouse)),
    ]
    sys.setswitchinterval(SWITCH_INTERVAL)
    threads = [threading.Thread(target=job, daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    while time.monotonic() - seen.began < seconds and not seen.failures:
        processes.Signals.check()
        time.sleep(1)
    stop.set()
    for thread in threads:
        thread.join()
    if seen.failures:
        raise Failed(f"under load: {seen.failures[0]}")
    _report(bench, seen, runs=runs, seconds=seconds)


def _report(bench: Bench, seen: Seen, *, runs: int, seconds: float) -> None:
    load = f"under {AGENTS} agents × {SERIES:,} series each second and {READERS} readers, {seconds / 60:.0f} min"
    rows: tuple[tuple[str, str, str, float | None, float | None], ...] = (
        ("batch", f"a batch of {BATCH} s × {SERIES:,} series accepted, p95", "ms", None, BATCHES_WITHIN),
        ("page", f"a page at {runs:,} runs, p95", "ms", None, PAGES_WITHIN),
        ("lag", f"age of the newest sample that a reader sees, sent every {BATCH} s, p95", "s", None, SEEN_WITHIN),
        ("seal", "from the end of a run to its seal, p95", "s", None, None),
        ("memory", "memory of web, worker and beat, greatest", "MB", GROWTH, None),
    )
    for kind, title, unit, limit, limit_ours in rows:
        values = seen.values.get(kind, [])
        bench.report(
            key=f"load.{kind}", part="load", title=f"{title}, {load}", peer=PEER, unit=unit, better="lower",
            limit=limit, limit_ours=limit_ours,
            found=thirds(values, seconds, quantile=1.0 if kind == "memory" else P95),
        )  # fmt: skip
        bench.say(f"{kind}: {len(values):,} values")
    by_page = {kind: rounds.quantile([ms for _, ms in values], P95) for kind, values in seen.values.items()}
    for kind, p95 in sorted(by_page.items(), key=lambda each: -each[1]):
        if kind.startswith("page: "):
            bench.say(f"{kind}, p95 {p95:.0f} ms of {len(seen.values[kind]):,}")


def thirds(values: Sequence[tuple[float, float]], seconds: float, *, quantile: float) -> Compared:
    """`ours`: the quantile of the whole time; `theirs`: of the first third. The ratio: pieces of the last third to as
    many of the first, in turn. `values`: (s, value), by time. Raises Failed for too few."""
    edges = np.linspace(0, seconds, 3 * rounds.ROUNDS + 1)
    pieces = [[value for at, value in values if low <= at < high] for low, high in pairwise(edges)]
    pairs = [pair for pair in zip(pieces[-rounds.ROUNDS :], pieces[: rounds.ROUNDS], strict=True) if all(pair)]
    if len(pairs) < FEWEST:
        raise Failed("too few values were measured under load: give it more time")
    last, begun = ([rounds.quantile(piece, quantile) for piece in side] for side in zip(*pairs, strict=True))
    paired = rounds.compared(last, begun)
    first = [value for at, value in values if at < seconds / 3]
    return Compared(
        ours=rounds.quantile([value for _, value in values], quantile),
        theirs=rounds.quantile(first, quantile),
        ratio=paired.ratio,
        low=paired.low,
        high=paired.high,
        rounds=paired.rounds,
    )


# ---------------------------------------------------------------- those who do it


def _agent(number: int, port: int, *, runs: int) -> Warehouse:
    name = f"load-{number}"
    _, secret = dispatch.register_agent(name=name, is_trusted=True)
    http = Connection(port, {"Authorization": f"Agent {secret}"})
    return Warehouse(http, {}, warehouse.claim(http, runs, system=name))


def _of_agent(seen: Seen, stop: threading.Event, number: int, agent: Warehouse, of_run: Sent) -> Callable[[], None]:
    """Opens a run, sends it batch by batch as time goes on, ends it."""
    chance = np.random.default_rng(number)
    # The first run of each is cut short, so that not all end together.
    length = [chance.uniform(0.1, 1.0) * RUN]

    def one_run() -> None:
        stop.wait(chance.uniform(0, BATCH))
        started = time.time()
        uid = agent.open_run(started=round(started), nodes=of_run.nodes)
        run = Run.objects.only("pk").get(uid=uid).pk
        seen.open_runs[number] = run, started
        sent, lasts = 0, length.pop() if length else RUN
        for payload in of_run.payloads:
            if stop.wait(max(0.0, started + (sent + 1) * BATCH - time.time())):
                break
            seen.note("batch", 1000 * agent.send_batch(uid, sent, payload))
            sent += 1
            if sent * BATCH >= lasts:
                break
        del seen.open_runs[number]
        agent.end_run(uid, batches=sent, span=Span(round(started), round(started) + sent * BATCH + 1))
        seen.ended.append((run, time.monotonic()))

    return one_run


def _of_lease(stop: threading.Event, agent: Warehouse) -> Callable[[], None]:
    http = agent.http.again()

    def one_renewal() -> None:
        stop.wait(agent.job.lease_seconds / lease.PARTS)
        agent.renew(http)

    return one_renewal


def _of_reader(
    seen: Seen, stop: threading.Event, number: int, port: int, addresses: Mapping[str, str]
) -> Callable[[], None]:
    http, chance = Connection(port), np.random.default_rng(number)

    def one_page() -> None:
        live = [f"/runs/{run}/" for run, _ in list(seen.open_runs.values())]
        address = str(chance.choice([*addresses, *live[:2]]))
        took = 1000 * http.send("GET", address)[1]
        seen.note("page", took)
        seen.note(f"page: {addresses.get(address, 'Live run')}", took)
        stop.wait(chance.uniform(*LOOKS))

    return one_page


def _of_watcher(seen: Seen, stop: threading.Event, port: int, metric: str) -> Callable[[], None]:
    """Looks at a live run's newest sample, and whether ended ones are sealed."""
    http, chance = Connection(port), np.random.default_rng(0)

    def one_look() -> None:
        stop.wait(ASKED_EVERY)
        # A run that has just begun has sent nothing yet.
        going = [(run, since) for run, since in list(seen.open_runs.values()) if time.time() - since > 2 * BATCH]
        if going:
            run, since = going[int(chance.integers(len(going)))]
            answer, _ = http.send("GET", f"/api/v1/runs/{run}/series/?metric={metric}&raw=true")
            newest = max((second for series in orjson.loads(answer)["series"] for second in series["at"]), default=0)
            if run in (each for each, _ in seen.open_runs.values()):
                seen.note("lag", time.time() - since - newest)
        waiting = dict(seen.ended)
        for run in Run.objects.filter(pk__in=waiting, state=Run.State.SEALED).values_list("pk", flat=True):
            seen.note("seal", time.monotonic() - waiting[run])
            seen.ended.remove((run, waiting[run]))

    return one_look


def _of_scales(seen: Seen, stop: threading.Event, ours: Warehouse) -> Callable[[], None]:
    def one_weighing() -> None:
        stop.wait(WEIGHED_EVERY)
        seen.note(
            "memory", sum(_bytes_of(pid) for name, pid in ours.pids.items() if name in ("web", "worker", "beat")) / 1e6
        )

    return one_weighing


def _repeated(seen: Seen, stop: threading.Event, act: Callable[[], None]) -> Callable[[], None]:
    def loop() -> None:
        try:
            while not stop.is_set():
                act()
        except Exception as error:
            seen.failures.append(f"{type(error).__name__}: {error}")
        finally:
            connection.close()

    return loop


def _bytes_of(pid: int) -> float:
    """Proportional set size of a process and its descendants; 0 for one that has ended."""
    total = 0.0
    for each in (pid, *_children(pid)):
        try:
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(float(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *_children(int(child))]
    return found


def _cut(node: SampledNode) -> SampledNode:
    """Half of the series of an agent, of which each has two nodes, for one run."""
    keys = [*node.changing, *node.constants][: SERIES // 2]
    cut = recording.only(node, keys)
    changing: dict[str, Column] = {
        key: Column(values=column.values[:RUN], observed=column.observed[:RUN]) for key, column in cut.changing.items()
    }
    return SampledNode(
        name=cut.name,
        role=cut.role,
        clock=np.arange(RUN, dtype=np.float64) + 0.5,
        changing=changing,
        constants=cut.constants,
    )


def _changing(data: list[list[SampledNode]]) -> str:
    """A metric whose samples all agents send."""
    return next(key for key, column in data[0][0].changing.items() if column.observed.all())
