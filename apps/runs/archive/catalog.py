"""System, workload and load level of an archived run in this installation's catalog, created where missing."""

from typing import Any

from apps.catalog.api import labels_of, load_level_for, metrics_for, new_short_name
from apps.catalog.models import HardwareClass, LoadLevel, Node, Platform, Release, System, Workload
from apps.core.canonical import canonical_hash
from apps.runs.archive import parquet
from apps.runs.archive.content import HARDWARE_FIELDS, Row
from apps.runs.archive.troubles import ArchiveTrouble, Damaged
from workers.protocol.workloads import WORKLOADS
from workers.protocol.workloads.declaration import renamed


class Contradicts(ArchiveTrouble):
    """The catalog has a different system with the slug of the archived one."""


# What a run's row says of its system and may contradict the one here.
IDENTITY = ("system", "platform_slug", "release", "hardware_class", "settings")


def system_of(row: Row) -> System:
    """The run's system. Raises Contradicts, so that no run appears under a system on which it was not measured."""
    known = System.objects.select_related("release__platform", "hardware_class").filter(slug=row["system"]).first()
    if known is not None:
        _require_same(known, row)
        return known
    wanted = {row["hardware_class"], *(node["hardware_class"] for node in row["system_nodes"])}
    classes = {each["slug"]: _hardware(each) for each in row["hardware"]}
    if missing := wanted - classes.keys():
        raise Damaged(f"run {row['run']} is of hardware {missing.pop()!s:.80}, which the archive does not describe")
    system = System(
        slug=row["system"],
        name=row["system_name"],
        release=_release(row),
        hardware_class=classes[row["hardware_class"]],
        endpoint=row["endpoint"],
        settings=parquet.json_of(row, "settings", dict[str, Any]),
        settings_hash=canonical_hash(parquet.json_of(row, "settings", dict[str, Any])),
        labels=labels_of(row["system"], row["labels"]),
    )
    system.short_name = new_short_name(system, [node["role"] for node in row["system_nodes"]])
    system.save()
    Node.objects.bulk_create(
        Node(
            system=system,
            name=node["name"],
            role=node["role"],
            zone=node["zone"],
            hardware_class=classes[node["hardware_class"]],
        )
        for node in row["system_nodes"]
    )
    return system


def workload_of(row: Row) -> Workload:
    spec, parameters = WORKLOADS.get(row["tool"]), parquet.json_of(row, "parameters", dict[str, Any])
    return Workload.objects.get_or_create(
        content_hash=row["workload_hash"],
        defaults={
            "tool": row["tool"],
            "name": renamed(spec, row["workload_name"], parameters) if spec else row["workload_name"],
            "parameters": parameters,
            "primary_metric": metrics_for([row["primary_metric"]])[row["primary_metric"]],
            "description": row["workload_description"],
        },
    )[0]


def load_level_of(row: Row) -> LoadLevel:
    return load_level_for(threads=row["threads"], rate=row["rate"])


def _require_same(known: System, row: Row) -> None:
    ours: list[tuple[str, Any, Any]] = [
        ("platform", known.release.platform.slug, row["platform_slug"]),
        ("release", known.release.version, row["release"]),
        ("hardware class", known.hardware_class.slug, row["hardware_class"]),
        ("settings", canonical_hash(known.settings), canonical_hash(parquet.json_of(row, "settings", dict[str, Any]))),
    ]
    different = [name for name, here, there in ours if here != there]
    if different:
        raise Contradicts(
            f"run {row['run']} is of a system {known.slug} that has another {' and another '.join(different)} than "
            f"the {known.slug} here: give the system here a slug of its own, then restore the run again"
        )


def _release(row: Row) -> Release:
    colour = row["platform_color"]
    platform, _ = Platform.objects.get_or_create(
        slug=row["platform_slug"],
        defaults={
            "color": colour,
            **{name: row[f"platform_{name}"] for name in ("name", "replication", "description")},
        },
    )
    return Release.objects.get_or_create(
        platform=platform,
        version=row["release"],
        defaults={"version_key": row["release_numbers"], "released_on": row["released_on"]},
    )[0]


def _hardware(row: dict[str, Any]) -> HardwareClass:
    described = {name: row[name] for name in HARDWARE_FIELDS if name != "slug"}
    return HardwareClass.objects.get_or_create(slug=row["slug"], defaults=described)[0]
