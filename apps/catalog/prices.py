"""Hardware prices: entered by hand with source and date, or of AWS's list, which has several for one class."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db import transaction

from apps.catalog.models import HardwareClass, System
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid

MOST_PER_HOUR = Decimal(100_000)
STEP = Decimal("0.00001")
LONGEST_SOURCE = 200
# Prices whose source begins so were not entered by hand.
AWS_LIST = "AWS price list, on demand"


@dataclass(frozen=True)
class HourlyPrice:
    """`usd`: None: not known."""

    usd: Decimal | None
    source: str
    date: date | None


def price_of(hardware: HardwareClass, system: System) -> HourlyPrice:
    """Of a machine of the class in the system: as entered by hand, else of the system's own engine, storage, deployment
    and region in AWS's list, else as the class has it."""
    own = system.aws_prices.get(hardware.instance_type) or system.aws_prices.get(hardware.slug)
    if own and (hardware.price_per_hour is None or hardware.price_source.startswith(AWS_LIST)):
        usd, asked_on = own["usd_per_hour"], date.fromisoformat(own["asked_at"][:10])
        return HourlyPrice(None if usd is None else Decimal(usd), own["source"] or own["kind"], asked_on)
    return HourlyPrice(hardware.price_per_hour, hardware.price_source, hardware.price_date)


def set_price(*, slug: str, usd_per_hour: Decimal | None, source: str, stated_on: date | None, today: date) -> bool:
    """Sets the price of a hardware class; `usd_per_hour` None removes it. Returns False for an unknown class.

    Raises Invalid for the fields `usd_per_hour`, `source` or `date`.
    """
    source = " ".join(source.split())
    errors = []
    if usd_per_hour is not None:
        if not (usd_per_hour.is_finite() and 0 <= usd_per_hour <= MOST_PER_HOUR):
            errors.append(FieldProblem("usd_per_hour", f"must be USD per hour, from 0 to {MOST_PER_HOUR:,}"))
        elif usd_per_hour != usd_per_hour.quantize(STEP):
            errors.append(FieldProblem("usd_per_hour", "must have at most 5 decimals"))
        if not source:
            errors.append(FieldProblem("source", "is missing: give the source of the price"))
        if stated_on is None:
            errors.append(FieldProblem("date", "is missing: give the day on which the source stated it"))
    if "\0" in source or len(source) > LONGEST_SOURCE:
        errors.append(FieldProblem("source", f"must be plain text of at most {LONGEST_SOURCE} characters"))
    if stated_on is not None and stated_on > today:
        errors.append(FieldProblem("date", "is in the future: use today or an earlier day"))
    if errors:
        raise Invalid(errors)
    known = usd_per_hour is not None
    with transaction.atomic():
        found = HardwareClass.objects.select_for_update().filter(slug=slug).first()
        if found is None:
            return False
        before = found.price_per_hour
        found.price_per_hour = usd_per_hour
        found.price_source = source if known else ""
        found.price_date = stated_on if known else None
        found.save(update_fields=["price_per_hour", "price_source", "price_date"])
        record(Action.PRICE_SET, f"hardware class {slug}", before=_text(before), after=_text(usd_per_hour))
    return True


def _text(price: Decimal | None) -> str:
    return "" if price is None else f"{price.normalize():f} USD/h"
