"""Load tools behind one protocol: one file per tool, found by the workload's tool name."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from workers.agent.runtime.config import ServerAddress, SystemConfig
from workers.protocol.wire import LoadLevelMessage


class InvalidToolParameters(ValueError):
    """The text names the parameter and its allowed values."""


class ToolMissing(Exception):
    """The tool's program is not installed; the text contains the command to install it."""


@dataclass(frozen=True)
class Target:
    """The target of the load. `secrets`: a file readable by this user only, from which the tool takes the password."""

    address: ServerAddress
    user: str
    schema: str
    secrets: Path


@dataclass(frozen=True)
class Invocation:
    """A program to start. `argv` holds no password, so it may be shown.

    Times in seconds: `timeout` for the whole, `warmup` and `measured` on the tool's own clock. `open_ended`: the work
    determines its length, and the output defines the measured phase.
    """

    argv: tuple[str, ...]
    timeout: float
    warmup: float = 0
    measured: float = 0
    open_ended: bool = False


@dataclass(frozen=True)
class DataSet:
    """The result of prepare: `rows` per table of `tables`, or per table of a mapping; None: the tool checks them
    itself. `is_emptied`: before each run but the first, because ids inserted by it would already exist.
    """

    tables: tuple[str, ...]
    rows: int | Mapping[str, int] | None
    is_emptied: bool = False

    def counted(self) -> dict[str, int]:
        """Table -> rows, of the tables to count."""
        if self.rows is None:
            return {}
        return dict.fromkeys(self.tables, self.rows) if isinstance(self.rows, int) else dict(self.rows)


@dataclass(frozen=True)
class Finished:
    """A run whose tool succeeded. `before` and `after`: SHOW GLOBAL STATUS of the server behind the endpoint, numbers
    by name; empty where it could not be read."""

    system: SystemConfig
    schema: str
    parameters: Mapping[str, Any]
    output: Path
    before: Mapping[str, int]
    after: Mapping[str, int]


@dataclass(frozen=True)
class RunCheckResult:
    """The result of a check on a run. `label`: one sentence with the numbers."""

    name: str
    held: bool
    label: str


class Tool(Protocol):
    """The interface of a load tool. Every method raises InvalidParameters when `parameters` are not the tool's."""

    name: str
    artifact: str  # name under which the run's whole output is kept
    is_optional: bool  # a host may lack its program: then only its own workloads cannot run there

    def version(self) -> str:
        """Raises ToolMissing."""

    def data_set(self, parameters: Mapping[str, Any]) -> DataSet: ...

    def secrets(self, system: SystemConfig, schema: str) -> str:
        """The content of the target's secrets file."""

    def prepare(self, target: Target, parameters: Mapping[str, Any]) -> Invocation: ...

    def restore(self, target: Target) -> Invocation | None:
        """Puts servers right that a program which died left changed, by files beside its secrets; it needs neither
        schema nor endpoint. None: the tool changes no servers."""

    def clean_up(self, target: Target, parameters: Mapping[str, Any]) -> Invocation: ...

    def run(
        self,
        target: Target,
        parameters: Mapping[str, Any],
        *,
        load_level: LoadLevelMessage,
        warmup: float,
        duration: float,
    ) -> Invocation: ...

    def starts_clock(self, line: bytes) -> bool:
        """Whether the load begins with this output line: the zero of the tool's own clock."""

    def failure(self, code: int, output: bytes) -> str:
        """Why a run with exit code `code` failed, from the tool's output; empty on success."""

    def verify(self, finished: Finished) -> list[RunCheckResult]:
        """After a successful run; a failed check fails the run. Raises DatabaseFailed."""

    def extras(self, output: Path) -> list[Path]:
        """Further files of a run, kept as artifacts by name. Beside `output`; deleted with the run."""


class Plain:
    """A tool without verification and further files, which changes no servers."""

    is_optional = False

    def restore(self, target: Target) -> Invocation | None:
        del target
        return None

    def verify(self, finished: Finished) -> list[RunCheckResult]:
        del finished
        return []

    def extras(self, output: Path) -> list[Path]:
        del output
        return []
