"""A small, valid file of published results that tests change in one place."""

import copy
from pathlib import Path
from typing import Any

import yaml

from apps.published import services

VALID: dict[str, Any] = {
    "format": 1,
    "slug": "example-2026",
    "source": {"title": "An example", "author": "A. Writer", "published": "2026-03-01"},
    "hardware": {"small": {"hardware_class": "m4.xlarge", "label": "small box"}},
    "sides": {
        "pxc": {"name": "PXC", "platform": "pxc", "hardware": ["small"]},
        "aurora": {"name": "Aurora", "platform": "aurora"},
    },
    "workloads": {"failover": {"question": "failover"}, "oltp": {"question": "oltp"}},
    "figures": [
        {
            "workload": "failover",
            "metric": "service_interruption",
            "unit": "s",
            "side": "pxc",
            "value": 12,
            "qualifier": "approx",
            "of_which": {"proxy_detection": 6},
        },
        {
            "workload": "oltp",
            "metric": "transactions_per_second",
            "unit": "ratio",
            "numerator": "pxc",
            "denominator": "aurora",
            "value": 1.3,
            "qualifier": "at_least",
        },
    ],
}


def a_file(folder: Path, *changes: tuple[str, Any], name: str = "example.yaml") -> Path:
    """VALID with `changes` (path, value) written to `folder`; the value ... deletes. ("figures.0.value", 3)"""
    document = copy.deepcopy(VALID)
    for path, value in changes:
        *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        target: Any = document
        for part in parents:
            target = target[part]
        if value is ...:
            del target[last]
        elif isinstance(target, list) and last == len(target):
            target.append(value)
        else:
            target[last] = value
    written = folder / name
    written.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return written


SIDES = {
    "aurora2": {"name": "Aurora 2", "platform": "aurora"},
    "aurora3": {"name": "Aurora 3", "platform": "aurora"},
    "aurora": {"name": "Aurora", "platform": "aurora"},
    "rds": {"name": "RDS MySQL", "platform": "rds-mysql"},
    "mha": {"name": "MHA", "platform": "mha"},
}
HARDWARE = {
    "small": {"hardware_class": "m4.xlarge", "label": "small box"},
    "large": {"hardware_class": "c3.8xlarge", "label": "large box"},
}


def load_figures(folder: Path, *figures: dict[str, Any], slug: str = "example-2026", **changes: Any) -> None:
    """An article with these figures about SIDES on HARDWARE."""
    document = {"slug": slug, "sides": SIDES, "hardware": HARDWARE, "figures": list(figures), **changes}
    services.load_file(a_file(folder, *document.items(), name=f"{slug}.yaml"))


def tps(side: str, value: float, qualifier: str = "exact", **fields: Any) -> dict[str, Any]:
    unit = {"metric": "transactions_per_second", "unit": "transactions/s"}
    return {"workload": "oltp", **unit, "side": side, "value": value, "qualifier": qualifier, **fields}


def downtime(side: str, value: float, qualifier: str = "exact", **fields: Any) -> dict[str, Any]:
    unit = {"metric": "service_interruption", "unit": "s"}
    return {"workload": "failover", **unit, "side": side, "value": value, "qualifier": qualifier, **fields}


def times(above: str, below: str, value: float, qualifier: str = "exact", **fields: Any) -> dict[str, Any]:
    """A ratio of their throughput."""
    sides = {"unit": "ratio", "numerator": above, "denominator": below}
    metric = {"workload": "oltp", "metric": "transactions_per_second"}
    return {**metric, **sides, "value": value, "qualifier": qualifier, **fields}
