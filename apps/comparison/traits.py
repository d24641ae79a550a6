"""Puts into words what is known of a side, so that sides can be held against each other."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apps.catalog.models import HardwareClass, System, Workload
from apps.comparison.comparability import NOT_KNOWN, Traits
from apps.comparison.values import Level
from apps.runs.models import Run

# Facts of the load generator's host that change from run to run.
PASSING_FACTS = ("load", "uptime", "pid", "time", "boot", "clock")


def traits_of(
    system: System,
    *,
    workload: Workload,
    nodes: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    variables: Sequence[Mapping[str, str]],
    levels: Sequence[Level],
) -> Traits:
    """`rows`: the side's runs that count; `variables`: each configuration that their servers had."""
    texts = {level.id: level.text for level in levels}
    measured = {row["load_level_id"] for row in rows}
    days = sorted({row["started_at"].date().isoformat() for row in rows})
    return Traits(
        platform=system.release.platform.name,
        release=str(system.release),
        workload=f"{workload.tool} {workload.name}",
        parameters={name: str(value) for name, value in workload.parameters.items()},
        server_versions=_said(row["server_version"] for row in rows),
        hardware_slug=system.hardware_class.slug,
        hardware=_hardware(system.hardware_class),
        nodes=_nodes(nodes),
        settings={name: str(value) for name, value in system.settings.items()},
        variables=variables,
        load_generators=_said(_host(row["host"]) for row in rows),
        tool_versions=_said(row["tool_version"] for row in rows),
        warmups=frozenset(seconds(row["warmup"]) for row in rows),
        durations=frozenset(seconds(row["duration"]) for row in rows),
        provenances=frozenset(Run.Provenance(row["provenance"]).label for row in rows),
        levels=", ".join(text for pk, text in texts.items() if pk in measured) or "none",
        dates=" to ".join(dict.fromkeys((days[0], days[-1]))) if days else "no runs",
    )


def hardware_detail(hardware: HardwareClass) -> str:
    """For example "2 vCPU, 8 GiB": what is stated of it and its name does not say itself."""
    facts = _hardware(hardware)
    stated = (("vCPU", f"{facts['vCPU']} vCPU"), ("GiB", facts["Memory"]))
    return ", ".join(fact for unit, fact in stated if NOT_KNOWN not in fact and unit not in hardware.name)


def _hardware(hardware: HardwareClass) -> dict[str, str]:
    return {
        "Hardware class": hardware.name,
        "vCPU": _stated(hardware.vcpu),
        "Memory": _bytes(hardware.memory_bytes),
        "Storage": hardware.storage or NOT_KNOWN,
        "Storage size": _bytes(hardware.storage_bytes),
        "IOPS": _stated(hardware.iops),
        "Network": NOT_KNOWN
        if hardware.network_bits_per_second is None
        else f"{hardware.network_bits_per_second / 1e9:g} Gbit/s",
        "Region": hardware.region or NOT_KNOWN,
    }


def _stated(value: int | None) -> str:
    return NOT_KNOWN if value is None else f"{value:,}"


def _bytes(value: int | None) -> str:
    return NOT_KNOWN if value is None else f"{value / 2**30:,.4g} GiB"


def _nodes(nodes: Sequence[Mapping[str, Any]]) -> str:
    """For example "1 writer, 2 readers in 3 zones"."""
    roles = [node["role"] for node in nodes]
    counts = {role: roles.count(role) for role in dict.fromkeys(sorted(roles, reverse=True))}
    text = ", ".join(f"{count} {role}{'' if count == 1 else 's'}" for role, count in counts.items())
    zones = {node["zone"] for node in nodes if node["zone"]}
    return f"{text} in {len(zones)} zones" if len(zones) > 1 else text or NOT_KNOWN


def lasting_facts(host: Mapping[str, Any]) -> dict[str, Any]:
    """Facts of the load generator's host that two runs on it share."""
    return {
        name: value
        for name, value in sorted(host.items())
        if isinstance(value, str | int | float) and not name.startswith(PASSING_FACTS)
    }


def seconds(duration: float | None) -> str:
    """Lengths that differ by less than a clock's jitter read the same."""
    return NOT_KNOWN if duration is None else f"{round(duration, 0 if duration >= 10 else 1):g} s"


def _host(host: Mapping[str, Any]) -> str:
    """For example "db1, 8 CPUs, 32 GiB, Linux 6.1"."""
    facts = lasting_facts(host)
    told = [
        str(facts.pop("name", "")),
        f"{facts.pop('cpus')} CPUs" if "cpus" in facts else "",
        _bytes(facts.pop("memory_bytes")) if "memory_bytes" in facts else "",
        str(facts.pop("kernel", "")),
        *(f"{name} {value}" for name, value in facts.items()),
    ]
    return ", ".join(text for text in told if text)


def _said(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(text for text in texts if text)
