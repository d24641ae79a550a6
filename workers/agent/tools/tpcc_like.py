"""Five transactions in the proportions of TPC-C."""

from collections.abc import Mapping
from typing import Any

from workers.agent.measure import database
from workers.agent.tools import Finished, RunCheckResult, report_output
from workers.agent.tools.lua import LuaTool
from workers.agent.tools.report_output import Reported
from workers.protocol.workloads import tpcc_like

DISTRICTS = 10
LINES = 10  # per order made by prepare
# TPC-C's consistency conditions 1 to 4: each query selects violations.
CONDITIONS = {
    "the payments of a warehouse are those of its districts": """
        SELECT w.w_id FROM warehouse w JOIN district d ON d.w_id = w.w_id
        GROUP BY w.w_id, w.ytd HAVING w.ytd <> SUM(d.ytd)""",
    "a district's next order follows its last": """
        SELECT d.w_id FROM district d JOIN orders o ON o.w_id = d.w_id AND o.d_id = d.d_id
        GROUP BY d.w_id, d.d_id, d.next_o_id HAVING d.next_o_id <> MAX(o.o_id) + 1""",
    "undelivered orders have no gaps": """
        SELECT w_id FROM new_orders GROUP BY w_id, d_id HAVING COUNT(*) <> MAX(o_id) - MIN(o_id) + 1""",
    "every order has its lines": """
        SELECT 1 FROM (SELECT SUM(lines_) AS stated FROM orders) o, (SELECT COUNT(*) AS there FROM order_line) l
        WHERE o.stated <> l.there""",
}


class TpccLike(LuaTool):
    spec = tpcc_like.SPEC

    def rows(self, chosen: Mapping[str, Any]) -> dict[str, int]:
        warehouses, per_district = chosen["warehouses"], chosen["customers"]
        customers = warehouses * DISTRICTS * per_district
        return {
            "warehouse": warehouses,
            "district": warehouses * DISTRICTS,
            "customer": customers,
            "history": 0,
            "orders": customers,
            "new_orders": warehouses * DISTRICTS * int(per_district * 0.3),
            "order_line": customers * LINES,
            "item": chosen["items"],
            "stock": warehouses * chosen["items"],
        }

    def claims(self, finished: Finished, reported: Reported, chosen: Mapping[str, Any]) -> list[RunCheckResult]:
        del chosen
        found = [report_output.all_matched(reported)]
        with database.session(finished.system, doing="check the tables' consistency") as cursor:
            cursor.execute(f"USE `{finished.schema}`")
            for number, (condition, contradiction) in enumerate(CONDITIONS.items(), start=1):
                broken = cursor.execute(contradiction)
                found.append(
                    RunCheckResult(f"consistency {number}", not broken, f"{condition}: {'no' if broken else 'yes'}")
                )
        return found
