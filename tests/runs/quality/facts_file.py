"""Facts of recorded runs in a file: lists of QualityFacts by the condition under which they were measured."""

import gzip
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from apps.runs.quality.values import (
    QualityFacts,
    QualityNode,
    Siblings,
    Stat,
    ThroughputSeconds,
    ToolCheck,
    ToolError,
)
from tests.paths import DATA

FILE = DATA / "quality" / "runs.json.gz"


def plainly(facts: QualityFacts) -> dict[str, Any]:
    seconds, siblings = facts.seconds, facts.siblings
    return {
        "tool": facts.tool,
        "measured": facts.measured,
        "headlines": {key: _short(value) for key, value in facts.headlines.items()},
        "nodes": [
            {
                "name": node.name,
                "role": node.role,
                "clock": [round(float(at), 3) for at in node.clock],
                "stats": {key: [_short(stat.mean), _short(stat.p95)] for key, stat in node.stats.items()},
                "apart": node.apart,
                "host": node.host,
                "bandwidth": node.bandwidth,
            }
            for node in facts.nodes
        ],
        "seconds": seconds
        and {
            "name": seconds.name,
            "unit": seconds.unit,
            "at": [round(float(at), 3) for at in seconds.at],
            "values": [_short(float(value)) for value in seconds.values],
        },
        "complaints": [[one.text, one.count] for one in facts.complaints],
        "claims": [[one.label, one.held] for one in facts.claims],
        "contradictions": list(facts.contradictions),
        "siblings": siblings
        and {
            "name": siblings.name,
            "unit": siblings.unit,
            "own": _short(siblings.own),
            "others": [_short(float(value)) for value in siblings.others],
        },
        "unsteady": facts.unsteady,
        "faults": facts.faults,
        "rate": facts.rate,
        "threads": facts.threads,
        "neighbours": facts.neighbours and {name: _short(cpus) for name, cpus in facts.neighbours.items()},
        "has_database": facts.has_database,
    }


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def packed(found: Mapping[str, list[Any]]) -> bytes:
    return json.dumps(found, separators=(",", ":"), sort_keys=True).encode()


def plain() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = json.loads(gzip.decompress(FILE.read_bytes()))
    return found


@cache
def recorded() -> Mapping[str, tuple[QualityFacts, ...]]:
    return {name: tuple(_facts(one) for one in runs) for name, runs in plain().items()}


def _facts(one: dict[str, Any]) -> QualityFacts:
    seconds, siblings = one["seconds"], one.get("siblings")
    return QualityFacts(
        **{key: one[key] for key in ("tool", "headlines", "unsteady", "faults", "rate", "threads", "neighbours")},
        measured=None if one["measured"] is None else tuple(one["measured"]),
        nodes=tuple(
            QualityNode(
                **node
                | {
                    "clock": np.array(node["clock"], np.float64),
                    "stats": {key: Stat(mean, p95) for key, (mean, p95) in node["stats"].items()},
                }
            )
            for node in one["nodes"]
        ),
        seconds=seconds
        and ThroughputSeconds(seconds["name"], seconds["unit"], np.array(seconds["at"]), np.array(seconds["values"])),
        complaints=tuple(ToolError(text, count) for text, count in one["complaints"]),
        claims=tuple(ToolCheck(label, held) for label, held in one["claims"]),
        contradictions=tuple(one["contradictions"]),
        siblings=siblings and Siblings(**siblings | {"others": np.array(siblings["others"])}),
        has_database=one["has_database"],
    )
