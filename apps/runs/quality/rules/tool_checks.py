"""Checks made by the load tool itself. Pure."""

from apps.runs.quality.values import QualityFacts, RuleFinding, cannot_tell, failed, listed, passed

LIMITS = "all hold"


def check(facts: QualityFacts) -> RuleFinding:
    broken = [claim.label for claim in facts.claims if not claim.held]
    if broken:
        return failed(f"Failed: {listed(broken)}.")
    if not facts.claims:
        return cannot_tell(f"{facts.tool} reported no checks.")
    return passed(f"Passed: {listed([claim.label for claim in facts.claims])}.")
