"""sysbench's OLTP family with our reports."""

from collections.abc import Mapping
from typing import Any

from workers.agent.tools import Check, Finished
from workers.agent.tools import reported as report
from workers.agent.tools.lua import LuaTool
from workers.agent.tools.reported import Reported
from workers.agent.tools.sysbench import ids_are_dense
from workers.workloads import sysbench_oltp

UPDATES = ("oltp_read_write", "oltp_write_only", "oltp_update_index", "oltp_update_non_index")
CHANGES_ROWS = ("oltp_insert", "oltp_delete")  # the number of rows is another after a run


class SysbenchOltp(LuaTool):
    spec = sysbench_oltp.SPEC
    # sysbench takes --test for the name of its own script.
    renamed = {"test": "oltp_test"}

    def rows(self, chosen: Mapping[str, Any]) -> dict[str, int]:
        # With ids of its own oltp_insert starts with empty tables, so that none is there already.
        is_empty = chosen["test"] == "oltp_insert" and not chosen["auto_inc"]
        size = 0 if is_empty else chosen["table_size"]
        return {f"sbtest{number}": size for number in range(1, chosen["tables"] + 1)}

    def claims(self, finished: Finished, reported: Reported, chosen: Mapping[str, Any]) -> list[Check]:
        found = []
        if chosen["auto_inc"]:
            found.append(ids_are_dense(finished))
        if chosen["test"] in UPDATES:
            found.append(report.all_matched(reported, most=0.01))
        if chosen["test"] == "oltp_delete":
            found.append(report.all_matched(reported, most=0.5))
        if chosen["test"] not in CHANGES_ROWS:
            found.append(report.rows_are(finished, self.rows(chosen)))
        return found
