"""How many bytes of raw files each sender may store: an allowance that refills evenly over a day.

In PostgreSQL, so that all web processes count together, and counted in the transaction that stores the file: what is
refused or undone takes nothing.
"""

import math

from django.conf import settings
from django.db import connection

from apps.core.audit.api import current_actor
from apps.core.units import format_bytes

DAY = 24 * 3600  # s
SECONDS_A_TURN = 60  # a sender that has to wait for less is not asked to come back sooner
CHARGE = """
INSERT INTO runs_allowance AS held (sender, used, counted_at) VALUES (%(sender)s, %(size)s, now())
ON CONFLICT (sender) DO UPDATE SET
    used = greatest(0, held.used - extract(epoch FROM now() - held.counted_at) * %(rate)s) + excluded.used,
    counted_at = now()
RETURNING used
"""


class QuotaExceeded(Exception):
    """`what`: the limit and the sender; `wait`: s until the same file may be stored."""

    def __init__(self, what: str, wait: int) -> None:
        super().__init__(f"more than {what}; send the same again in {wait} s")
        self.what, self.wait = what, wait


def charge(size: int) -> None:
    """Count `size` bytes for who acts now; commands are not limited. Call it in the transaction that stores them.
    Raises QuotaExceeded."""
    actor = current_actor()
    most = settings.UPLOADS_A_DAY
    if not most or actor.kind == "command":
        return
    rate = most / DAY
    sender = f"{actor.kind} {actor.who}"[:200]
    with connection.cursor() as cursor:
        cursor.execute(CHARGE, {"sender": sender, "size": size, "rate": rate})
        used = float(cursor.fetchone()[0])
    if used > most:
        wait = max(SECONDS_A_TURN, math.ceil((used - most) / rate))
        raise QuotaExceeded(f"{format_bytes(most)} of raw files a day of {sender}", wait)
