"""States of a finding and the transitions open to people; docs/howto/findings.md has the table. Pure.

`review.accept` sets `accepted` and `review.reopen` sets `new`, with further arguments; `verify` is set by the system
alone, when all changes are gone.
"""

from collections.abc import Mapping

NEXT: Mapping[str, tuple[str, ...]] = {
    "new": ("under review", "confirmed", "not reproducible", "fixed"),
    "under review": ("new", "confirmed", "not reproducible", "fixed"),
    "confirmed": ("under review", "not reproducible", "fixed"),
    "accepted": ("under review", "confirmed", "fixed"),
    "verify": ("under review", "confirmed", "fixed", "not reproducible"),
    # Closed: only opened again.
    "fixed": (),
    "not reproducible": (),
}


def may_accept(state: str) -> bool:
    """An accepted finding can be accepted again, with another reason or end date."""
    return state in ("new", "under review", "confirmed", "accepted")


def may_reopen(state: str) -> bool:
    return state in ("accepted", "fixed", "not reproducible")
