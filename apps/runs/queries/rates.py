"""Mean rates of many counters over the measured phases of many runs, from statistics stored by the seal."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from apps.core import binary_cursor
from apps.runs.queries.metric_descriptions import like

# Counters that never changed have no row; they are among their node's constants.
_NODES = """
SELECT n.run_id, n.number, n.name, n.role, n.samples,
  ARRAY(
    SELECT held.key FROM jsonb_each(n.constants) held
    WHERE jsonb_typeof(held.value) = 'number' AND (held.key = ANY(%(keys)s) OR held.key LIKE ANY(%(alike)s))
  )
FROM runs_runnode n JOIN runs_run r ON r.id = n.run_id
WHERE n.run_id = ANY(%(runs)s) AND r.state = 'sealed'
ORDER BY n.run_id, n.number
"""
_RATES = """
SELECT s.run_id, s.node, array_agg(m.key), array_agg(s.mean), array_agg(s.increase), array_agg(s.resets),
  array_agg(s.base)
FROM runs_series s
JOIN catalog_metric m ON m.id = s.metric_id
WHERE s.run_id = ANY(%(runs)s) AND (m.key = ANY(%(keys)s) OR m.key LIKE ANY(%(alike)s)) AND s.mean IS NOT NULL
GROUP BY s.run_id, s.node
"""


@dataclass(frozen=True)
class Rate:
    """`mean`: rate per second over the observed time of the measured phase; `increase`: total over it. For a gauge,
    `mean` is that of its values and `increase` is None. `resets`: number of decreases, whose steps are lost. `base`:
    first value of an integer counter in the run; 0: not known."""

    mean: float
    increase: float | None
    resets: int = 0
    base: int = 0


@dataclass(frozen=True)
class NodeRates:
    """A node of a run; `samples` 0: not sampled."""

    number: int
    name: str
    role: str
    samples: int
    rates: Mapping[str, Rate]


def rates_of(run_ids: Sequence[int], patterns: Collection[str]) -> dict[int, list[NodeRates]]:
    """Nodes of the sealed runs with the metrics that match `patterns` (keys, with `*` as a wildcard), without those not
    observed in the measured phase. Two queries."""
    values = {
        "runs": list(run_ids),
        "keys": [key for key in patterns if "*" not in key],
        "alike": [like(key) for key in patterns if "*" in key],
    }
    seen: dict[tuple[int, int], dict[str, Rate]] = {}
    for run, node, keys, means, increases, resets, bases in binary_cursor.fetch(_RATES, values):
        columns = zip(means, increases, resets, bases, strict=True)
        seen[run, node] = {key: Rate(*each) for key, each in zip(keys, columns, strict=True)}
    found: dict[int, list[NodeRates]] = {}
    for run, number, name, role, samples, still in binary_cursor.fetch(_NODES, values):
        rates = {**dict.fromkeys(still, Rate(0.0, 0.0)), **seen.get((run, number), {})}
        found.setdefault(run, []).append(NodeRates(number, name, role, samples, rates))
    return found
