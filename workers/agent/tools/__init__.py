"""Load tools behind one protocol: one file a tool, found by the name that a workload gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from workers.agent.runtime.config import ServerAddress, SystemConfig
from workers.protocol.wire import LoadLevelMessage


class InvalidToolParameters(ValueError):
    """The text names the parameter and what it may be."""


class ToolMissing(Exception):
    """The tool's program is not there; the text says how to install it."""


@dataclass(frozen=True)
class Target:
    """Where the load goes. `secrets` is a file that only this user may read; the tool takes the password from it."""

    address: ServerAddress
    user: str
    schema: str
    secrets: Path


@dataclass(frozen=True)
class Invocation:
    """A program to start. `argv` holds no password, so it may be shown.

    Times in seconds: `timeout` for the whole, `warmup` and `measured` on the tool's own clock. `open_ended`: the work
    decides how long it takes, and the output says what was measured.
    """

    argv: tuple[str, ...]
    timeout: float
    warmup: float = 0
    measured: float = 0
    open_ended: bool = False


@dataclass(frozen=True)
class DataSet:
    """What prepare makes: so many `rows` in each of the `tables`, or in those that a mapping names; None: the tool
    itself checks what it has prepared. `is_emptied`: before each run but the first, since the ids that it inserts
    would be there already.
    """

    tables: tuple[str, ...]
    rows: int | Mapping[str, int] | None
    is_emptied: bool = False

    def counted(self) -> dict[str, int]:
        """Table -> rows, of those to be counted."""
        if self.rows is None:
            return {}
        return dict.fromkeys(self.tables, self.rows) if isinstance(self.rows, int) else dict(self.rows)


@dataclass(frozen=True)
class Finished:
    """A run whose tool has ended well. `before` and `after`: SHOW GLOBAL STATUS of the server behind the endpoint,
    numbers by name; empty where it could not be read."""

    system: SystemConfig
    schema: str
    parameters: Mapping[str, Any]
    output: Path
    before: Mapping[str, int]
    after: Mapping[str, int]


@dataclass(frozen=True)
class RunCheckResult:
    """Whether a run did what it claims. `label`: one sentence with the numbers."""

    name: str
    held: bool
    label: str


class Tool(Protocol):
    """What a job needs of a load tool. Every method raises InvalidParameters when `parameters` are not the tool's."""

    name: str
    artifact: str  # name under which the run's whole output is kept

    def version(self) -> str:
        """Raises ToolMissing."""

    def data_set(self, parameters: Mapping[str, Any]) -> DataSet: ...

    def secrets(self, system: SystemConfig, schema: str) -> str:
        """The content of the target's secrets file."""

    def prepare(self, target: Target, parameters: Mapping[str, Any]) -> Invocation: ...

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
        """Whether the load begins with this line of output: the zero of the tool's own clock."""

    def failure(self, code: int, output: bytes) -> str:
        """Why a run that ended with exit code `code` failed, in the tool's own words; empty when it did not."""

    def verify(self, finished: Finished) -> list[RunCheckResult]:
        """After a run that ended well; a check that did not hold fails the run. Raises DatabaseFailed."""

    def extras(self, output: Path) -> list[Path]:
        """Further files of a run, kept as artifacts under their names. They lie beside `output` and go with the run."""


class Plain:
    """A tool that verifies nothing and makes no further files."""

    def verify(self, finished: Finished) -> list[RunCheckResult]:
        del finished
        return []

    def extras(self, output: Path) -> list[Path]:
        del output
        return []
