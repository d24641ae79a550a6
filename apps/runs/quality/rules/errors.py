"""Errors: number and kind. Pure."""

import re
from collections import Counter

from apps.runs.quality.values import (
    QualityFacts,
    RuleFinding,
    cannot_tell,
    failed,
    limit,
    listed,
    passed,
    percent,
    plain,
)

# Failed attempts end early: one in a hundred is enough to move the 99th percentile of the others.
MOST_ERRORS = 0.01
# Service unavailable: connections used up, node not ready, shutdown, connection killed or lost, no server. Each of
# these errors aborts all work of its connection.
LOST = frozenset({1040, 1047, 1053, 1152, 1184, 1927, 2002, 2003, 2005, 2006, 2013, 2026, 2055})
LIMITS = f"at most {limit(MOST_ERRORS)} of the attempts fail; no connection is lost, refused or reopened"
CODE = re.compile(r"\b(?:error|errno|code)\b[ :=]*\(?(\d{4})\b", re.IGNORECASE)


def check(facts: QualityFacts) -> RuleFinding:
    codes = codes_of(facts)
    words = listed([f"{count:,} × error {code}" for code, count in codes.most_common()])
    per_second, done = facts.headlines.get("client.errors"), facts.headlines.get("client.throughput")
    if facts.faults:
        return passed(f"Failing operations are what {facts.tool} measures{f': {words}' if words else ''}.")
    troubles = [f"{codes[code]:,} × error {code}, which loses a connection" for code in sorted(codes) if code in LOST]
    for key, what in (("client.connections.refused", "connections refused"), ("client.reconnects", "reconnects/s")):
        if facts.headlines.get(key):
            troubles.append(f"{plain(facts.headlines[key])} {what}")
    share = None
    if per_second is not None and done is not None:
        share = per_second / (per_second + done) if per_second + done else 0.0
        if share > MOST_ERRORS:
            troubles.append(f"{percent(share)} of the attempts failed ({plain(per_second)} errors/s){_of(words)}")
    detail = {"share": share, "codes": {str(code): count for code, count in codes.items()}}
    if troubles:
        return failed(f"{listed(troubles)[:1].upper()}{listed(troubles)[1:]}.", **detail)
    if share is None:
        return cannot_tell(f"{facts.tool} does not report how many of its operations failed.", **detail)
    if share == 0:
        return passed("Errors were counted: none.", **detail)
    return passed(f"{percent(share)} of the attempts failed ({plain(per_second or 0)} errors/s){_of(words)}.", **detail)


def codes_of(facts: QualityFacts) -> Counter[int]:
    found: Counter[int] = Counter()
    for one in facts.complaints:
        # A tool that continues after an error may print its code twice, the second time as the cause.
        for code in {int(text) for text in CODE.findall(one.text)}:
            found[code] += one.count
    return found


def _of(words: str) -> str:
    return f"; in the whole run {words}" if words else ""
