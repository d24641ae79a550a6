"""The states of a finding and which people may go where; docs/howto/findings.md has the table. Pure.

To `accepted` and back to `new` lead `reviewing.accept` and `reviewing.reopen`, which ask for more; `verify` is set by
the system alone, when what was found has gone.
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
    """One that is accepted can be accepted anew, with another reason or end."""
    return state in ("new", "under review", "confirmed", "accepted")


def may_reopen(state: str) -> bool:
    return state in ("accepted", "fixed", "not reproducible")
