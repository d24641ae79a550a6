"""The `corroboration` part of the Compare page: agreement across tools, and published results beside it."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from apps.comparison.api import (
    ABOUT,
    AGREEMENT_SECTION,
    CANNOT_TELL,
    CONTESTED,
    MatrixSide,
    PublishedResult,
    SideClaim,
    ToolAgreement,
    WorkloadResult,
)
from apps.comparison.api import CLAIM_WITHHELD as WITHHELD
from apps.comparison.pure import Side
from apps.published.wording import NO_INTERVAL
from apps.web.compare.view import CompareView
from apps.web.compare.wording import parts
from workers.protocol.workloads.kinds import KINDS

# Longer lists of tools are collapsed.
SHOWN_AT_ONCE = 12


def context(seen: CompareView) -> dict[str, Any] | None:
    found = seen.read(AGREEMENT_SECTION)
    if found is None or not found.claims:
        return None
    comparison = seen.comparison
    # A system's first side determines its name and colour.
    sides = {one.slug: next(s for s in comparison.sides if s.system == one.slug) for one in found.sides}
    campaign = comparison.campaign.id if comparison.campaign else None
    return {
        **shown(found, sides, campaign=campaign, here=comparison.workload.id),
        "published_url": f"{reverse('web:published-figures')}?{urlencode(_platforms(found))}",
        "only_chosen_runs": seen.address.runs is not None,
    }


def shown(
    found: ToolAgreement, sides: Mapping[str, Side | MatrixSide], *, campaign: int | None, here: int | None = None
) -> dict[str, Any]:
    """Context of the table of claims.

    `sides`: system -> name and colour, the baseline first; `here`: the workload of the page.
    """
    measured = [claim for claim in found.claims if claim.is_measured]
    entries = [_claim(claim, sides, here, campaign) for claim in measured]
    return {
        "claims": entries,
        "kinds": _by_kind(measured, entries, found),
        "judged": [sides[one.slug] for one in found.sides[1:]],
        "fold": sum(len(each["rows"]) + len(each["claim"].stated) for each in entries) > SHOWN_AT_ONCE,
        "only_stated": _only_stated(found),
        "any_stated": any(claim.stated for claim in found.claims),
        "tests": found.tests,
        "agreement_notes": found.notes,
        "no_interval": NO_INTERVAL,
        "about": f"{100 * ABOUT:g}\N{NO-BREAK SPACE}%",
    }


def _platforms(found: ToolAgreement) -> list[tuple[str, str]]:
    return [("platform", slug) for slug in dict.fromkeys(side.platform_slug for side in found.sides)]


def _by_kind(
    measured: Sequence[SideClaim], claims: Sequence[dict[str, Any]], found: ToolAgreement
) -> list[tuple[str, list[dict[str, Any] | None]]]:
    """Kind of load in words -> claims about each side but the baseline; None: nothing was measured."""
    known = {(claim.side, claim.kind): each for claim, each in zip(measured, claims, strict=True)}
    kinds = [kind for kind in KINDS if any(claim.kind == kind for claim in measured)]
    return [(KINDS[kind], [known.get((side.slug, kind)) for side in found.sides[1:]]) for kind in kinds]


def _only_stated(found: ToolAgreement) -> list[tuple[str, str, tuple[PublishedResult, ...]]]:
    """(kind in words, platform, statements) of claims with published results only, once per platform."""
    platforms = {side.slug: (side.platform_slug, side.platform) for side in found.sides}
    once = {(claim.kind, *platforms[claim.side]): claim for claim in found.claims if not claim.is_measured}
    return [(claim.kind_words, name, claim.stated) for (_, _, name), claim in once.items()]


def _claim(
    claim: SideClaim, sides: Mapping[str, Side | MatrixSide], here: int | None, campaign: int | None
) -> dict[str, Any]:
    baseline = next(iter(sides))
    names = {slug: side.name for slug, side in sides.items()}
    stances = (
        ("agrees" if claim.is_claimed else claim.says, claim.agree),
        ("contradicts" if claim.is_claimed else "says otherwise", claim.contradict),
        (CANNOT_TELL, claim.cannot_tell),
    )
    return {
        "claim": claim,
        "side": sides[claim.side],
        "sentence": _sentence(claim),
        "here": here,
        "rows": [
            {
                "stance": result.says if claim.says == CONTESTED or result.says == WITHHELD else stance,
                "result": result,
                "parts": list(parts([(each.level, each.cell) for each in result.testimony], names)),
                "url": _compare_url(baseline, claim.side, result, campaign),
            }
            for stance, results in stances
            for result in results
        ],
    }


def _compare_url(baseline: str, side: str, result: WorkloadResult, campaign: int | None) -> str:
    pairs = [("side", baseline), ("side", side), ("workload", result.workload.id)]
    pairs += [("campaign", campaign)] if campaign is not None else []
    return f"{reverse('web:compare')}?{urlencode(pairs)}"


def _sentence(claim: SideClaim) -> str:
    """Summary of the tools' agreement on the claim."""
    against = sorted({each.program for each in claim.contradict})
    withheld = sorted({each.program for each in claim.cannot_tell if each.says == WITHHELD})
    unsure = sorted({each.program for each in claim.cannot_tell} - {*claim.programs, *against, *withheld})
    if claim.says == CONTESTED:
        return f"tools contradict each other ({_listed(against)})"
    parts = []
    if claim.agree:
        parts.append(_support(claim))
    if against:
        parts.append(f"{_listed(against)} {'contradicts' if len(against) == 1 else 'contradict'}")
    if withheld:
        parts.append(f"{_listed(withheld)} withheld until the difference is accepted")
    if unsure:
        parts.append(f"{_listed(unsure)} inconclusive")
    return "; ".join(parts)


def _support(claim: SideClaim) -> str:
    if len(claim.programs) == 1:
        return f"{claim.programs[0]} alone"
    text = f"{_listed(claim.programs)} agree"
    if claim.witnesses == len(claim.programs):
        return f"{text}, in different sessions"
    if claim.witnesses > 1:
        return f"{text}, some measured in the same sessions: {claim.witnesses} witnesses"
    seen = [number for each in claim.agree for number in set(each.sessions)]
    in_same = len(seen) > len(set(seen))
    return f"{text}, {'measured in the same sessions' if in_same else 'in one session each'}: one witness"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
