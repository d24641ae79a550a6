"""Writes of the catalog: look up or create the rows that a run, an agent or a file names."""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Q

from apps.catalog import seed_data
from apps.catalog.metrics import counter_rules, derived_metrics, standard
from apps.catalog.metrics.counter_rules import LONGEST_KEY
from apps.catalog.models import HardwareClass, LoadLevel, Metric, Node, Platform, Release, System, Workload
from apps.catalog.systems import labels_of, new_short_name
from apps.core import limits
from apps.core.audit.api import Action, record
from apps.core.canonical import canonical_hash
from workers.protocol.wire import AwsMessage, HardwareMessage, NodeMessage, SystemMessage
from workers.protocol.workloads import WORKLOADS, declaration, sysbench
from workers.protocol.workloads.declaration import WorkloadSpec, check, title_of
from workers.protocol.workloads.foreign import FOREIGN

# sysbench options set by load level, run plan or agent, and options that could hold a secret or reach another server.
RESERVED_OPTIONS = re.compile(
    r"threads|rate|time|events|warmup_time|percentile|histogram|report_.*|mysql_.*|pgsql_.*|db_driver|db_ps_mode"
    r"|forced_shutdown|thread_.*|verbosity|debug|luajit_cmd|config.*|validate|help|version"
)
MAX_THREADS = 100_000
MAX_ROWS = 10_000_000_000
SLUG = re.compile(r"[a-z0-9][a-z0-9_.-]*\Z", re.IGNORECASE)
REGION = re.compile(r"[a-z]{2,20}(-[a-z]{1,20}){1,3}-[0-9]{1,2}")
AWS_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,62}")
INSTANCE_CLASS = re.compile(r"db\.[a-z0-9-]{1,30}(\.[a-z0-9-]{1,30})?")
KEY = re.compile(r"[A-Za-z0-9][^\s\x00-\x1f]*\Z")


class InvalidField(ValueError):
    """`field`: the invalid field; `message`: the rule it breaks."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class Registration(NamedTuple):
    """`differences`: contradictions between message and catalog; `notes`: additions, for information."""

    system: System
    differences: list[str]
    notes: list[str]


def metrics_for(keys: Iterable[str], *, most_new: int = limits.NEW_METRICS) -> dict[str, Metric]:
    """Rows of `keys`, created where missing. At most three queries; concurrent callers get the same rows.

    Raises InvalidField for a key that is empty, has blanks or over 160 characters, and beyond `most_new` new ones.
    """
    wanted = sorted(set(keys))
    found = {metric.key: metric for metric in Metric.objects.filter(key__in=wanted)}
    missing = [key for key in wanted if key not in found]
    if missing:
        _make_metrics(missing, None, most_new)
        found |= {metric.key: metric for metric in Metric.objects.filter(key__in=missing)}
    return {key: found[key] for key in wanted}


def name_metrics(keys: Iterable[str], kinds: Mapping[str, str] | None = None) -> None:
    """Creates missing metrics like `metrics_for`, without loading rows: a run has hundreds that never change. `kinds`:
    of metrics whose keys do not say it."""
    wanted = set(keys)
    with connection.cursor() as cursor:
        cursor.execute("SELECT key FROM catalog_metric WHERE key = ANY(%s)", [list(wanted)])
        missing = wanted.difference(key for (key,) in cursor.fetchall())
    if missing:
        _make_metrics(missing, kinds, limits.NEW_METRICS)


def _make_metrics(keys: Collection[str], kinds: Mapping[str, str] | None, most: int) -> None:
    _require(len(keys) <= most, "metrics", f"{len(keys):,} are new; at most {most:,} may be")
    # Sorted, so that concurrent inserts cannot deadlock; a conflict means that the other one was first.
    Metric.objects.bulk_create([_new_metric(key, kinds or {}) for key in sorted(keys)], ignore_conflicts=True)


def version_key(version: str) -> list[int]:
    """The numbers in `version`, in order: [10, 11, 19] for "10.11.19-MariaDB"."""
    return [min(int(digits), 2**63 - 1) for digits in re.findall(r"[0-9]+", version)]


def release_for(*, platform: Platform, version: str) -> Release:
    """The release, created where missing. Raises InvalidField for a version that is empty or over 80 characters."""
    version = version.strip()
    _require(0 < len(version) <= 80, "version", "must have 1 to 80 characters, as printed by the server's version()")
    release, _ = Release.objects.get_or_create(
        platform=platform, version=version, defaults={"version_key": version_key(version)}
    )
    return release


def load_level_for(*, threads: int, rate: float | None = None) -> LoadLevel:
    """`rate` in 1/s; None: unlimited (closed loop). Raises InvalidField."""
    _require(_is_whole(threads) and 1 <= threads <= MAX_THREADS, "threads", f"must be whole, 1 to {MAX_THREADS:,}")
    if rate is not None:
        number = isinstance(rate, int | float) and not isinstance(rate, bool)
        _require(number and math.isfinite(rate) and rate > 0, "rate", "must be a number above 0 (1/s), or left out")
    return LoadLevel.objects.get_or_create(threads=threads, rate=rate)[0]


def workload_for(*, tool: str, parameters: Mapping[str, Any], name: str = "", primary: str = "") -> Workload:
    """The workload of these parameters; an existing one keeps its name and primary metric. `primary`: that of a new
    one; empty: the tool's. Raises InvalidField."""
    spec, checked, content_hash = _content(tool, parameters)
    _require(len(name) <= 120, "name", "must have at most 120 characters")
    title = _workload_name(checked) if spec is sysbench.SPEC else title_of(spec, checked)
    workload, _ = Workload.objects.get_or_create(
        content_hash=content_hash,
        defaults={
            "tool": tool,
            "name": name or title[:120],
            "parameters": checked,
            "primary_metric": metrics_for([primary or spec.primary_metric])[primary or spec.primary_metric],
        },
    )
    return workload


