"""Tools that are our own programs: their command line, the start of their clock, and the reason of a failure."""

import importlib.util
import math
import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from workers.agent import __version__
from workers.agent.programs.order import Order, arguments
from workers.agent.programs.report import secrets_of
from workers.agent.runtime.config import SystemConfig
from workers.agent.tools import (
    Finished,
    InvalidToolParameters,
    Invocation,
    Plain,
    RunCheckResult,
    Target,
    ToolMissing,
    report_output,
)
from workers.protocol.wire import LoadLevelMessage
from workers.protocol.workloads.declaration import WorkloadSpec, check

PREPARE_TIMEOUT = 6 * 3600.0  # s
CLEAN_UP_TIMEOUT = 120.0  # s
RESTORE_TIMEOUT = 300.0  # s
END_GRACE = 120.0  # s, for connecting, verifying and restoring


class ProgramTool(Plain):
    """`module` implements the steps prepare, run and clean_up of the workload `spec`, and restore if `restores`."""

    spec: WorkloadSpec
    module: str
    restores: bool = False
    programs: tuple[str, ...] = ()  # started by `module`
    packages: tuple[str, ...] = ()  # Python packages beyond the agent's own dependencies

    name: str
    artifact: str

    def __init_subclass__(cls) -> None:
        cls.name = cls.spec.tool
        cls.artifact = f"{cls.name}.jsonl"

    def version(self) -> str:
        """Version of the agent, which includes the program, and of the programs it starts. Raises ToolMissing."""
        for package in self.packages:
            if importlib.util.find_spec(package) is None:
                raise ToolMissing(f"{self.name} needs the Python package {package}; pip install {package}")
        return ", ".join([f"splashboard {__version__}", *(_version(program) for program in self.programs)])

    def chosen(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """`parameters` with defaults. Raises declaration.InvalidParameters."""
        return check(self.spec, parameters)

    def secrets(self, system: SystemConfig, schema: str) -> str:
        return secrets_of(system, schema)

    def prepare(self, target: Target, parameters: Mapping[str, Any]) -> Invocation:
        return Invocation(self._argv("prepare", self._order(target, parameters)), PREPARE_TIMEOUT)

    def restore(self, target: Target) -> Invocation | None:
        if not self.restores:
            return None
        order = Order(target.secrets, parameters={}, threads=1, rate=None, warmup=0, duration=0)
        return Invocation(self._argv("restore", order), RESTORE_TIMEOUT)

    def clean_up(self, target: Target, parameters: Mapping[str, Any]) -> Invocation:
        return Invocation(self._argv("clean_up", self._order(target, parameters)), CLEAN_UP_TIMEOUT)

    def run(
        self,
        target: Target,
        parameters: Mapping[str, Any],
        *,
        load_level: LoadLevelMessage,
        warmup: float,
        duration: float,
    ) -> Invocation:
        before, measured = math.ceil(warmup), max(1, math.ceil(duration))
        order = self._order(target, parameters, load_level, warmup=before, duration=measured)
        self.accept(order)
        timeout = before + measured * self.timeout_factor() + END_GRACE
        return Invocation(self._argv("run", order), timeout, warmup=before, measured=measured)

    def accept(self, order: Order) -> None:
        """Raises InvalidToolParameters when the load level or the times do not fit."""

    def timeout_factor(self) -> float:
        """A run's time limit as a multiple of its duration, including the work before and after the load."""
        return 1.0

    def starts_clock(self, line: bytes) -> bool:
        return line.startswith(b'{"kind":"begin"')

    def failure(self, code: int, output: bytes) -> str:
        if code == 0:
            return ""
        fatal = [line.decode(errors="replace") for line in re.findall(rb"^FATAL: (.*)$", output, re.MULTILINE)]
        if fatal:
            return f"{self.name}: {'; '.join(fatal[-3:])}"
        raised = [
            line for line in output.decode(errors="replace").splitlines() if re.match(r"[\w.]+(Error|Exception):", line)
        ]
        if raised:
            return f"{self.name} failed: {raised[-1]}"
        return f"{self.name} ended with code {code}" if code > 0 else f"{self.name} was ended by signal {-code}"

    def verify(self, finished: Finished) -> list[RunCheckResult]:
        """Checks that the program cannot make itself; its own are in its report."""
        executed = report_output.executed(finished.output)
        if executed is None:
            return []
        found = report_output.writes_agree(finished, executed)
        if executed.counts["reads"]:
            found += report_output.reads_agree(finished, executed)
        if "unmatched" in executed.counts:
            found.append(report_output.all_matched(executed, most=0.01))
        return found

    def _order(
        self,
        target: Target,
        parameters: Mapping[str, Any],
        load_level: LoadLevelMessage | None = None,
        *,
        warmup: float = 0,
        duration: float = 0,
    ) -> Order:
        return Order(
            secrets_file=target.secrets,
            parameters=self.chosen(parameters),
            threads=load_level.threads if load_level else 1,
            rate=load_level.rate if load_level else None,
            warmup=warmup,
            duration=duration,
        )

    def _argv(self, step: str, order: Order) -> tuple[str, ...]:
        return (sys.executable, "-m", self.module, *arguments(step, order))


def whole_rate(order: Order) -> None:
    """sysbench accepts only whole rates. Raises InvalidToolParameters."""
    if order.rate is not None and (order.rate < 1 or order.rate != round(order.rate)):
        raise InvalidToolParameters(f"rate is {order.rate:g}/s; sysbench takes whole numbers from 1 only")


def _version(program: str) -> str:
    """Raises ToolMissing."""
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolMissing(f"{program} cannot be started ({error}); install the package that brings it") from error
    return answer.stdout.strip()
