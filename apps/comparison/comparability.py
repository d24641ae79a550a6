"""In what the sides of a comparison differ, the important first. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

NOT_KNOWN = "not known"
NOT_SET = "not set"

# Variables that differ between any two servers, or between two moments of one: names, places, clocks, positions.
VOLATILE = re.compile(
    r"""^(
        server_id | server_uuid | server_uid | hostname | port | socket | bind_address | extra_port
      | report_(host|port) | .*_?pid_file | basedir | datadir | tmpdir | .*_tmpdir | .*_dir | .*_directory | .*_file
      | .*_path | .*_basename | .*_index | log_error | ssl_(ca|cert|key) | timestamp | .*_timestamp | identity
      | insert_id | last_insert_id | rand_seed[12] | pseudo_thread_id | last_gtid | gtid_.*_pos | gtid_binlog_state
      | gtid_executed | gtid_purged | gtid_seq_no | version | version_.* | innodb_version | proxy_user | external_user
      | wsrep_node_.* | wsrep_cluster_address | wsrep_sst_receive_address | wsrep_start_position
      | wsrep_provider_options\.(base_.*|.*_addr|.*\.listen_addr|ist\.recv_.*)
    )$""",
    re.VERBOSE,
)
PROVIDER_OPTIONS = "wsrep_provider_options"


class Weight(StrEnum):
    """What a difference does: it withholds the verdict until a person accepts it, or it must be seen, or is noted."""

    WITHHOLDS = "withholds the verdict"
    IMPORTANT = "important"
    MINOR = "minor"


@dataclass(frozen=True)
class Difference:
    """One field in which the sides differ; `values` in the order of the sides, as words."""

    field: str
    label: str
    weight: Weight
    values: tuple[str, ...]


@dataclass(frozen=True)
class Traits:
    """What is known of one side and of its runs; a set of texts where its runs may differ among themselves."""

    platform: str
    release: str
    workload: str
    parameters: Mapping[str, str]
    server_versions: frozenset[str]
    hardware_slug: str
    hardware: Mapping[str, str]
    nodes: str
    settings: Mapping[str, str]
    variables: Sequence[Mapping[str, str]]
    load_generators: frozenset[str]
    tool_versions: frozenset[str]
    warmups: frozenset[str]
    durations: frozenset[str]
    provenances: frozenset[str]
    levels: str
    dates: str


def differences(sides: Sequence[Traits]) -> tuple[Difference, ...]:
    """All fields in which any two sides differ, by weight, then in the order a reader asks for them."""
    found = [
        *_hardware(sides),
        *_workload(sides),
        *_field("platform", "Platform", [side.platform for side in sides], Weight.IMPORTANT),
        *_field("release", "Release", [side.release for side in sides], Weight.IMPORTANT),
        *_sets("server_version", "Server version as it said", [side.server_versions for side in sides], Weight.MINOR),
        *_field("nodes", "Nodes", [side.nodes for side in sides], Weight.IMPORTANT),
        *_settings(sides),
        *_sets("duration", "Measured phase", [side.durations for side in sides], Weight.IMPORTANT),
        *_sets("warmup", "Warm-up", [side.warmups for side in sides], Weight.IMPORTANT),
        *_field("levels", "Load levels measured", [side.levels for side in sides], Weight.IMPORTANT),
        *_sets("load_generator", "Load generator's host", [side.load_generators for side in sides], Weight.IMPORTANT),
        *_sets("tool_version", "Load tool", [side.tool_versions for side in sides], Weight.IMPORTANT),
        *_sets("provenance", "Where the runs come from", [side.provenances for side in sides], Weight.IMPORTANT),
        *_variables(sides),
        *_field("dates", "Dates of the runs", [side.dates for side in sides], Weight.MINOR),
    ]
    order = list(Weight)
    return tuple(sorted(found, key=lambda each: order.index(each.weight)))


def withheld_places(found: Sequence[Difference]) -> frozenset[int]:
    """Places of the sides that differ from the baseline in something that withholds the verdict."""
    return frozenset(
        place
        for each in found
        if each.weight is Weight.WITHHOLDS
        for place, value in enumerate(each.values)
        if value != each.values[0]
    )


def mixtures(side: Traits) -> tuple[str, ...]:
    """In what the runs of one side differ among themselves, as phrases."""
    parts = {
        "measured phase": side.durations,
        "warm-up": side.warmups,
        "server version": side.server_versions,
        "load generator's host": side.load_generators,
        "load tool": side.tool_versions,
        "provenance": side.provenances,
    }
    return tuple(f"{label} {' or '.join(sorted(texts))}" for label, texts in parts.items() if len(texts) > 1)


def _hardware(sides: Sequence[Traits]) -> list[Difference]:
    if len({side.hardware_slug for side in sides}) == 1:
        return []
    found = []
    for label in dict.fromkeys(label for side in sides for label in side.hardware):
        values = [side.hardware.get(label, NOT_KNOWN) for side in sides]
        field = "hardware" if label == "Hardware class" else f"hardware.{label}"
        found += _field(field, label, values, Weight.WITHHOLDS)
    return found


def _workload(sides: Sequence[Traits]) -> list[Difference]:
    found = _field("workload", "Workload", [side.workload for side in sides], Weight.WITHHOLDS)
    for name in sorted({name for side in sides for name in side.parameters}):
        values = [side.parameters.get(name, NOT_SET) for side in sides]
        found += _field(f"workload.{name}", name, values, Weight.WITHHOLDS)
    return found


def _settings(sides: Sequence[Traits]) -> list[Difference]:
    found = []
    for name in sorted({name for side in sides for name in side.settings}):
        values = [side.settings.get(name, NOT_SET) for side in sides]
        found += _field(f"settings.{name}", name, values, Weight.IMPORTANT)
    return found


def _variables(sides: Sequence[Traits]) -> list[Difference]:
    """Server variables as the runs saw them, without those already listed as settings of the system."""
    known = [_by_name(side.variables) for side in sides]
    if not all(known):
        return []  # a side whose server nobody asked would differ in everything
    found = []
    settings = {name for side in sides for name in side.settings}
    for name in sorted({name for side in known for name in side} - settings):
        values = [" or ".join(sorted(side[name])) if name in side else "no such variable" for side in known]
        found += _field(f"variables.{name}", name, values, Weight.MINOR)
    return found


def _by_name(variables: Sequence[Mapping[str, str]]) -> dict[str, set[str]]:
    """The values that each stable variable had in a side's runs."""
    found: dict[str, set[str]] = {}
    for configuration in variables:
        for name, value in _expanded(configuration).items():
            if not VOLATILE.match(name):
                found.setdefault(name, set()).add(value)
    return found


def _expanded(configuration: Mapping[str, str]) -> dict[str, str]:
    """Galera keeps dozens of settings in one text with the node's own address: each becomes a variable."""
    plain = {name.lower(): str(value) for name, value in configuration.items()}
    for option in plain.pop(PROVIDER_OPTIONS, "").split(";"):
        name, equals, value = option.partition("=")
        if equals:
            plain[f"{PROVIDER_OPTIONS}.{name.strip()}"] = value.strip()
    return plain


def _sets(field: str, label: str, values: Sequence[frozenset[str]], weight: Weight) -> list[Difference]:
    return _field(field, label, [" or ".join(sorted(each)) or NOT_KNOWN for each in values], weight)


def _field(field: str, label: str, values: Sequence[str], weight: Weight) -> list[Difference]:
    return [Difference(field, label, weight, tuple(values))] if len(set(values)) > 1 else []
