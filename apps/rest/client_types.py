"""The answers of the API as dataclasses of the Python client, written from the OpenAPI schema."""

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

JsonSchema = Mapping[str, Any]

# Module of client/splashboard/answers -> operations whose answers it has. What two modules need is in the first.
MODULES: dict[str, tuple[str, ...]] = {
    "catalog": ("list_platforms", "list_releases", "list_hardware_classes", "list_systems", "list_workloads"),
    "runs": ("list_metrics", "list_runs", "read_run", "list_series", "read_series_of_runs", "submit_run"),
    "attached": ("attach_series", "attach_file"),
    "comparisons": ("compare",),
    "regressions": ("check_release", "list_checked_releases", "list_histories", "read_history"),
    "campaigns": ("list_campaigns", "read_campaign", "start_campaign_file"),
    "findings": ("list_findings", "read_finding"),
}
HEAD = '"""Generated from the OpenAPI schema: `make types`."""\n'
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
BY_FORMAT = {"date-time": "datetime", "date": "date"}
NEEDS = {  # name -> where it is from, in the order of imports
    "dataclass": "dataclasses",
    "date": "datetime",
    "datetime": "datetime",
    "Any": "typing",
    "Literal": "typing",
    "Optional": "typing",
    "Union": "typing",
}
WIDTH = 120
SHORTEST_BASE = 8  # fields: fewer are equal by chance


def modules(schema: JsonSchema) -> dict[str, str]:
    """Name of the module -> its text."""
    components: JsonSchema = schema["components"]["schemas"]
    operations = {one["operationId"]: one for path in schema["paths"].values() for one in path.values()}
    places: dict[str, str] = {}
    texts = {}
    for module, names in MODULES.items():
        answers = [answer for name in names for answer in _answers(operations[name])]
        own = list(dict.fromkeys(_needed(answers, components, places)))
        places |= dict.fromkeys(own, module)
        texts[module] = _module(own, components, places, module)
    return texts


def _answers(operation: JsonSchema) -> list[JsonSchema]:
    """The schemas of its JSON when it succeeds."""
    successes = [response for status, response in operation["responses"].items() if status.startswith("2")]
    return [response["content"]["application/json"]["schema"] for response in successes if "content" in response]


def _needed(of: Any, components: JsonSchema, places: Mapping[str, str]) -> Iterator[str]:
    """The components of `of` that have no place yet, each after those that it needs."""
    for name in _references(of):
        if name not in places:
            for part in _parts(components[name]).values():
                yield from _needed(part, components, places)
            yield name


def _parts(component: JsonSchema) -> dict[str, JsonSchema]:
    """Fields; what is no object has one without a name."""
    fields: JsonSchema | None = component.get("properties")
    if fields is None:
        return {"": component}
    required = component.get("required", ())
    # A part that is there on demand only is left as JSON: there are more of these than of all others.
    return {name: each if name in required or not _is_part(each) else {} for name, each in fields.items()}


def _is_part(of: JsonSchema) -> bool:
    return any(not name.endswith("Enum") for name in _references(of))


def _references(of: Any) -> Iterator[str]:
    if isinstance(of, Mapping):
        if "$ref" in of:
            yield of["$ref"].rpartition("/")[2]
        for each in of.values():
            yield from _references(each)
    elif isinstance(of, list):
        for each in of:
            yield from _references(each)


