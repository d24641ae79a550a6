"""A release check as JUnit XML, one test per row. Failed: worse and not accepted; skipped: no verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as ET

from splashboard import table

CONCLUSIVE = ("worse", "better", "unchanged")


def document(check: Mapping[str, Any]) -> str:
    """Without rows its one test is the check itself, skipped: a report without tests would look like a pass."""
    cases = [_case(check, row) for row in check["rows"]] or [_nothing(check)]
    suite = ET.Element("testsuite", name=_clean(check["title"]))
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("errors", "0")
    suite.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
    suite.set("timestamp", str(check["checked_at"])[:19])
    properties = ET.SubElement(suite, "properties")
    for name in ("result", "platform", "release", "baseline", "hardware"):
        ET.SubElement(properties, "property", name=name, value=_clean(check[name]))
    if "tolerance" in check:
        ET.SubElement(properties, "property", name="tolerance", value=f"{check['tolerance']:g}")
    suite.extend(cases)
    ET.SubElement(suite, "system-out").text = _clean("\n".join([*check["why"], *check["notes"]]))
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _case(check: Mapping[str, Any], row: Mapping[str, Any]) -> ET.Element:
    name = f"{row['workload']}, {row['level']}: {row['metric_name']}"
    where = row["system"] or row["baseline_system"]
    case = ET.Element("testcase", name=_clean(name), classname=_clean(f"{check['platform']}.{where}.{row['tool']}"))
    words = _words(row)
    if row["verdict"] == "worse" and not row["is_accepted"]:
        ET.SubElement(case, "failure", message=_clean(words), type="regression").text = _clean(_lines(row))
    elif row["is_coarse"] or (row["verdict"] not in CONCLUSIVE and table.is_telling(row)):
        ET.SubElement(case, "skipped", message=_clean(words))
    else:
        ET.SubElement(case, "system-out").text = _clean(words)
    return case


def _nothing(check: Mapping[str, Any]) -> ET.Element:
    case = ET.Element("testcase", name="anything to compare", classname=_clean(check["platform"]))
    ET.SubElement(case, "skipped", message=_clean(" ".join(check["why"]) or check["result"]))
    return case


def _words(row: Mapping[str, Any]) -> str:
    texts = [f"{row['verdict']}, accepted" if row["is_accepted"] else row["verdict"], table.ratio(row)]
    return "; ".join(filter(None, [*texts, table.finding(row), table.remark(row)]))


def _lines(row: Mapping[str, Any]) -> str:
    return "\n".join(
        [
            f"before: {table.number(row['before'])} {row['unit']}, runs {_runs(row['runs_before'])}",
            f"after: {table.number(row['after'])} {row['unit']}, runs {_runs(row['runs_after'])}",
            f"{table.metric(row)}: after / before {table.ratio(row)}",
        ]
    )


def _runs(ids: list[int]) -> str:
    return ", ".join(map(str, ids)) or "none"


def _clean(text: object) -> str:
    """Drops characters not allowed in XML."""
    return "".join(
        letter
        for letter in str(text)
        if letter in "\t\n\r" or "\x20" <= letter <= "\ud7ff" or "\ue000" <= letter <= "\ufffd" or letter > "\uffff"
    )
