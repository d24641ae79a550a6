"""Presets of a campaign: plans with the systems that agents reach now, to be edited before they start."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from django.conf import settings
from django.http import QueryDict
from django.urls import reverse

from apps.catalog.models import Node, System, Workload
from apps.core.problems import FieldProblem, Invalid

ARTICLES = "articles"
ARTICLES_FILE = settings.BASE_DIR / "campaigns" / "articles.yaml"
WITH_DATA = (Node.Role.WRITER, Node.Role.READER)
# Fields in which a plan may differ from its preset; those of one workload have its key appended.
PICKED = ("systems", "workloads", "test", "tables", "table")
COUNTED = (*PICKED, "threads", "repetitions", "sessions", "warmup", "duration", "climb")
SYSTEMS_LINE = re.compile(r"^(?P<indent> *)systems: \[(?P<slugs>.*)\]$", re.MULTILINE)
SINGLE = "single"  # the file's system of one server: a workload without it is one of clusters alone


@dataclass(frozen=True)
class Preset:
    """`values`: of the form's fields; empty for a plan that opens as a file. `lacks`: why it has no plan now."""

    key: str
    title: str
    text: str
    values: Mapping[str, Any]
    lacks: str = ""

    @property
    def url(self) -> str:
        page = "web:campaign-file" if self.key == ARTICLES else "web:campaign-new"
        return f"{reverse(page)}?preset={self.key}"


def presets(reached: Sequence[System]) -> tuple[Preset, ...]:
    """In page order; `reached`: systems that an agent reaches. Three queries."""
    clusters = clusters_of(reached)
    trial = _workload(Workload.objects.filter(tool="failover", parameters__fault="kill_writer"))
    oltp = _workload(Workload.objects.filter(tool="sysbench", parameters__test="oltp_read_write"))
    pair = _releases(reached)
    nothing = "" if reached else "No agent reaches a system now."
    return (
        Preset(
            ARTICLES,
            "Aurora articles in miniature",
            "Ingest, OLTP, TPC-C, failover, schema changes on every system reached; as a campaign file.",
            {},
            nothing,
        ),
        Preset(
            "failover",
            "Failover trials",
            "Kill the writer six times per system under 20 inserts/s.",
            _values("How long without writes when the writer dies?", clusters, trial, "1", 6, 2, 60),
            nothing or ("" if clusters else "No agent reaches a system of two or more nodes now."),
        ),
        Preset(
            "ramp",
            "Ramp to saturation",
            "One workload from 1 to 256 threads; ends where throughput ends.",
            _values("Which system saturates first?", reached, oltp, "1, 4, 16, 64, 256", 3, 10, 60) | {"climb": "on"},
            nothing,
        ),
        Preset(
            "releases",
            "Two releases",
            "Old and new release on the same hardware with the same settings, alternating.",
            _values("Is the new release slower?", pair, oltp, "4, 16", 10, 10, 60),
            nothing or ("" if pair else "No agent reaches two systems that differ in the release alone."),
        ),
    )


def chosen(key: str, offered: Iterable[Preset]) -> Preset | None:
    """None for an empty key. Raises Invalid for an unknown one."""
    if not key:
        return None
    found = {each.key: each for each in offered}
    if key not in found:
        raise Invalid([FieldProblem("preset", f"there is no preset {key[:60]!r}", f"use one of {', '.join(found)}")])
    return found[key]


def is_changed(preset: Preset, typed: Mapping[str, Any]) -> bool:
    """Whether a form's data differ from the preset in more than the question."""
    assert isinstance(typed, QueryDict)  # noqa: S101  for mypy
    given = {name: sorted(filter(None, values)) for name, values in typed.lists() if name.partition("_")[0] in COUNTED}
    new = {"tables", "table_size"} if not any(given.get("test", ())) else set()
    own = {"sessions": ["1"]} | {name: values for name, values in given.items() if values and name not in new}
    return own != {name: _texts(value) for name, value in preset.values.items() if name != "name" and value}


def _texts(value: Any) -> list[str]:
    return sorted(map(str, value)) if isinstance(value, list) else [str(value)]


def articles_text(reached: Sequence[System]) -> str:
    """campaigns/articles.yaml on the systems reached; what it has on clusters alone stays on these, or goes."""
    every = [each.slug for each in reached]
    clusters = [each.slug for each in clusters_of(reached)]
    blocks = re.split(r"^(?=  - tool:)", ARTICLES_FILE.read_text(), flags=re.MULTILINE)
    return "".join(
        "\n".join(_lines(block, every, clusters))
        for block in blocks
        if clusters or not any(map(_is_of_clusters, SYSTEMS_LINE.finditer(block)))
    )


def _is_of_clusters(stated: re.Match[str]) -> bool:
    return SINGLE not in stated["slugs"].split(", ")


def _lines(block: str, every: Sequence[str], clusters: Sequence[str]) -> Iterator[str]:
    for line in block.split("\n"):
        stated = SYSTEMS_LINE.match(line)
        slugs = clusters if stated and _is_of_clusters(stated) else every
        yield f"{stated['indent']}systems: [{', '.join(slugs)}]" if stated else line


def clusters_of(reached: Collection[System]) -> list[System]:
    """Those with two or more nodes that hold data. One query."""
    nodes = Node.objects.filter(system__in=reached, role__in=WITH_DATA).values_list("system_id", flat=True)
    owners = list(nodes)
    return [each for each in reached if owners.count(each.pk) > 1]


def _workload(found: Any) -> Workload | None:
    return found.order_by("pk").first()  # type: ignore[no-any-return]


def _releases(reached: Sequence[System]) -> list[System]:
    """The newest release and the one before it, on equal hardware with equal settings; empty: there are none."""

    def kind(each: System) -> tuple[object, ...]:
        return each.release.platform_id, each.hardware_class_id, each.settings_hash

    newest_last = sorted(reached, key=lambda each: each.release.version_key)
    pairs = [
        [old, new]
        for old, new in combinations(newest_last, 2)
        if kind(old) == kind(new) and old.release_id != new.release_id
    ]
    return max(pairs, key=lambda pair: [each.release.version_key for each in reversed(pair)], default=[])


def _values(
    question: str, systems: Sequence[System], workload: Workload | None, threads: str, repetitions: int, *seconds: float
) -> dict[str, Any]:
    return {
        "name": question,
        "systems": [each.slug for each in systems],
        "workloads": [workload.pk] if workload else [],
        "threads": threads,
        "repetitions": repetitions,
        "sessions": 1,
        "warmup": seconds[0],
        "duration": seconds[1],
    }
