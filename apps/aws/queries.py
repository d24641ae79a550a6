"""Systems at AWS as small frozen values, for pages and agents."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from apps.aws.models import Observation
from apps.catalog.models import System


@dataclass(frozen=True)
class InstanceValue:
    name: str
    role: str
    zone: str
    hardware_class: str
    status: str
    usd_per_hour: Decimal | None


@dataclass(frozen=True)
class SystemAtAws:
    """`seen_at` None: not yet described by AWS. `usd_per_hour`: on-demand price of all instances; None: one is unknown.

    `differences`: between the catalog and AWS's description.
    """

    slug: str
    name: str
    region: str
    kind: str
    identifier: str
    seen_at: datetime | None
    problem: str
    engine: str
    engine_version: str
    status: str
    storage: str
    instances: tuple[InstanceValue, ...]
    usd_per_hour: Decimal | None
    price_sources: tuple[str, ...]
    differences: tuple[str, ...]

    @property
    def price(self) -> str:
        """USD/h in plain digits; empty: unknown."""
        return "" if self.usd_per_hour is None else f"{self.usd_per_hour.normalize():f}"


def list_systems() -> list[SystemAtAws]:
    """By name. Three queries."""
    systems = System.objects.filter(archived_at=None).exclude(aws_region="")
    systems = systems.select_related("observation", "hardware_class", "release").prefetch_related("nodes")
    return [_value(system) for system in systems]


def warnings_for(slugs: Iterable[str]) -> list[str]:
    """Warnings about these systems for an agent's log. Two queries, one if none is at AWS."""
    observations = Observation.objects.filter(system__slug__in=list(slugs)).order_by("system__slug")
    observations = observations.select_related("system__hardware_class", "system__release").prefetch_related(
        "system__nodes"
    )
    found: list[str] = []
    for seen in observations:
        found += [f"system {seen.system.slug}: {seen.problem}"] if seen.problem else []
        found += differences(seen.system, seen) if seen.seen_at else []
    return found


def differences(system: System, seen: Observation) -> list[str]:
    """Sentences: differences between the catalog and AWS's description. The current writer is not compared."""
    changed: list[tuple[str, str, str]] = []
    writer = next((each for each in seen.instances if each["role"] == "writer"), None)
    ours = system.hardware_class
    if writer and writer["hardware_class"] not in (ours.slug, ours.instance_type):
        changed.append(("hardware class", ours.slug, writer["hardware_class"]))
    own_nodes = [node for node in system.nodes.all() if node.role in ("writer", "reader")]
    if len(own_nodes) != len(seen.instances):
        changed.append(("instances", str(len(own_nodes)), str(len(seen.instances))))
    version = system.release.version
    # Agents report "8.0.32 Aurora 3.05.2", RDS "8.0.mysql_aurora.3.05.2"; for other engines both are equal.
    own = seen.engine_version.rpartition("aurora.")[2]
    if not (version.endswith(f" Aurora {own}") if seen.engine.startswith("aurora") else version.startswith(own)):
        changed.append(("version", version, seen.engine_version))
    return [
        f"system {system.slug}: the catalog keeps {what} {before}; AWS reports {after}. "
        "Describe the current system under a slug of its own"
        for what, before, after in changed
    ]


def _value(system: System) -> SystemAtAws:
    seen: Observation = getattr(system, "observation", None) or Observation(system=system)
    priced = {name: entry for name, entry in system.aws_prices.items() if entry["usd_per_hour"] is not None}
    instances = tuple(
        InstanceValue(
            **each,
            usd_per_hour=Decimal(priced[each["hardware_class"]]["usd_per_hour"])
            if each["hardware_class"] in priced
            else None,
        )
        for each in seen.instances
    )
    return SystemAtAws(
        slug=system.slug,
        name=system.name,
        region=system.aws_region,
        kind=system.get_aws_kind_display(),
        identifier=system.aws_identifier,
        seen_at=seen.seen_at,
        problem=seen.problem,
        engine=seen.engine,
        engine_version=seen.engine_version,
        status=seen.status,
        storage=seen.storage,
        instances=instances,
        usd_per_hour=_sum(instances),
        price_sources=tuple(sorted({entry["source"] for entry in priced.values()})),
        differences=tuple(differences(system, seen)) if seen.seen_at else (),
    )


def _sum(instances: Sequence[InstanceValue]) -> Decimal | None:
    known = [each.usd_per_hour for each in instances if each.usd_per_hour is not None]
    return sum(known, Decimal(0)) if instances and len(known) == len(instances) else None