@transaction.atomic
def register_system(*, message: SystemMessage, hardware: Sequence[HardwareMessage]) -> Registration:
    """The catalog's system, created with its platform, release, hardware and nodes where missing, and differences.

    Raises InvalidField, for example for a hardware class that neither the catalog nor `hardware` describes.
    """
    _require(bool(SLUG.match(message.slug)) and len(message.slug) <= 80, "slug", "must be letters, digits, - _ .")
    _require(0 < len(message.name) <= 120, "name", "must have 1 to 120 characters")
    _require(len(message.endpoint) <= 200, "endpoint", "must have at most 200 characters")
    _require("@" not in message.endpoint, "endpoint", "must be host and port; user and password stay with the agent")
    described = {entry.slug: entry for entry in hardware}
    place = _aws_place(message.aws) if message.aws else {}
    platform, is_new = _platform(message.platform)
    notes = [_new_platform_note(message)] if is_new else []
    if message.aws:
        _add_instance_classes(message, described)
    hardware_class = _hardware_class(message.hardware_class, described)
    nodes = message.nodes or [NodeMessage(name="db1")]
    classes = {node.name: _hardware_class(node.hardware_class or message.hardware_class, described) for node in nodes}
    release = release_for(platform=platform, version=message.version)
    fields: dict[str, Any] = {
        "name": message.name,
        "release": release,
        "hardware_class": hardware_class,
        "endpoint": message.endpoint,
        "settings": message.settings,
        "settings_hash": canonical_hash(message.settings),
        "labels": labels_of(message.slug),
        **place,
    }
    # Called only if the system is new.
    fields["short_name"] = partial(new_short_name, System(slug=message.slug, **fields), [node.role for node in nodes])
    system, created = System.objects.get_or_create(slug=message.slug, defaults=fields)
    if created:
        for node in nodes:
            _require(node.role in Node.Role.values, f"nodes[{node.name}].role", f"must be one of {Node.Role.values}")
            Node.objects.create(
                system=system, name=node.name, role=node.role, zone=node.zone, hardware_class=classes[node.name]
            )
        record(Action.SYSTEM_REGISTER, f"system {system.slug}", after=f"{release} on {hardware_class.slug}")
        return Registration(system, [], notes)
    if place and not system.aws_region:
        # The location does not affect results that exist already.
        System.objects.filter(pk=system.pk).update(**place)
        notes.append(f"system {system.slug} is {place['aws_identifier']} in {place['aws_region']} from now on")
        for name, value in place.items():
            setattr(system, name, value)
    differences = _differences(
        system=system, message=message, release=release, hardware_class=hardware_class, nodes=nodes, classes=classes
    )
    used = {hardware_class.slug: hardware_class, **{found.slug: found for found in classes.values()}}
    for entry in hardware:
        if entry.slug in used:
            differences += _hardware_differences(used[entry.slug], entry)
    return Registration(system, differences, notes)


