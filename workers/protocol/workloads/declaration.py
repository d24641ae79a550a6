"""Declaration of a workload: its parameters and metrics. Agent and server share one check.

A workload in the catalog is a tool with all its parameters, defaults included, so that equal work has equal hashes and
changing a default later makes a different workload.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

REQUIRED: Final = object()
NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
TEXT = re.compile(r"[\w.,:+-]{1,60}")
LONGEST_NAME = 120  # characters


class InvalidParameters(ValueError):
    """`field`: the invalid parameter, or `tool`; `message`: what it must be."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field} {message}")
        self.field = field
        self.message = message


@dataclass(frozen=True)
class Parameter:
    """One parameter. `kind`: whole, number, switch (true or false), choice or text; `low` and `high` are inclusive.

    `description`: effect and unit.
    """

    name: str
    kind: str
    description: str
    default: Any = REQUIRED
    low: float = 0
    high: float = 2**31 - 1
    choices: tuple[str | int, ...] = ()

    def allowed(self) -> str:
        """The allowed values in words."""
        if self.kind == "choice":
            return f"one of {', '.join(map(str, self.choices))}"
        if self.kind == "switch":
            return "true or false"
        if self.kind == "text":
            return "1 to 60 letters, digits or .,:+-_"
        return f"a {'whole ' if self.kind == 'whole' else ''}number from {_plainly(self.low)} to {_plainly(self.high)}"

    def usual(self) -> str:
        """The default in words."""
        if self.default is REQUIRED:
            return "must be given"
        return str(self.default).lower() if self.kind == "switch" else f"{self.default}"

    def read(self, value: Any) -> Any:
        """`value` in its canonical form. Raises InvalidParameters."""
        found = _READERS[self.kind](self, value)
        if found is None:
            raise InvalidParameters(self.name, f"is {value!r:.80}; it must be {self.allowed()}")
        return found


def _plainly(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:g}"


def _read_number(parameter: Parameter, value: Any) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    whole = value == int(value)
    if not parameter.low <= value <= parameter.high or (parameter.kind == "whole" and not whole):
        return None
    return int(value) if whole else value


def _read_switch(_: Parameter, value: Any) -> bool | None:
    """Also accepts the spellings of YAML and command lines."""
    return (
        {"on": True, "off": False}.get(value) if isinstance(value, str) else value if value in (True, False) else None
    )


def _read_choice(parameter: Parameter, value: Any) -> str | int | None:
    return next((choice for choice in parameter.choices if type(choice) is type(value) and choice == value), None)


def _read_text(_: Parameter, value: Any) -> str | None:
    return value if isinstance(value, str) and TEXT.fullmatch(value) else None


_READERS = {
    "whole": _read_number,
    "number": _read_number,
    "switch": _read_switch,
    "choice": _read_choice,
    "text": _read_text,
}


@dataclass(frozen=True)
class WorkloadSpec:
    """`metrics`: the headline values of a complete run. `load`: the meaning of load levels: "threads", or "none" for a
    workload with its own load. `is_timed` False: a run lasts as long as its work. `seeds`: parameters of the workloads
    in every new installation. `needs_database`: False for workloads on the machine alone. `free`: accepts undeclared
    parameters, as plain texts and numbers: for submitted results of other tools. `unsteady`: why its throughput is not
    meant to be steady; empty: it is. `faults`: failing operations are its subject. `data_set`: the parameters that
    define the data; the others define the work. `named_by`: parameters whose values are in every name. `former_title`:
    of earlier releases.
    """

    tool: str
    title: str
    description: str
    parameters: tuple[Parameter, ...] = ()
    metrics: tuple[str, ...] = ("client.throughput",)
    primary_metric: str = "client.throughput"
    seeds: tuple[Mapping[str, Any], ...] = ({},)
    load: str = "threads"
    is_timed: bool = True
    needs_database: bool = True
    free: bool = False
    data_set: tuple[str, ...] = ()
    unsteady: str = ""
    faults: bool = False
    named_by: tuple[str, ...] = ()
    former_title: str = ""

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


def check(spec: WorkloadSpec, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters in canonical form, with defaults. Raises InvalidParameters for the first invalid one."""
    given: dict[str, Any] = {}
    for key, value in parameters.items():
        name = str(key).replace("-", "_")
        if name in given:
            raise InvalidParameters(name, "is given twice")
        if not NAME.fullmatch(name):
            raise InvalidParameters(str(key)[:80], "must be an option's name: a-z, 0-9, _")
        given[name] = value
    found = {}
    for parameter in spec.parameters:
        value = given.pop(parameter.name, parameter.default)
        if value is REQUIRED:
            raise InvalidParameters(parameter.name, f"is missing; it is {parameter.allowed()}")
        found[parameter.name] = parameter.read(value)
    if given and not spec.free:
        known = ", ".join(sorted(found)) or "none"
        raise InvalidParameters(next(iter(given)), f"is unknown to {spec.tool}; its parameters are: {known}")
    return found | {name: _free(name, value) for name, value in given.items()}


def _free(name: str, value: Any) -> Any:
    if isinstance(value, str) and TEXT.fullmatch(value):
        return value
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise InvalidParameters(name, "must be a number, true or false, or 1 to 60 letters, digits or .,:+-_")


def title_of(spec: WorkloadSpec, parameters: Mapping[str, Any]) -> str:
    """A workload's title, what it is named by, and the parameters that differ from the defaults: "Failover,
    kill_writer, fault_at=5". `parameters` as returned by `check`."""
    plain = {parameter.name: parameter.default for parameter in spec.parameters}
    named = [str(parameters[key]) for key in spec.named_by if key in parameters]
    varied = [
        f"{key}={value}"
        for key, value in parameters.items()
        if key not in spec.named_by and plain.get(key, REQUIRED) != value
    ]
    return ", ".join([spec.title, *named, *varied])


def renamed(spec: WorkloadSpec, name: str, parameters: Mapping[str, Any]) -> str:
    """`name`; a default name in the form of earlier releases, "Failover, fault=switch, fault_at=5", in today's."""
    title, *rest = name.split(", ")
    if not spec.named_by or title not in (spec.title, spec.former_title) or not all("=" in each for each in rest):
        return name
    return title_of(spec, parameters)[:LONGEST_NAME]
