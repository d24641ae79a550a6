"""What was recorded of real servers and their machine, second by second, as sampled nodes."""

import gzip
import json
from functools import cache
from pathlib import Path

import numpy as np

from apps.rig.recordings import FILE
from apps.runs.samples.columns import SampledNode
from apps.runs.storage import codec
from apps.runs.storage.codec import Column

POSTGRESQL = Path(__file__).parents[1] / "data" / "host" / "postgresql_20s.json.gz"


@cache
def nodes() -> dict[str, SampledNode]:
    """A single server ("single") and three Galera nodes ("g1" to "g3"), about 120 s each; PostgreSQL 15 under
    pgbench with 8 clients ("postgresql"), 20 s."""
    found = {"postgresql": _postgresql()}
    with np.load(FILE) as held:
        for name, node in json.loads(bytes(held["told"])).items():
            columns = [
                *zip(node["whole"], np.cumsum(held[f"{name}.whole"], axis=1), strict=True),
                *zip(node["decimal"], held[f"{name}.decimal"], strict=True),
            ]
            changing = {key: Column(values, np.ones(len(values), np.bool_)) for key, values in columns}
            clock = held[f"{name}.clock"]
            found[name] = SampledNode(
                name=name, role="writer", clock=clock, changing=changing, constants=node["constants"]
            )
    return found


def _postgresql() -> SampledNode:
    held = json.loads(gzip.decompress(POSTGRESQL.read_bytes()))
    return SampledNode(
        name="postgresql",
        role="writer",
        clock=np.array(held["clock"]),
        changing={key: codec.column(values) for key, values in held["changing"].items()},
        constants=held["constants"],
    )


@cache
def keys() -> frozenset[str]:
    return frozenset(key for node in nodes().values() for key in (*node.changing, *node.constants))
