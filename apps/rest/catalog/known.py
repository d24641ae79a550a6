"""Filters of lists name what the catalog has: a typo must not look like an empty list."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Model

from apps.catalog.models import HardwareClass, Platform, Release, System, Workload
from apps.core.problems import FieldProblem, Invalid

# Parameter -> where its values are looked up, and by what; the list that has them.
KNOWN: Mapping[str, tuple[type[Model], str, str]] = {
    "platform": (Platform, "slug", "platforms/"),
    "release": (Release, "pk", "releases/"),
    "hardware": (HardwareClass, "slug", "hardware-classes/"),
    "system": (System, "slug", "systems/"),
    "workload": (Workload, "pk", "workloads/"),
}


def require_known(asked: Mapping[str, Any]) -> None:
    """One query for each parameter of KNOWN that is given, alone or as a list. Raises Invalid."""
    problems = [
        FieldProblem(
            name,
            f"there is no {model._meta.verbose_name} {value!r:.90}",
            f"choose one of /api/v1/{listed}",
        )
        for name, (model, key, listed) in KNOWN.items()
        if name in asked
        for value in _unknown(model, key, asked[name])
    ]
    if problems:
        raise Invalid(problems)


def _unknown(model: type[Model], key: str, given: Any) -> list[Any]:
    values: Iterable[Any] = given if isinstance(given, (list, tuple, set)) else [given]
    wanted = list(dict.fromkeys(values))
    known = set(model._default_manager.filter(**{f"{key}__in": wanted}).values_list(key, flat=True))
    return [value for value in wanted if value not in known]
