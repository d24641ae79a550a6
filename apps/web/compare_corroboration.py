"""The part corroboration of the Compare page: which tools bear a claim out, and what articles state beside them."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from apps.comparison.corroboration import CANNOT_TELL, CONTESTED, DEPENDS, READING, Claim, Corroboration, Witness
from apps.comparison.values import Comparison, Side
from apps.published.wording import NO_INTERVAL
from apps.web.compare_seen import Seen
from apps.web.compare_words import parts


def context(seen: Seen) -> dict[str, Any] | None:
    found = seen.read(READING)
    if found is None or not found.claims:
        return None
    sides = _sides(seen.comparison, found)
    campaign = seen.comparison.campaign
    return {
        "claims": [_claim(claim, sides, seen.comparison, campaign.id if campaign else None) for claim in found.claims],
        "tests": found.tests,
        "corroboration_notes": found.notes,
        "no_interval": NO_INTERVAL,
        "witnesses_url": f"{reverse('web:published')}?{urlencode(_platforms(found))}",
        "only_chosen_runs": seen.address.runs is not None,
    }


def _sides(comparison: Comparison, found: Corroboration) -> dict[str, Side]:
    """System -> the first side of the comparison that is it: its place and colour."""
    return {many.slug: next(s for s in comparison.sides if s.system == many.slug) for many in found.sides}


def _platforms(found: Corroboration) -> list[tuple[str, str]]:
    return [("platform", slug) for slug in dict.fromkeys(side.platform_slug for side in found.sides)]


def _claim(claim: Claim, sides: Mapping[str, Side], comparison: Comparison, campaign: int | None) -> dict[str, Any]:
    baseline = next(iter(sides))
    names = {slug: side.name for slug, side in sides.items()}
    stances = (
        ("agrees" if claim.is_claimed else claim.says, claim.agree),
        ("contradicts" if claim.is_claimed else "says otherwise", claim.contradict),
        ("cannot tell", claim.cannot_tell),
    )
    return {
        "claim": claim,
        "side": sides[claim.side],
        "sentence": _sentence(claim),
        "here": comparison.workload.id,
        "rows": [
            {
                "stance": stance if claim.says != CONTESTED or stance == CANNOT_TELL else witness.says,
                "witness": witness,
                "parts": list(parts([(each.level, each.cell) for each in witness.testimony], names)),
                "url": _compare_url(baseline, claim.side, witness, campaign),
            }
            for stance, witnesses in stances
            for witness in witnesses
        ],
    }


def _compare_url(baseline: str, side: str, witness: Witness, campaign: int | None) -> str:
    pairs = [("side", baseline), ("side", side), ("workload", witness.workload.id)]
    pairs += [("campaign", campaign)] if campaign is not None else []
    return f"{reverse('web:compare')}?{urlencode(pairs)}"


def _sentence(claim: Claim) -> str:
    """Who bears the claim out, in one sentence."""
    against = sorted({each.program for each in claim.contradict})
    unsure = sorted({each.program for each in claim.cannot_tell} - {*claim.programs, *against})
    if claim.says == CONTESTED:
        return f"witnesses contradict each other ({_listed(against)})"
    if not claim.agree and not claim.cannot_tell:
        return "nothing was measured here; only articles speak of it"
    if claim.says == CANNOT_TELL:
        return f"{_listed(unsure)} cannot tell"
    said = [f"{_listed(claim.programs)} {'says' if len(claim.programs) == 1 else 'agree'}"]
    if claim.says == DEPENDS:
        said = [f"so says {_listed(claim.programs)}"]
    if against:
        said.append(f"{_listed(against)} {'contradicts' if len(against) == 1 else 'contradict'}")
    if unsure:
        said.append(f"{_listed(unsure)} cannot tell")
    return "; ".join(said)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
