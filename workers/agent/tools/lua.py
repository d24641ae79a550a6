"""Our own workloads on sysbench: scripts in workers/agent/lua, which report JSON lines; results are verified here."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workers.agent.tools import DataSet, Finished, InvalidToolParameters, RunCheckResult, report_output
from workers.agent.tools.report_output import Reported
from workers.agent.tools.sysbench import SysbenchProgram
from workers.protocol.workloads import declaration
from workers.protocol.workloads.declaration import WorkloadSpec

SCRIPTS = Path(__file__).resolve().parent.parent / "lua"


class LuaTool(SysbenchProgram):
    """One script. A workload defines its tables and the checks after a run."""

    spec: WorkloadSpec
    # Parameters that the script does not take.
    not_in_script: Sequence[str] = ()
    renamed: Mapping[str, str] = {}

    def __init__(self) -> None:
        self.name = self.spec.tool
        self.artifact = f"{self.name}.jsonl"

    def checked(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return declaration.check(self.spec, parameters)
        except declaration.InvalidParameters as problem:
            raise InvalidToolParameters(f"parameter {problem}") from problem

    def rows(self, chosen: Mapping[str, Any]) -> dict[str, int]:
        """Table -> rows after prepare."""
        raise NotImplementedError

    def data_set(self, parameters: Mapping[str, Any]) -> DataSet:
        rows = self.rows(self.checked(parameters))
        return DataSet(tables=tuple(rows), rows=rows)

    def test(self, parameters: Mapping[str, Any]) -> tuple[str, ...]:
        chosen = self.checked(parameters)
        return (
            str(SCRIPTS / f"{self.name}.lua"),
            *(
                f"--{self.renamed.get(name, name).replace('_', '-')}={_spelled(value)}"
                for name, value in chosen.items()
                if name not in self.not_in_script
            ),
        )

    def verify(self, finished: Finished) -> list[RunCheckResult]:
        reported = report_output.read(finished.output)
        load = report_output.took_part(reported)
        if not load.held:
            return [load]
        chosen = self.checked(finished.parameters)
        return [
            load,
            *report_output.writes_agree(finished, reported),
            *report_output.reads_agree(finished, reported),
            *self.claims(finished, reported, chosen),
        ]

    def claims(self, finished: Finished, reported: Reported, chosen: Mapping[str, Any]) -> list[RunCheckResult]:
        """The workload's additional checks. Raises DatabaseFailed."""
        raise NotImplementedError


def _spelled(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)
