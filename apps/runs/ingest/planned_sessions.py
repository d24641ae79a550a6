"""Names of the sessions that campaigns plan, which their runs keep where submitted ones keep a stated name. Pure."""

import re

_PLANNED = re.compile(r"campaign \d+, session (\d+)")


def session_name(*, campaign: int, session: int) -> str:
    return f"campaign {campaign}, session {session}"


def planned_number(name: str) -> int | None:
    """Of the campaign's sessions, counted from 1; None: no campaign planned it."""
    found = _PLANNED.fullmatch(name)
    return int(found[1]) if found else None
