"""Facts of each side as text, for comparison with the other sides."""

import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.catalog.api import prices as catalog_prices
from apps.catalog.models import HardwareClass, System, Workload
from apps.comparison.comparability import variables
from apps.comparison.comparability.command_lines import options, program
from apps.comparison.comparability.differences import (
    IS,
    NO_NODE,
    NONE,
    NOT_KNOWN,
    NOT_SET,
    Fact,
    FieldGroup,
    Weight,
)
from apps.comparison.comparability.variables import NodeVariables
from apps.comparison.values import Level
from apps.core.canonical import canonical_json
from apps.core.units import format_bytes
from apps.runs.models import Run
from workers.protocol.workloads import WORKLOADS
from workers.protocol.workloads.foreign import FOREIGN

# Host facts that change from run to run; names that only start alike (timezone, loader) are kept.
PASSING_FACTS = re.compile(
    r"load(_?avg|_average)?(_?(1|5|15)(m|min)?)?|uptime(_seconds)?|pid|time|timestamp|boot|boot_id|boot_?time|booted_at"
    r"|clock|clock_(ahead|uncertainty)_seconds|canary"
)
SPECS = {**FOREIGN, **WORKLOADS}
# Sizes and lengths within these shares of each other count as equal.
SIZE_TOLERANCE, LENGTH_TOLERANCE = 0.1, 0.05
MOST_NAMED = 3


@dataclass(frozen=True)
class Known:
    """Data of a side: `nodes` of its system, `rows` of its runs that count, its servers' variables (`seen`)."""

    system: System
    workload: Workload
    nodes: Sequence[Mapping[str, Any]]
    rows: Sequence[Mapping[str, Any]]
    seen: tuple[NodeVariables, ...]


def facts_of(sides: Sequence[Known], levels: Sequence[Level]) -> list[list[Fact]]:
    """All facts of each side except its server variables."""
    settings = intended_settings(sides)
    return [
        [
            *_hardware_facts(side),
            *_workload_facts(side.workload),
            *_memory_facts(side),
            *_versions(side),
            *_topology(side),
            *_settings(side, sorted({name for each in sides for name in each.system.settings}), settings),
            *_measured(side.rows, levels),
            *_origin(side.rows),
        ]
        for side in sides
    ]


def intended_settings(sides: Sequence[Known]) -> frozenset[str]:
    """Settings that need not be listed as variables too: no server contradicts them."""
    names = {name for side in sides for name in side.system.settings}
    return frozenset(
        name
        for name in names
        if not any(
            name in side.system.settings and variables.contradicts(side.seen, name, str(side.system.settings[name]))
            for side in sides
        )
    )


def hardware_detail(hardware: HardwareClass) -> str:
    """For example "2 vCPU, 8 GiB": the stated figures that its name does not contain."""
    facts = _hardware(hardware)
    stated = (("vCPU", f"{facts['vCPU']} vCPU"), ("GiB", facts["Memory"]))
    return ", ".join(fact for unit, fact in stated if NOT_KNOWN not in fact and unit not in hardware.name)


def _hardware(hardware: HardwareClass) -> dict[str, str]:
    bits = hardware.network_bits_per_second
    return {
        "Hardware class": hardware.name,
        "Provider": hardware.provider or NOT_KNOWN,
        "Instance type": hardware.instance_type or NOT_KNOWN,
        "vCPU": _stated(hardware.vcpu),
        "Memory": _bytes(hardware.memory_bytes),
        "Storage": hardware.storage or NOT_KNOWN,
        "Storage size": _bytes(hardware.storage_bytes),
        "IOPS": _stated(hardware.iops),
        "Network": NOT_KNOWN if bits is None else f"{bits / 1e9:g} Gbit/s",
        "Region": hardware.region or NOT_KNOWN,
    }


def _hardware_facts(side: Known) -> Iterator[Fact]:
    hardware = side.system.hardware_class
    for label, text in _hardware(hardware).items():
        field = "hardware" if label == "Hardware class" else f"hardware.{label}"
        yield _fact(field, label, FieldGroup.HARDWARE, Weight.WITHHOLDS, text)
    for role in sorted({node["role"] for node in side.nodes}):
        classes = sorted({node["hardware"] for node in side.nodes if node["role"] == role})
        # A writer of the system's own class is already listed.
        own = [NONE if role == "writer" and each == hardware.name else each for each in classes]
        text = " and ".join(own) if own != [NONE] else "as the system's"
        field, label = f"hardware.nodes.{role}", f"Hardware of each {role}"
        yield Fact(field, label, FieldGroup.HARDWARE, Weight.WITHHOLDS, (text,), missing=NO_NODE)
    price = catalog_prices.price_of(hardware, side.system).usd
    yield _fact("hardware.key", "Key of the hardware class", FieldGroup.HARDWARE, Weight.MINOR, hardware.slug)
    yield _fact("hardware.called", "Name in articles", FieldGroup.HARDWARE, Weight.MINOR, hardware.label or NONE)
    text = NOT_KNOWN if price is None else f"{price.normalize():f} USD/h"
    yield _fact("hardware.price", "Price", FieldGroup.HARDWARE, Weight.MINOR, text)


