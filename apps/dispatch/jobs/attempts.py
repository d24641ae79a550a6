"""Attempts of a job, and why each ended, as one text: "attempts 1 to 2: A; attempt 3: B". Pure."""

import re
from itertools import groupby

MAX_ATTEMPTS = 3
LONGEST_REASON = 600  # characters, of each attempt; tools report errors at the beginning or at the end
HEAD = re.compile(r"(?:^|; )attempts? (\d+)(?: to (\d+))?: ")


def with_reason(known: str, reason: str, *, attempt: int) -> str:
    """`known` with the reason of `attempt`: a later one replaces an earlier one of the same attempt, and equal ones of
    attempts in succession are said once."""
    if len(reason) > LONGEST_REASON:
        reason = f"{reason[: LONGEST_REASON // 2]} … {reason[-LONGEST_REASON // 2 :]}"
    before, *parts = HEAD.split(known)
    reasons: dict[int, str] = {}
    for first, last, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        reasons |= dict.fromkeys(range(int(first), min(int(last or first), MAX_ATTEMPTS) + 1), text)
    reasons = {number: text for number, text in reasons.items() if number < attempt} | {attempt: reason}
    found = [before] if before else []
    for text, alike in groupby(sorted(reasons), key=reasons.__getitem__):
        numbers = list(alike)
        many = len(numbers) > 1
        found.append(f"attempt{'s' if many else ''} {numbers[0]}{f' to {numbers[-1]}' if many else ''}: {text}")
    return "; ".join(found)
