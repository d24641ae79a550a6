"""Inserts in batches into one growing table."""

import math
from collections.abc import Mapping
from typing import Any

from workers.agent.tools import Finished, RunCheckResult, report_output
from workers.agent.tools.lua import LuaTool
from workers.agent.tools.report_output import Reported
from workers.protocol.workloads import iibench


class IIBench(LuaTool):
    spec = iibench.SPEC
    not_in_script = ("rows_limit",)

    def rows(self, chosen: Mapping[str, Any]) -> dict[str, int]:
        del chosen
        return {"purchases": 0}

    def limits(self, parameters: Mapping[str, Any]) -> tuple[str, ...]:
        chosen = self.checked(parameters)
        limit = chosen["rows_limit"]
        return (f"--events={math.ceil(limit / chosen['batch'])}",) if limit else ()

    def claims(self, finished: Finished, reported: Reported, chosen: Mapping[str, Any]) -> list[RunCheckResult]:
        del chosen
        return [
            report_output.all_matched(reported),
            report_output.rows_are(finished, {"purchases": reported.counts["rows"]}),
        ]
