"""sysbench's fileio and cpu on the agent's host: baselines without a database."""

import re
from collections.abc import Mapping
from typing import Any

from workers.agent.programs.order import Order
from workers.agent.programs.report import secrets_of
from workers.agent.runtime.config import SystemConfig
from workers.agent.tools import DataSet, Finished, InvalidToolParameters, Invocation, RunCheckResult, Target
from workers.agent.tools.program import CLEAN_UP_TIMEOUT, PREPARE_TIMEOUT, ProgramTool, whole_rate
from workers.protocol.wire import LoadLevelMessage
from workers.protocol.workloads import machine

# As sysbench 1.0 or 1.1 prints it.
READS, WRITES = rb"(?:reads/s:|read:  IOPS=) *([0-9.]+)", rb"(?:writes/s:|write: IOPS=) *([0-9.]+)"
FIGURE = {
    **dict.fromkeys(("rndrd", "seqrd"), READS),
    **dict.fromkeys(("rndwr", "seqwr", "seqrewr", "rndrw"), WRITES),
}


class Machine(ProgramTool):
    """Output is sysbench's own text."""

    spec = machine.FILEIO
    module = "workers.agent.programs.machine"
    programs = ("sysbench",)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.artifact = f"{cls.name}.txt"

    def version(self) -> str:
        return super().version().rpartition(", ")[2]

    def data_set(self, parameters: Mapping[str, Any]) -> DataSet:
        self.chosen(parameters)
        return DataSet((), None)

    def prepare(self, target: Target, parameters: Mapping[str, Any]) -> Invocation:
        if not target.address.is_local():
            raise InvalidToolParameters(
                f"{self.name} measures the machine that the agent runs on, and {target.address} is on another: "
                "run an agent there"
            )
        return super().prepare(target, parameters)

    def accept(self, order: Order) -> None:
        whole_rate(order)

    def starts_clock(self, line: bytes) -> bool:
        return line.startswith(b"Threads started!")


class FileIO(Machine):
    spec = machine.FILEIO

    def secrets(self, system: SystemConfig, schema: str) -> str:
        return secrets_of(system, schema, scratch=system.scratch)

    def verify(self, finished: Finished) -> list[RunCheckResult]:
        """Checks that the mode's requests were executed."""
        found = re.findall(FIGURE[self.chosen(finished.parameters)["mode"]], finished.output.read_bytes())
        rate = float(found[-1]) if found else 0.0
        return [RunCheckResult("requests", rate > 0, f"sysbench counted {rate:g} requests/s of the requested kind")]


class Cpu(Machine):
    spec = machine.CPU

    def prepare(self, target: Target, parameters: Mapping[str, Any]) -> Invocation:
        super().prepare(target, parameters)
        return Invocation(("sysbench", "cpu", "help"), PREPARE_TIMEOUT)

    def clean_up(self, target: Target, parameters: Mapping[str, Any]) -> Invocation:
        del target, parameters
        return Invocation(("true",), CLEAN_UP_TIMEOUT)

    def run(
        self,
        target: Target,
        parameters: Mapping[str, Any],
        *,
        load_level: LoadLevelMessage,
        warmup: float,
        duration: float,
    ) -> Invocation:
        planned = super().run(target, parameters, load_level=load_level, warmup=warmup, duration=duration)
        argv = ["sysbench", "cpu", f"--cpu-max-prime={self.chosen(parameters)['max_prime']}"]
        argv += [f"--threads={load_level.threads}", f"--time={planned.warmup + planned.measured:.0f}"]
        argv += ["--report-interval=1", "--histogram=on", "--percentile=95"]
        if load_level.rate is not None:
            argv.append(f"--rate={load_level.rate:g}")
        if planned.warmup:
            argv.append(f"--report-checkpoints={planned.warmup:.0f}")
        return Invocation((*argv, "run"), planned.timeout, warmup=planned.warmup, measured=planned.measured)
