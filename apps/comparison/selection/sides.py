"""Sides of a comparison: systems, each under the comparison's workload or another one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.catalog.models import System, Workload
from apps.comparison.values import ComparedWorkload
from apps.core.names import with_tool
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import whole_number

FEWEST_SIDES, MOST_SIDES = 2, 4
# Parameters in the name of a side whose workload is not the comparison's.
NAMED_PARAMETERS = 3


class UnknownSide(Invalid):
    """A system or workload in the address does not exist."""


@dataclass(frozen=True)
class ChosenSide:
    """`key`: the system's slug, or slug:id of the workload if it is not the comparison's; `distinction`: of that
    workload."""

    key: str
    system: System
    workload: Workload
    distinction: str = ""

    @property
    def name(self) -> str:
        return ", ".join(filter(None, (self.system.short_name, self.distinction)))

    @property
    def title(self) -> str:
        return ", ".join(filter(None, (self.system.name, self.distinction)))


@dataclass(frozen=True)
class Chosen:
    """`workload` is the comparison's."""

    workload: Workload
    sides: tuple[ChosenSide, ...]


def chosen_sides(keys: Sequence[str], workload_id: int, *, most: int = MOST_SIDES) -> Chosen:
    """In the order of `keys`; two queries. Raises Invalid for too few, too many or equal keys, UnknownSide for missing
    systems or workloads."""
    if not FEWEST_SIDES <= len(keys) <= most:
        problem = f"a comparison has {FEWEST_SIDES} to {most} sides, this one has {len(keys)}"
        raise Invalid([FieldProblem("side", problem, "choose other sides")])
    wanted = [_parsed(key, workload_id) for key in keys]
    if len(set(wanted)) < len(wanted):
        problem = "each side may be chosen once"
        raise Invalid([FieldProblem("side", problem, "choose other sides, or another workload for one of them")])
    systems = {
        system.slug: system
        for system in System.objects.select_related("release__platform", "hardware_class").filter(
            slug__in=[slug for slug, _ in wanted]
        )
    }
    workloads = Workload.objects.select_related("primary_metric").in_bulk({workload_id, *(own for _, own in wanted)})
    missing = [no_system(slug) for slug, _ in wanted if slug not in systems]
    if workload_id not in workloads:
        missing.append(FieldProblem("workload", f"there is no workload {workload_id}", "choose one from the list"))
    missing += [
        FieldProblem("side", f"there is no workload {own}, which side {key!r} names", "choose one from the list")
        for key, (_, own) in zip(keys, wanted, strict=True)
        if own not in workloads and own != workload_id
    ]
    if missing:
        raise UnknownSide(missing)
    base = workloads[workload_id]
    return Chosen(base, tuple(_chosen(systems[slug], workloads[own], base) for slug, own in wanted))


def check_systems(slugs: Sequence[str]) -> None:
    """Raises UnknownSide with those that do not exist."""
    known = set(System.objects.filter(slug__in=slugs).values_list("slug", flat=True))
    if missing := [no_system(slug) for slug in slugs if slug not in known]:
        raise UnknownSide(missing)


def no_system(slug: str) -> FieldProblem:
    return FieldProblem("side", f"there is no system {slug[:100]!r}", "choose one of the catalog's systems")


def compared_workload(workload: Workload) -> ComparedWorkload:
    return ComparedWorkload(workload.pk, workload.tool, workload.name, workload.parameters)


def system_slug(key: str) -> str:
    """The system's slug in a side's key."""
    return key.partition(":")[0]


def _parsed(key: str, workload_id: int) -> tuple[str, int]:
    """Raises Invalid for a workload that is not a number."""
    slug, colon, own = key.partition(":")
    if not colon:
        return slug, workload_id
    if whole_number(own) is None:
        problem = f"{key[:100]!r} names no workload after the colon"
        raise Invalid([FieldProblem("side", problem, "use the slug of a system, or slug:id of a workload")])
    return slug, int(own)


def _chosen(system: System, workload: Workload, base: Workload) -> ChosenSide:
    if workload.pk == base.pk:
        return ChosenSide(system.slug, system, workload)
    return ChosenSide(f"{system.slug}:{workload.pk}", system, workload, _distinction(workload, base))


def _distinction(workload: Workload, base: Workload) -> str:
    """What distinguishes this workload from the other, in a few words."""
    if (workload.tool, workload.name) != (base.tool, base.name):
        return with_tool(workload.tool, workload.name) if workload.tool != base.tool else workload.name
    own = _different(workload.parameters, base.parameters)
    named = [f"{name} {value}" for name, value in own.items()][:NAMED_PARAMETERS]
    return ", ".join(named) + (" …" if len(own) > NAMED_PARAMETERS else "")


def _different(parameters: Mapping[str, object], others: Mapping[str, object]) -> dict[str, object]:
    return {
        name: parameters.get(name, "not set")
        for name in sorted({*parameters, *others})
        if parameters.get(name) != others.get(name)
    }
