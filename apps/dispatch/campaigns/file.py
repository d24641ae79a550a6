"""Campaign files: a plan as YAML or JSON, checked against the published schema and the catalog in one pass.

The format is described in docs/howto/campaigns.md; campaign.schema.json is its machine-readable schema.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.db import transaction
from jsonschema import Draft202012Validator, ValidationError

from apps.accounts.models import User
from apps.catalog.api import services as catalog
from apps.catalog.models import LoadLevel, System, Workload
from apps.core import yaml_text
from apps.core.problems import FieldProblem, Invalid
from apps.dispatch.campaigns.plan import (
    UNTIMED,
    PlannedWorkload,
    PlanSize,
    create_campaign,
    loads_itself,
    problems_of,
    size_of,
)
from apps.dispatch.models import Campaign
from workers.protocol.workloads import WORKLOADS

SCHEMA: dict[str, Any] = json.loads((Path(__file__).parent / "campaign.schema.json").read_text())
LARGEST = 256 * 1024  # bytes
REPETITIONS = int(SCHEMA["properties"]["repetitions"]["default"])
LEAST_GAIN = float(SCHEMA["$defs"]["workload"]["properties"]["climb"]["properties"]["least_gain"]["default"])
LOADS = ("load_levels", "climb", "storm")
HELP = "docs/howto/campaigns.md has the format"
_validator = Draft202012Validator(SCHEMA)


@dataclass(frozen=True)
class Checked:
    """A file without problems."""

    name: str
    systems: Sequence[System]
    entries: Sequence[PlannedWorkload]
    repetitions: int
    sessions: int = 1
    until: str = ""

    @property
    def size(self) -> PlanSize:
        return size_of(systems=self.systems, entries=self.entries, repetitions=self.repetitions, sessions=self.sessions)


def check(content: bytes, *, instead: Mapping[str, str] | None = None, repetitions: int | None = None) -> Checked:
    """The campaign that this file would plan; nothing is stored. Arguments and errors as of `start`."""
    with transaction.atomic():
        checked = _read(content, instead=instead or {}, repetitions=repetitions)
        transaction.set_rollback(True)
    return checked


@transaction.atomic
def start(
    content: bytes, *, by: User | None, instead: Mapping[str, str] | None = None, repetitions: int | None = None
) -> Campaign:
    """Plan the file's campaign; a second call plans a second campaign.

    `instead`: replacement systems, by the slug in the file. `repetitions`: overrides the file's number.
    Raises Invalid with every problem: `field` is a path in the file, the message begins with the line number.
    """
    checked = _read(content, instead=instead or {}, repetitions=repetitions)
    return create_campaign(
        name=checked.name,
        systems=checked.systems,
        entries=checked.entries,
        repetitions=checked.repetitions,
        sessions=checked.sessions,
        created_by=by,
        until=checked.until,
    )


def _read(content: bytes, *, instead: Mapping[str, str], repetitions: int | None) -> Checked:
    if len(content) > LARGEST:
        raise Invalid([FieldProblem("", f"has {len(content):,} bytes", f"at most {LARGEST:,} are read")])
    try:
        stated, lines = yaml_text.load_with_lines(content, aliases=False)
    except yaml_text.NotYaml as error:
        where = f"line {error.line}: " if error.line else ""
        raise Invalid([FieldProblem("", f"{where}{error}", HELP)]) from error
    reader = _CampaignReader(stated, instead)
    checked = reader.read(repetitions)
    if reader.problems or checked is None:
        raise Invalid([_with_line(problem, lines) for problem in _once(reader.problems)])
    return checked


def _once(problems: Sequence[FieldProblem]) -> list[FieldProblem]:
    return list(dict.fromkeys(problems))


def _with_line(problem: FieldProblem, lines: Mapping[str, int]) -> FieldProblem:
    """Prefix the message with the line of the field, or of its nearest parent in the file."""
    path = problem.field
    while path and path not in lines:
        path = path.rpartition(".")[0]
    return replace(problem, message=f"line {lines[path]}: {problem.message}") if path else problem


class _CampaignReader:
    def __init__(self, stated: Any, instead: Mapping[str, str]) -> None:
        self.stated = stated
        self.instead = instead
        self.problems: list[FieldProblem] = []

    def read(self, repetitions: int | None) -> Checked | None:
        """None, or an incomplete plan, when there are problems."""
        self.problems += _not_storable(self.stated, "")
        if self.problems:
            return None
        for error in sorted(_validator.iter_errors(self.stated), key=lambda error: error.json_path):
            self.problems += _of_schema(error)
        if not isinstance(self.stated, dict):
            return None
        broken = {problem.field for problem in self.problems}

        def is_sound(path: str) -> bool:
            return not any(field == path or field.startswith(f"{path}.") for field in broken)

        systems = self.systems() if is_sound("systems") else {}
        entries: list[PlannedWorkload] = []
        given = self.stated.get("workloads")
        # The entries inherit these fields: if one of them is broken, no entry can be read.
        if all(is_sound(name) for name in ("load_levels", "warmup", "duration")) and isinstance(given, list):
            for place, entry in enumerate(given):
                if is_sound(f"workloads.{place}"):
                    entries += self.entry(f"workloads.{place}", entry, systems)
        if self.problems:
            return None
        checked = Checked(
            name=self.stated["name"],
            systems=list(systems.values()),
            entries=entries,
            repetitions=int(self.stated.get("repetitions", REPETITIONS)) if repetitions is None else repetitions,
            sessions=int(self.stated.get("sessions", 1)),
            until=str(self.stated.get("until", "")),
        )
        found = problems_of(
            name=checked.name,
            systems=checked.systems,
            entries=entries,
            repetitions=checked.repetitions,
            sessions=checked.sessions,
            until=checked.until,
        )
        self.problems += (replace(problem, field=problem.field.replace("entries", "workloads", 1)) for problem in found)
        return checked

    def report(self, field: str, message: str, remedy: str) -> None:
        self.problems.append(FieldProblem(field, message, remedy))

    def systems(self) -> dict[str, System]:
        """Systems by the slug in the file."""
        slugs = list(dict.fromkeys(self.stated.get("systems", ())))
        known = System.objects.filter(slug__in=[self.instead.get(slug, slug) for slug in slugs])
        by_slug = {system.slug: system for system in known}
        found = {slug: by_slug[wanted] for slug in slugs if (wanted := self.instead.get(slug, slug)) in by_slug}
        for place, slug in enumerate(self.stated.get("systems", ())):
            if slug not in found:
                stands = f" (instead of {slug!r})" if slug in self.instead else ""
                self.report(
                    f"systems.{place}",
                    f"there is no system {self.instead.get(slug, slug)!r}{stands}",
                    "start the agent that reaches it, or choose one of the Catalog page",
                )
        for slug in self.instead:
            if slug not in slugs:
                self.report("systems", f"{slug!r}, which is to be replaced, is not in the file", f"name one of {slugs}")
        return found

    def entry(self, path: str, stated: dict[str, Any], systems: Mapping[str, System]) -> Iterator[PlannedWorkload]:
        """Yields nothing when the entry has problems."""
        before = len(self.problems)
        workload = self.workload(path, stated)
        load = self.load(path, stated, needs_levels=workload is None or not loads_itself(workload))
        duration = stated.get("duration", self.stated.get("duration"))
        if workload is not None and not WORKLOADS[workload.tool].is_timed:
            duration = UNTIMED
        if duration is None:
            self.report(f"{path}.duration", "is missing", "give it here or, for all workloads, at the top")
        chosen = self.stated.get("systems")
        for place, slug in enumerate(stated.get("systems", ())):
            if isinstance(chosen, list) and slug not in chosen:
                self.report(
                    f"{path}.systems.{place}", f"{slug!r} is not among the campaign's systems", "add it at the top"
                )
        if len(self.problems) == before and load is not None and workload is not None:
            levels, ends_when_refused, least_gain = load
            yield PlannedWorkload(
                workload=workload,
                load_levels=levels,
                warmup=float(stated.get("warmup", self.stated.get("warmup", 0))),
                duration=float(duration),
                systems=[systems[slug] for slug in stated.get("systems", ()) if slug in systems],
                ends_when_refused=ends_when_refused,
                least_gain=least_gain,
            )

    def workload(self, path: str, stated: dict[str, Any]) -> Workload | None:
        if stated["tool"] not in WORKLOADS:
            self.report(
                f"{path}.tool", f"no agent runs {stated['tool']!r}", f"use one of {', '.join(sorted(WORKLOADS))}"
            )
            return None
        try:
            with transaction.atomic():
                return catalog.workload_for(
                    tool=stated["tool"], parameters=stated.get("parameters", {}), name=stated.get("name", "")
                )
        except catalog.InvalidField as error:
            self.report(f"{path}.{error.field}", error.message, "")
        return None

    def load(
        self, path: str, stated: dict[str, Any], *, needs_levels: bool
    ) -> tuple[list[LoadLevel], bool, float | None] | None:
        """Load levels, whether a refusal ends them, and the least gain; None: more than one kind of load was given."""
        given = [name for name in LOADS if name in stated]
        if len(given) > 1:
            self.report(path, f"has {' and '.join(given)}", "give one of them; another entry may have the other")
            return None
        if "climb" in stated:
            ramp = stated["climb"]
            threads = ramp_levels(ramp.get("from", 1), ramp["to"], ramp.get("factor", 2))
            if not threads:
                self.report(f"{path}.climb.to", "is below `from`", "use a larger number")
            saturation = ramp.get("stop", "saturation") == "saturation"
            if not saturation and "least_gain" in ramp:
                self.report(f"{path}.climb.least_gain", "has no effect with stop: refusal", "leave it out")
            least_gain = ramp.get("least_gain", LEAST_GAIN) if saturation else None
            return self.levels(f"{path}.climb", threads), True, least_gain
        if "storm" in stated:
            base, factors = stated["storm"]["base"], stated["storm"]["factors"]
            return self.levels(f"{path}.storm", [max(1, round(base * factor)) for factor in factors]), True, None
        listed = stated.get("load_levels") or self.stated.get("load_levels") or []
        if not listed and needs_levels:
            self.report(
                f"{path}.load_levels", "is missing", "give load_levels, climb or storm here, or load_levels at the top"
            )
        return self.levels(f"{path}.load_levels", listed), False, None

    def levels(self, path: str, listed: Sequence[float | dict[str, Any]]) -> list[LoadLevel]:
        """Load levels without duplicates."""
        found = []
        for each in listed:
            level = each if isinstance(each, dict) else {"threads": each}
            try:
                found.append(catalog.load_level_for(threads=int(level["threads"]), rate=level.get("rate")))
            except catalog.InvalidField as error:
                self.report(path, f"{error.field} {error.message}", "")
        return list(dict.fromkeys(found))


def ramp_levels(first: int, last: int, factor: float) -> list[int]:
    """first, first × factor, … up to and with `last`, each at least 1 above the previous; empty if `last` < `first`."""
    found: list[int] = []
    step = float(first)
    while step < last:
        if not found or round(step) > found[-1]:
            found.append(round(step))
        step *= factor
    return [*(count for count in found if count < last), last] if first <= last else []


# ---------------------------------------------------------------- the schema


def _of_schema(error: ValidationError) -> Iterator[FieldProblem]:
    """Problems from a schema violation; the remedy is the schema's description of the value."""
    path = ".".join(map(str, error.absolute_path))
    schema: dict[str, Any] = error.schema if isinstance(error.schema, dict) else {}
    known: dict[str, Any] = schema.get("properties", {})
    if error.validator == "required":
        for name in schema["required"]:
            if name not in error.instance:
                yield FieldProblem(f"{path}.{name}".lstrip("."), "is missing", f"give {_description(known[name])}")
    elif error.validator == "additionalProperties":
        for name in error.instance:
            if name not in known:
                remedy = f"use one of {', '.join(known)}"
                yield FieldProblem(f"{path}.{name}".lstrip("."), "is unknown", remedy)
    else:
        yield FieldProblem(path, f"is {_shown(error.instance)}", f"use {_description(schema)}")


def _description(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    return str(schema.get("description", f"what is documented: {HELP}"))


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) and value else "an empty list" if value == [] else "a mapping"
    return "nothing" if value is None else f"{value!r:.80}"


def _not_storable(value: Any, path: str) -> Iterator[FieldProblem]:
    """Values that neither JSON nor a database column can store."""
    if isinstance(value, float) and not math.isfinite(value):
        yield FieldProblem(path, f"is {value}", "use a finite number")
    elif isinstance(value, int) and abs(value) > 2**63 - 1:
        yield FieldProblem(path, "is beyond 64 bits", "use a smaller number")
    elif isinstance(value, str):
        if "\0" in value:
            yield FieldProblem(path, "contains NUL, which cannot be stored", "leave it out")
    elif isinstance(value, list | dict):
        for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(value, dict) and not isinstance(key, str):
                yield FieldProblem(path, f"has the name {key!r}, which is not a text", "put it in quotes")
            elif isinstance(key, str):
                yield from _not_storable(key, path)
            yield from _not_storable(inside, f"{path}.{key}".lstrip("."))
    elif value is not None and not isinstance(value, bool | int | float):
        yield FieldProblem(path, f"is {value!r:.60}", "use a text, a number, a list or a mapping")