@dataclass
class _Writer:
    components: JsonSchema
    places: Mapping[str, str]
    used: set[str] = field(default_factory=set)

    def hint(self, of: JsonSchema) -> str:
        if "$ref" in of:
            return self._use(of["$ref"].rpartition("/")[2])
        if "enum" in of:
            return f"{self._use('Literal')}[{', '.join(_quoted(each) for each in of['enum'])}]"
        for key in ("allOf", "oneOf", "anyOf"):
            if key in of:
                return self._union([self.hint(each) for each in of[key]])
        kinds = of.get("type", ())
        if isinstance(kinds, list):
            return self._union([self.hint({**of, "type": kind}) for kind in kinds])
        return self._single(kinds, of)

    def _single(self, kind: str, of: JsonSchema) -> str:
        if kind == "array" and "prefixItems" in of:
            return f"tuple[{', '.join(map(self.hint, of['prefixItems']))}]"
        if kind == "array":
            return f"list[{self.hint(of['items'])}]"
        if kind == "object":
            return f"dict[str, {self.hint(of.get('additionalProperties') or {})}]"
        if not kind:
            return self._use("Any")
        return self._use(BY_FORMAT.get(of.get("format", ""), SCALARS[kind]) if kind == "string" else SCALARS[kind])

    def _union(self, hints: list[str]) -> str:
        several = [each for each in dict.fromkeys(hints) if each != "None"]
        inner = several[0] if len(several) == 1 else f"{self._use('Union')}[{', '.join(several)}]"
        return f"{self._use('Optional')}[{inner}]" if "None" in hints else inner

    def _use(self, name: str) -> str:
        self.used.add(name)
        return name

    def _base(self, of: JsonSchema) -> str:
        """The component that the schema repeats whole, such as an entry of a list in its details; empty: none."""
        for name in self.places:
            fields = self.components[name].get("properties", {})
            whole = len(fields) == len(self.components[name].get("required", ()))
            if (
                whole
                and SHORTEST_BASE <= len(fields) < len(of["properties"])
                and fields.items() <= of["properties"].items()
            ):
                return name
        return ""

    def component(self, name: str, of: JsonSchema) -> str:
        if "properties" not in of:
            return _alias(name, self.hint({key: each for key, each in of.items() if key != "description"}))
        self._use("dataclass")
        base = self._base(of)
        head = f"class {name}({self._use(base)}):" if base else f"class {name}:"
        lines = ["@dataclass(frozen=True)", head, *_docstring(of.get("description", ""))]
        inherited, required = self.components[base]["properties"] if base else (), of.get("required", ())
        own = {key: each for key, each in _parts(of).items() if key not in inherited}
        for key, each in sorted(own.items(), key=lambda item: item[0] not in required):
            hint = self.hint(each)
            if key not in required:
                hint = hint if hint == "Any" or hint.startswith("Optional[") else f"{self._use('Optional')}[{hint}]"
                hint += " = None"
            lines += _described(f"    {key}: {hint}", of["properties"][key].get("description", ""))
        return "\n".join(lines)


def _module(names: list[str], components: JsonSchema, places: Mapping[str, str], module: str) -> str:
    writer = _Writer(components, places)
    texts = [writer.component(name, components[name]) for name in names]
    origins: dict[str, list[str]] = {}
    for name in sorted(writer.used, key=lambda each: (each.islower(), each)):
        place = NEEDS.get(name) or (f"splashboard.answers.{places[name]}" if name in places else None)
        if place and place != f"splashboard.answers.{module}":
            origins.setdefault(place, []).append(name)
    library = sorted(place for place in origins if not place.startswith("splashboard"))
    ours = sorted(set(origins) - set(library))
    imports = "\n\n".join(
        "\n".join(f"from {place} import {', '.join(origins[place])}" for place in group)
        for group in (library, ours)
        if group
    )
    body = ""
    for before, text in zip(["", *texts], texts, strict=False):
        # Two lines between classes, none between aliases.
        both = not text.startswith("@") and bool(before) and not before.startswith("@")
        body += ("\n" if both else "\n\n\n" if before or text.startswith("@") else "\n\n") + text
    return f"{HEAD}\n{imports}{body}\n"


def _alias(name: str, hint: str) -> str:
    line = f"{name} = {hint}"
    if len(line) <= WIDTH:
        return line
    return line.replace("[", "[\n    ", 1).replace(", ", ",\n    ").removesuffix("]") + ",\n]"


def _docstring(text: str) -> list[str]:
    first = _first(text)
    return (
        [*textwrap.wrap(f'"""{first}"""', WIDTH - 4, initial_indent="    ", subsequent_indent="    "), ""]
        if first
        else []
    )


def _described(line: str, text: str) -> list[str]:
    """The line with its description behind it, or above where there is no room."""
    first = _first(text)
    if not first:
        return [line]
    if len(line) + len(first) + 4 <= WIDTH:
        return [f"{line}  # {first}"]
    return [*textwrap.wrap(first, WIDTH - 6, initial_indent="    # ", subsequent_indent="    # "), line]


def _first(text: str) -> str:
    """The first paragraph that lists no values."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return "" if paragraph.startswith("* ") else re.sub(r"\bnull\b", "None", paragraph)


def _quoted(value: object) -> str:
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