def _workload_facts(workload: Workload) -> Iterator[Fact]:
    """The parameters that its spec declares as data set, and those of the work done on it."""
    spec = SPECS.get(workload.tool)
    data = spec.data_set if spec else ()
    own = workload.parameters
    for name in sorted(own):
        group = FieldGroup.DATASET if name in data else FieldGroup.WORKLOAD
        yield Fact(f"{group}.{name}", name, group, Weight.WITHHOLDS, (str(own[name]),), missing=NOT_SET)
    yield _fact("workload", "Load tool", FieldGroup.WORKLOAD, Weight.WITHHOLDS, workload.tool)
    yield _fact("workload.called", "Workload's name", FieldGroup.WORKLOAD, Weight.MINOR, workload.name)
    yield _fact("workload.judged_by", "Judged by", FieldGroup.WORKLOAD, Weight.MINOR, workload.primary_metric.key)


def _memory_facts(side: Known) -> Iterator[Fact]:
    sizes = [row["data_bytes"] for row in side.rows if row["data_bytes"]]
    data = statistics.median(sizes) if sizes else None
    memory = side.system.hardware_class.memory_bytes
    ratio = memory / data if memory and data else None
    for field, label, number, text in (
        ("data", "Size of the data", data, format_bytes(data) if data else ""),
        ("ratio", "Memory per byte of data", ratio, f"{ratio:.3g}" if ratio else ""),
    ):
        yield Fact(
            f"memory.{field}",
            label,
            FieldGroup.MEMORY,
            Weight.IMPORTANT,
            (text,) if text else (),
            number=number,
            tolerance=SIZE_TOLERANCE,
        )


def _versions(side: Known) -> Iterator[Fact]:
    release = side.system.release
    yield _fact("platform", "Platform", FieldGroup.VERSION, Weight.IMPORTANT, release.platform.name)
    yield _fact("release", "Release", FieldGroup.VERSION, Weight.IMPORTANT, str(release))
    reported = _distinct(row["server_version"] for row in side.rows)
    yield Fact("server_version", "Server version, reported", FieldGroup.VERSION, Weight.MINOR, reported)
    day = release.released_on
    yield _fact("released_on", "Released on", FieldGroup.VERSION, Weight.MINOR, day.isoformat() if day else NOT_KNOWN)


def _topology(side: Known) -> Iterator[Fact]:
    yield _fact("nodes", "Nodes", FieldGroup.TOPOLOGY, Weight.IMPORTANT, _nodes(side.nodes))
    # Without any zone there is nothing to add to the nodes.
    known = any(node["zone"] for node in side.nodes)
    zones = [f"{node['role']} in {node['zone'] or 'a zone not known'}" for node in side.nodes if known]
    counted = [f"{zones.count(each)} {each}" for each in dict.fromkeys(sorted(zones, reverse=True))]
    yield _fact("nodes.zones", "Zones", FieldGroup.TOPOLOGY, Weight.IMPORTANT, ", ".join(counted) or NOT_KNOWN)
    names = {each.node: each.role or "no role reported" for each in side.seen}
    asked = list(names.values())
    text = ", ".join(f"{asked.count(role)} {role}" for role in dict.fromkeys(sorted(asked, reverse=True)))
    yield _fact(
        "nodes.asked", "Servers whose variables were read", FieldGroup.TOPOLOGY, Weight.MINOR, text or NOT_KNOWN
    )
    system = side.system
    place = f"{system.get_aws_kind_display()} in {system.aws_region}" if system.aws_kind else "not at AWS"
    yield _fact("aws", "At AWS", FieldGroup.TOPOLOGY, Weight.IMPORTANT, place)


def _nodes(nodes: Sequence[Mapping[str, Any]]) -> str:
    """For example "1 writer, 2 readers in 3 zones"."""
    roles = [node["role"] for node in nodes]
    counts = {role: roles.count(role) for role in dict.fromkeys(sorted(roles, reverse=True))}
    text = ", ".join(f"{count} {role}{'' if count == 1 else 's'}" for role, count in counts.items())
    zones = {node["zone"] for node in nodes if node["zone"]}
    return f"{text} in {len(zones)} zones" if len(zones) > 1 else text or NOT_KNOWN


def _settings(side: Known, names: Sequence[str], reported: frozenset[str]) -> Iterator[Fact]:
    for name in names:
        value = side.system.settings.get(name)
        seen = variables.value_of(side.seen, name) if name in reported and value is None else ""
        yield Fact(
            f"settings.{name}",
            name,
            FieldGroup.SETTINGS,
            Weight.IMPORTANT,
            (NOT_SET if value is None else str(value),),
            mark=f"{IS}{seen}" if seen else "",
        )


