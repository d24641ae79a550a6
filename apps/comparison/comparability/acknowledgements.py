"""Blocking differences accepted by people: who, when and why. Verdicts stay withheld until then."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.db import IntegrityError, transaction

from apps.accounts.models import User
from apps.comparison.comparability.differences import AcceptedDifference, BlockingDifference
from apps.comparison.models import Acknowledgement
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid

LONGEST_REASON = 2000


def with_accepted(found: Sequence[Sequence[BlockingDifference]]) -> list[tuple[BlockingDifference, ...]]:
    """The blocking differences of each comparison, with who accepted them; one query if there are any, else none."""
    wanted = {each.fingerprint for differences in found for each in differences}
    known = {}
    if wanted:
        rows = Acknowledgement.objects.filter(fingerprint__in=wanted, withdrawn_at__isnull=True)
        known = {
            row.fingerprint: AcceptedDifference(
                row.pk, row.acknowledged_by.get_username(), row.acknowledged_at, row.reason
            )
            for row in rows.select_related("acknowledged_by")
        }
    return [tuple(replace(each, accepted=known.get(each.fingerprint)) for each in differences) for differences in found]


@transaction.atomic
def acknowledge(*, differences: Sequence[BlockingDifference], by: User, reason: str) -> list[Acknowledgement]:
    """Accept blocking differences, so that the verdicts are shown. Earlier acknowledgements are left unchanged.

    Raises Invalid naming the field (`reason`, `group`).
    """
    text = reason.strip()
    if not text or "\0" in text or len(text) > LONGEST_REASON:
        problem = f"must state in 1 to {LONGEST_REASON:,} characters why the sides are comparable"
        raise Invalid([FieldProblem("reason", problem)])
    if not differences:
        raise Invalid([FieldProblem("group", "these sides do not differ in this", "compare them without accepting")])
    made = []
    for each in differences:
        try:
            with transaction.atomic():
                made.append(
                    Acknowledgement.objects.create(
                        fingerprint=each.fingerprint,
                        group=each.group.value,
                        said=each.said,
                        reason=text,
                        acknowledged_by=by,
                    )
                )
        except IntegrityError:  # accepted already, perhaps at this moment
            continue
    if made:
        numbers = ", ".join(str(row.pk) for row in made)
        record(Action.ACKNOWLEDGEMENT_MAKE, f"acknowledgement {numbers}: {made[0].group}", after=text)
    return made


@transaction.atomic
def withdraw(*, acknowledgement: int, by: User, now: datetime) -> bool:
    """Withhold the verdicts again. False: no such acknowledgement is in force. The row is kept."""
    open_ones = Acknowledgement.objects.filter(pk=acknowledgement, withdrawn_at__isnull=True)
    won = open_ones.update(withdrawn_by=by, withdrawn_at=now) == 1
    if won:
        record(Action.ACKNOWLEDGEMENT_WITHDRAW, f"acknowledgement {acknowledgement}")
    return won
