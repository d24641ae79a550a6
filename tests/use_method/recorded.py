"""What was recorded of real servers while something was done to them, as the rules see it.

    run("galera_120s")                 all of it; NAMES are the recordings
    between(run("galera_120s"), 70, 84)  as if that had been the measured phase
    phase(run("galera_120s"), "hot")   the part in which it did what the word says

Three servers on one machine: its counters are those of each. record.py makes the
files, record_runs.py those of the lab.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from apps.runs import tool_output
from apps.runs.samples.columns import SampledNode, client_of
from apps.runs.storage.codec import Column
from apps.use_method.values import Moment, NodeFacts, RunFacts, Span
from tests.paths import RECORDINGS
from tests.use_method import builders

FOLDER = RECORDINGS / "use"
NAMES = tuple(sorted(file.stem for file in FOLDER.glob("*.npz")))
# Stands for a whole number that was not observed.
MISSING = -(2**62)
EDGE = 1.0  # s: the first and the last second of a load are its beginning and its end
# What a load tool printed meanwhile.
PRINTED = {f"ddl.{name}": f"ddl/{name}.sysbench.txt" for name in ("copy", "inplace_rebuild", "instant")}


def run(name: str) -> RunFacts:
    """The whole recording, all of it measured."""
    held = _held(name)
    span = min(float(node.clock[0]) for node in held.nodes), max(float(node.clock[-1]) for node in held.nodes)
    nodes = tuple(
        replace(
            _node(name, node.name),
            role=node.role,
            variables=held.variables[node.name],
            silent=tuple(_silent(held.events, node.name, span[1])),
        )
        for node in held.nodes
    )
    load = " ".join(event.label for event in held.events if event.kind == "note")
    known = {"measured": span, "client": _client(name), "events": held.events, "platform": held.platform}
    return builders.facts(*nodes, **known, **_level(load))


def between(facts: RunFacts, start: float, end: float) -> RunFacts:
    """As if that had been the measured phase (s on the recording's clock). Events stay."""
    span = (start, end)
    client = facts.client and replace(facts.client, series=builders.cut(facts.client.series, span))
    nodes = (replace(node, series=builders.cut(node.series, span)) for node in facts.nodes)
    return replace(facts, measured=span, nodes=tuple(nodes), client=client)


def phase(facts: RunFacts, word: str) -> RunFacts:
    """The measured part of the one load whose label holds `word`, without its first and last second."""
    [found] = [moment for moment in facts.events if moment.kind == "phase" and word in moment.label]
    assert found.ends_at is not None
    return replace(between(facts, found.starts_at + EDGE, found.ends_at - EDGE), **_level(found.label))


def event(facts: RunFacts, word: str) -> Moment:
    """The first event that was not a change of a node's state and whose label holds `word`."""
    return next(moment for moment in facts.events if moment.kind != "node_state" and word in moment.label)


@dataclass(frozen=True)
class _Held:
    platform: str
    nodes: tuple[SampledNode, ...]
    events: tuple[Moment, ...]
    variables: Mapping[str, Mapping[str, str]]
    tool_start: float | None  # the load tool's second 0 on the recording's clock


@cache
def _held(name: str) -> _Held:
    with np.load(FOLDER / f"{name}.npz") as held:
        header: dict[str, Any] = json.loads(bytes(held["told"]))
        nodes = tuple(_sampled(node, said, held) for node, said in header["nodes"].items())
    events = tuple(Moment(**{"detail": {}} | event) for event in header["events"])
    variables = {node: said["variables"] for node, said in header["nodes"].items()}
    return _Held(header["platform"], nodes, events, variables, header["tool_start"])


def _sampled(name: str, said: Mapping[str, Any], held: Mapping[str, Any]) -> SampledNode:
    whole = np.cumsum(held[f"{name}.whole"], axis=1)
    changing = {
        key: Column(np.where(row == MISSING, 0, row), row != MISSING)
        for key, row in zip(said["whole"], whole, strict=True)
    }
    for key, row in zip(said["decimal"], held[f"{name}.decimal"], strict=True):
        changing[key] = Column(np.nan_to_num(row), ~np.isnan(row))
    clock = held[f"{name}.clock"]
    return SampledNode(name=name, role=said["role"], clock=clock, changing=changing, constants=said["constants"])


@cache
def _node(recording: str, name: str) -> NodeFacts:
    [sampled] = [node for node in _held(recording).nodes if node.name == name]
    return builders.of_sampled(sampled, (float(sampled.clock[0]), float(sampled.clock[-1])))


def _silent(events: Iterable[Moment], node: str, until: float) -> Iterable[Span]:
    since: float | None = None
    for event in events:
        if event.node == node and event.detail.get("what") == "answers":
            if event.detail["to"] == "no":
                since = event.starts_at
            elif since is not None:
                yield since, event.starts_at
                since = None
    if since is not None:
        yield since, until


def _level(label: str) -> dict[str, Any]:
    """Threads and rate as a load's label has them: `oltp_read_write t4 rate=100`."""
    threads, rate = re.search(r"\bt(\d+)\b", label.replace("_", " ")), re.search(r"rate=?(\d+)", label)
    return {"threads": int(threads[1]) if threads else 1, "rate": float(rate[1]) if rate else None}


@cache
def _client(name: str) -> NodeFacts | None:
    start = _held(name).tool_start
    if name not in PRINTED or start is None:
        return None
    said = tool_output.read("sysbench", (RECORDINGS / PRINTED[name]).read_bytes())
    sampled = client_of(said.intervals, offset=start)
    assert sampled is not None
    return builders.of_sampled(sampled, (0.0, float(sampled.clock[-1])))
