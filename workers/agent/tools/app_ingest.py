"""An application that ingests data."""

from collections.abc import Mapping
from typing import Any

from workers.agent.tools import Finished, RunCheckResult, report_output
from workers.agent.tools.lua import LuaTool
from workers.agent.tools.report_output import Reported
from workers.protocol.workloads import app_ingest


class AppIngest(LuaTool):
    spec = app_ingest.SPEC

    def rows(self, chosen: Mapping[str, Any]) -> dict[str, int]:
        # Children first, so that tables are dropped before those they reference.
        return {f"{kind}{number}": 0 for number in range(1, chosen["tables"] + 1) for kind in ("child", "parent")}

    def claims(self, finished: Finished, reported: Reported, chosen: Mapping[str, Any]) -> list[RunCheckResult]:
        found = report_output.count_rows(finished, list(self.rows(chosen)))
        children, parents = (
            sum(rows for table, rows in found.items() if table.startswith(kind)) for kind in ("child", "parent")
        )
        counted = reported.counts["rows"]
        held = children + parents == counted and children == parents * chosen["children"]
        label = f"the client counted {counted} rows; the tables hold {parents} parents and {children} children"
        return [report_output.all_matched(reported), RunCheckResult("rows", held, label)]