@transaction.atomic
def seed() -> None:
    """Loads platforms, hardware classes, metrics, default workloads. A rerun updates curated rows, deletes nothing."""
    Platform.objects.bulk_create(
        [Platform(**fields) for fields in seed_data.PLATFORMS],
        update_conflicts=True,
        unique_fields=["slug"],
        update_fields=["name", "replication", "description", "color"],
    )
    HardwareClass.objects.bulk_create(
        [HardwareClass(**fields) for fields in seed_data.HARDWARE_CLASSES],
        update_conflicts=True,
        unique_fields=["slug"],
        update_fields=seed_data.HARDWARE_FIELDS,
    )
    members = Metric.objects.filter(key__startswith=derived_metrics.PREFIX).values_list("key", flat=True)
    specs = (
        standard.CURATED
        | derived_metrics.DERIVED
        | {key: spec for key in members if (spec := derived_metrics.find(key))}
    )
    Metric.objects.bulk_create(
        [metric_row(spec, curated=True) for spec in specs.values()],
        update_conflicts=True,
        unique_fields=["key"],
        update_fields=["name", "unit", "kind", "direction", "resource", "aspect", "description", "curated"],
    )
    known = set(Workload.objects.values_list("content_hash", flat=True))
    for workload in WORKLOADS.values():
        for parameters in workload.seeds:
            if _content(workload.tool, parameters)[2] not in known:
                workload_for(tool=workload.tool, parameters=parameters)


# ---------------------------------------------------------------- helpers


def _require(holds: bool, field: str, message: str) -> None:
    if not holds:
        raise InvalidField(field, message)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _new_metric(key: str, kinds: Mapping[str, str]) -> Metric:
    is_key = bool(KEY.match(key)) and len(key) <= LONGEST_KEY
    _require(is_key, "metric", f"{key[:80]!r} must have 1 to {LONGEST_KEY} characters, no blank")
    spec, curated = derived_metrics.describe(key)
    return metric_row(replace(spec, kind=kinds.get(key, spec.kind)), curated=curated)


def metric_row(spec: counter_rules.MetricSpec, *, curated: bool) -> Metric:
    return Metric(
        key=spec.key,
        name=spec.name[:LONGEST_KEY],
        unit=spec.unit,
        kind=spec.kind,
        direction=spec.direction,
        resource=spec.resource,
        aspect=spec.aspect,
        description=spec.description,
        curated=curated,
    )


def _content(tool: str, parameters: Mapping[str, Any]) -> tuple[WorkloadSpec, dict[str, Any], str]:
    """The tool's declaration, its parameters in canonical spelling, and their hash. Raises InvalidField."""
    known = {**FOREIGN, **WORKLOADS}
    spec = known.get(tool)
    if spec is None:
        raise InvalidField("tool", f"{tool!r} is not known: use one of {', '.join(sorted(known))}")
    checked = _sysbench_parameters(parameters) if spec is sysbench.SPEC else _checked(spec, parameters)
    return spec, checked, canonical_hash({"tool": tool, "parameters": checked})