def _measured(rows: Sequence[Mapping[str, Any]], levels: Sequence[Level]) -> Iterator[Fact]:
    texts = {level.id: level.text for level in levels}
    ran = {row["load_level_id"] for row in rows}
    lengths = [row["measured_to"] - row["measured_from"] for row in rows if row["measured_to"] is not None]
    ends = dict.fromkeys(seconds(each) for each in (min(lengths), max(lengths))) if lengths else {}
    planned = _distinct(seconds(row["duration"]) for row in rows)
    yield Fact("duration", "Measured phase", FieldGroup.MEASUREMENT, Weight.IMPORTANT, planned)
    before = _distinct(seconds(row["warmup"]) for row in rows)
    yield Fact("warmup", "Warm-up", FieldGroup.MEASUREMENT, Weight.IMPORTANT, before)
    text = ", ".join(text for pk, text in texts.items() if pk in ran) or NONE
    yield _fact("levels", "Load levels measured", FieldGroup.MEASUREMENT, Weight.IMPORTANT, text)
    yield Fact(
        "measured",
        "Measured length",
        FieldGroup.MEASUREMENT,
        Weight.MINOR,
        (" to ".join(ends),) if ends else (),
        number=statistics.median(lengths) if lengths else None,
        tolerance=LENGTH_TOLERANCE,
    )
    rules = _distinct(str(row["derivation"]) for row in rows)
    yield Fact("derivation", "Version of the rules for series and figures", FieldGroup.MEASUREMENT, Weight.MINOR, rules)
    hosts = _distinct(_host(row["host"]) for row in rows)
    yield Fact("load_generator", "Load generator's host", FieldGroup.CLIENT, Weight.IMPORTANT, hosts)
    tools = _distinct(row["tool_version"] for row in rows)
    yield Fact("tool_version", "Version of the load tool", FieldGroup.CLIENT, Weight.IMPORTANT, tools)
    programs = _distinct(program(row["command"]) for row in rows)
    yield Fact("program", "Program of the load", FieldGroup.CLIENT, Weight.MINOR, programs)
    given = _distinct(", ".join(options(row["command"])) for row in rows)
    yield Fact("options", "Options of the load tool", FieldGroup.CLIENT, Weight.MINOR, given)
    sampled = _distinct("; ".join(row["samplers"]) for row in rows)
    yield Fact("samplers", "Sampled sources", FieldGroup.SAMPLERS, Weight.IMPORTANT, sampled)


def _origin(rows: Sequence[Mapping[str, Any]]) -> Iterator[Fact]:
    origins = _distinct(Run.Provenance(row["provenance"]).label for row in rows)
    yield Fact("provenance", "Origin of the runs", FieldGroup.ORIGIN, Weight.IMPORTANT, origins)
    campaigns = [row["campaign_name"] or "none" for row in rows]
    yield _listed("campaigns", "Campaigns", FieldGroup.ORIGIN, campaigns)
    yield _listed("tags", "Tags", FieldGroup.ORIGIN, [tag for row in rows for tag in row["tags"]])
    days = sorted({row["started_at"].date().isoformat() for row in rows})
    text = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "no runs"
    yield _fact("dates", "Dates of the runs", FieldGroup.DATE, Weight.MINOR, text)


def _fact(field: str, label: str, group: FieldGroup, weight: Weight, text: str) -> Fact:
    return Fact(field, label, group, weight, (text,))


def _stated(value: int | None) -> str:
    return NOT_KNOWN if value is None else f"{value:,}"


def _bytes(value: int | None) -> str:
    return NOT_KNOWN if value is None else f"{value / 2**30:,.4g} GiB"


def lasting_facts(host: Mapping[str, Any]) -> dict[str, Any]:
    """Facts of the load generator's host that do not change between runs, nested ones included."""
    known = {
        name: value for name, value in sorted(host.items()) if value is not None and not PASSING_FACTS.fullmatch(name)
    }
    return {name: lasting_facts(value) if isinstance(value, Mapping) else value for name, value in known.items()}


def seconds(duration: float | None) -> str:
    """Rounded, so that lengths within a clock's jitter read the same."""
    return NOT_KNOWN if duration is None else f"{round(duration, 0 if duration >= 10 else 1):g} s"


def _host(host: Mapping[str, Any]) -> str:
    """For example "db1, 8 CPUs, 32 GiB, Linux 6.1"."""
    facts = lasting_facts(host)
    parts = [
        str(facts.pop("name", "")),
        f"{facts.pop('cpus')} CPUs" if "cpus" in facts else "",
        _bytes(facts.pop("memory_bytes")) if "memory_bytes" in facts else "",
        str(facts.pop("kernel", "")),
        *(f"{name} {value if isinstance(value, str) else canonical_json(value)}" for name, value in facts.items()),
    ]
    return ", ".join(text for text in parts if text)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({text for text in texts if text}))


def _listed(field: str, label: str, group: FieldGroup, texts: Iterable[str]) -> Fact:
    """One value, shortened to the first few texts."""
    found = sorted(set(texts))
    rest = len(found) - MOST_NAMED
    short = f"{', '.join(found[:MOST_NAMED])} and {rest} more" if rest > 0 else ""
    return Fact(field, label, group, Weight.MINOR, (", ".join(found) or NONE,), short=short)
