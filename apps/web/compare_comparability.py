"""What must be known before the numbers: what withholds verdicts and who accepted it, and the differences in short."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from apps.accounts.models import User
from apps.comparison import acknowledging, queries
from apps.comparison.comparability import TITLES, Difference, Group, Obstacle, Weight
from apps.comparison.values import Comparison, Side
from apps.core.problems import FieldProblem, Invalid
from apps.web.accounts import may_write, writers_only
from apps.web.compare_seen import Address, Seen

# Differences named above the answer, and how much of a value is shown there.
NAMED_DIFFERENCES = 4
LONGEST_VALUE = 32


@dataclass(frozen=True)
class Named:
    """A difference as it is told above the answer: `values` in the order of the sides, empty where told elsewhere."""

    label: str
    values: str
    title: str


@dataclass(frozen=True)
class Summary:
    """`named` the important ones, `more` how many important ones are not; `minor` counts the rest in words."""

    named: tuple[Named, ...]
    more: int
    minor: tuple[str, ...]


@dataclass(frozen=True)
class Warned:
    """A side about which verdicts are, or were, withheld."""

    side: Side
    obstacles: tuple[Obstacle, ...]


def context(seen: Seen) -> dict[str, Any]:
    comparison = seen.comparison
    open_ones = [each for each in comparison.obstacles if each.accepted is None]
    sides = {side.slug: side for side in comparison.sides}
    return {
        "warned": [
            Warned(sides[slug], tuple(own)) for slug, own in groupby(comparison.obstacles, key=lambda each: each.side)
        ],
        "open": [(each, sides[each.side]) for each in open_ones],
        "open_titles": _listed(list(dict.fromkeys(each.title for each in open_ones))),
        "withheld_from": _listed([sides[slug].name for slug in dict.fromkeys(each.side for each in open_ones)]),
        "titles": _listed(list(dict.fromkeys(each.title for each in comparison.obstacles))),
        "may_accept": seen.kept is None and may_write(seen.request),
        "is_now": seen.kept is None,
        "asks_by_address": bool(seen.address.acknowledged) and bool(open_ones),
        "longest_reason": acknowledging.LONGEST_REASON,
        "summary": summary(comparison),
    }


def summary(comparison: Comparison) -> Summary:
    """What must be known before the numbers, in one sentence. The warning names values itself."""
    shown = [each for each in comparison.differences if not each.hidden]
    important = [each for each in shown if each.weight is Weight.IMPORTANT]
    groups = dict.fromkeys(each.group for each in shown if each.weight is Weight.WITHHOLDS)
    minor = [each for each in shown if each.weight is Weight.MINOR]
    variables = sum(each.group is Group.VARIABLES for each in minor)
    counted = [f"{variables:,} server variable{'' if variables == 1 else 's'}"] if variables else []
    others = [each.label[0].lower() + each.label[1:] for each in minor if each.group is not Group.VARIABLES]
    named = [Named(TITLES[group], "", "") for group in groups]
    named += [_named(each) for each in important[:NAMED_DIFFERENCES]]
    return Summary(tuple(named), max(0, len(important) - NAMED_DIFFERENCES), (*others, *counted))


def _named(difference: Difference) -> Named:
    """Settings and variables keep their names, other labels stand within a sentence."""
    label = difference.label
    name = label if difference.group in (Group.SETTINGS, Group.VARIABLES) else label[0].lower() + label[1:]
    short = [value if len(value) <= LONGEST_VALUE else f"{value[:LONGEST_VALUE]}…" for value in difference.values]
    return Named(name, " / ".join(short), " / ".join(difference.values))


def _listed(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


# ---------------------------------------------------------------- writing


@require_POST
@writers_only
def acknowledge(request: HttpRequest) -> HttpResponse:
    """`query` is the address of the comparison, `accept` the fingerprints of what is accepted in it."""
    query = QueryDict(request.POST.get("query", ""))
    back = f"{reverse('web:compare')}?{query.urlencode()}#comparability"
    try:
        address = Address.read(query)
        if address.workload is None:
            raise Invalid([FieldProblem("workload", "is missing", "open the comparison and accept it there")])
        comparison = queries.compare(
            sides=address.sides, workload_id=address.workload, campaign=address.campaign, runs=address.runs
        )
        wanted = set(request.POST.getlist("accept"))
        found = [each for each in comparison.obstacles if each.fingerprint in wanted]
        made = acknowledging.acknowledge(
            obstacles=found, by=_person(request), reason=request.POST.get("reason", "").replace("\r\n", "\n")
        )
    except Invalid as error:
        for problem in error.errors:
            messages.error(request, problem.sentence())
        return redirect(back)
    groups = _listed(list(dict.fromkeys(TITLES[Group(each.group)] for each in made)))
    said = f"Recorded: the difference in {groups} is accepted." if made else "Somebody has accepted that already."
    messages.info(request, said)
    return redirect(back)


@require_POST
@writers_only
def withdraw(request: HttpRequest, acknowledgement_id: int) -> HttpResponse:
    """`next` is the page to go back to."""
    ended = acknowledging.withdraw(acknowledgement=acknowledgement_id, by=_person(request), now=timezone.now())
    messages.info(request, "The verdict is withheld again." if ended else "It was withdrawn already.")
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}):
        back = reverse("web:compare")
    return redirect(back)


def _person(request: HttpRequest) -> User:
    assert isinstance(request.user, User), "writers_only let somebody else in"  # noqa: S101
    return request.user