def _checked(spec: WorkloadSpec, parameters: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return check(spec, parameters)
    except declaration.InvalidParameters as error:
        raise InvalidField(f"parameters.{error.field}", error.message) from error


def _sysbench_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Options in canonical spelling, so that equal workloads have equal hashes."""
    checked: dict[str, Any] = {}
    for key, value in parameters.items():
        option = str(key).replace("-", "_")
        field = f"parameters.{key}"
        _require(option not in checked, field, "is given twice")
        _require(bool(re.fullmatch(r"[a-z][a-z0-9_]{0,59}", option)), field, "must be an option's name: a-z, 0-9, _")
        reserved = "belongs to the load level, the run plan or the agent: leave it out"
        _require(not RESERVED_OPTIONS.fullmatch(option), field, reserved)
        _require(isinstance(value, str | int | float | bool), field, "must be a text, a number, or true or false")
        if isinstance(value, bool):
            checked[option] = "on" if value else "off"
            continue
        if isinstance(value, str):
            _require(bool(re.fullmatch(r"[\w.,:+-]{1,60}", value)), field, "must be 1 to 60 letters, digits or .,:+-_")
        elif isinstance(value, float):
            _require(math.isfinite(value), field, "must be finite")
        checked[option] = value
    _require(checked.get("test") in sysbench.TESTS, "parameters.test", f"must be one of {', '.join(sysbench.TESTS)}")
    for option, most in (("tables", 10_000), ("table_size", MAX_ROWS)):
        number = checked.get(option, 0)
        _require(_is_whole(number) and 1 <= number <= most, f"parameters.{option}", f"must be whole, 1 to {most:,}")
    return checked


def _workload_name(parameters: Mapping[str, Any]) -> str:
    extra = [
        f"{key}={value}" for key, value in sorted(parameters.items()) if key not in {"test", "tables", "table_size"}
    ]
    size = f"{parameters['tables']} \N{MULTIPLICATION SIGN} {parameters['table_size']:,} rows"
    return ", ".join([f"{parameters['test']} {size}", *extra])[:120]


def _new_platform_note(message: SystemMessage) -> str:
    remedy = "if it is misspelt, manage.py delete_systems takes it back"
    return f"platform {message.platform!r} was not in the catalog and was added without a description; {remedy}"


def _platform(slug: str) -> tuple[Platform, bool]:
    """The platform, and whether it was created. Matches slug or name case-insensitively: "PXC" is pxc."""
    _require(bool(SLUG.match(slug)) and len(slug) <= 40, "platform", "must be a platform's slug, for example mariadb")
    known = Platform.objects.filter(Q(slug=slug.lower()) | Q(name__iexact=slug)).first()
    return (known, False) if known else Platform.objects.get_or_create(slug=slug.lower(), defaults={"name": slug})


def _hardware_class(slug: str, described: Mapping[str, HardwareMessage]) -> HardwareClass:
    _require(bool(SLUG.match(slug)) and len(slug) <= 80, "hardware_class", "must be a hardware class's slug")
    entry = described.get(slug)
    if entry is None:
        known = HardwareClass.objects.filter(slug=slug).first()
        if known is None:
            raise InvalidField(
                "hardware_class", f"{slug!r} is not in the catalog: describe it under hardware in the same message"
            )
        return known
    _require(entry.vcpu > 0, f"hardware[{slug}].vcpu", "must be above 0")
    _require(entry.memory_bytes > 0, f"hardware[{slug}].memory_bytes", "must be above 0")
    return HardwareClass.objects.get_or_create(
        slug=slug,
        defaults={
            "name": entry.name[:120] or slug,
            "vcpu": entry.vcpu,
            "memory_bytes": entry.memory_bytes,
            "storage": entry.storage[:120],
        },
    )[0]


def _differences(
    *,
    system: System,
    message: SystemMessage,
    release: Release,
    hardware_class: HardwareClass,
    nodes: Sequence[NodeMessage],
    classes: Mapping[str, HardwareClass],
) -> list[str]:
    ours: list[tuple[str, Any, Any]] = [
        ("name", system.name, message.name),
        ("release", str(system.release), str(release)),
        ("hardware class", system.hardware_class.slug, hardware_class.slug),
        ("endpoint", system.endpoint, message.endpoint),
        ("settings", system.settings, message.settings),
    ]
    if message.aws:
        place = _aws_place(message.aws)
        ours.append(("AWS place", {name: getattr(system, name) for name in place}, place))
    known = {
        node.name: (node.role, node.zone, node.hardware_class.slug)
        for node in system.nodes.select_related("hardware_class")
    }
    found = {node.name: (node.role, node.zone, classes[node.name].slug) for node in nodes}
    ours.append(("nodes", known, found))
    return [
        f"system {system.slug}: the catalog keeps {field} {before!r}; this message has {after!r}. "
        "Give the changed system a slug of its own"
        for field, before, after in ours
        if before != after
    ]


def _aws_place(message: AwsMessage) -> dict[str, str]:
    """Fields of a System. Raises InvalidField."""
    _require(bool(REGION.fullmatch(message.region)), "aws.region", "must be a region's code, for example eu-west-1")
    kind = System.AwsKind.CLUSTER if message.cluster else System.AwsKind.INSTANCE
    identifier = message.cluster or message.instance
    whole = not (message.cluster and message.instance) and bool(AWS_IDENTIFIER.fullmatch(identifier))
    _require(whole, "aws.cluster", "or aws.instance must be an identifier as AWS shows it, one of the two")
    # AWS stores identifiers in lower case.
    return {"aws_region": message.region, "aws_kind": kind.value, "aws_identifier": identifier.lower()}


def _add_instance_classes(message: SystemMessage, described: Mapping[str, HardwareMessage]) -> None:
    """Adds AWS instance classes without a description: their specification and price are fetched from AWS."""
    for slug in {message.hardware_class, *(node.hardware_class for node in message.nodes)} - described.keys():
        if INSTANCE_CLASS.fullmatch(slug):
            HardwareClass.objects.get_or_create(
                slug=slug, defaults={"name": slug, "provider": "Amazon RDS", "instance_type": slug}
            )


def _hardware_differences(known: HardwareClass, entry: HardwareMessage) -> list[str]:
    pairs = [("vcpu", known.vcpu, entry.vcpu), ("memory_bytes", known.memory_bytes, entry.memory_bytes)]
    return [
        f"hardware class {entry.slug}: the catalog keeps {field} {before}; this message has {after}"
        for field, before, after in pairs
        if before is not None and before != after
    ]
