"""The clock of a load tool: its second 0 on the run's clock, from the times at which its lines were read. Pure."""

import re
from collections.abc import Sequence

# An interval in sysbench's output and in the report format.
INTERVAL_LINE = re.compile(r'\[ (\d+)s \] |\{"kind": ?"interval", ?"t": ?(\d+(?:\.\d+)?),')
BEGIN_LINE = re.compile(r'\{"kind": ?"begin"')
STATED = re.compile(r'\{"kind": ?"begin".*"monotonic": ?(\d+(?:\.\d+)?)')
# A line is never read before it was printed, so the earliest ones are right; but sysbench rounds its seconds, and one
# printed late may be rounded up.
ROUNDED_UP = 0.1  # share of the lines


def second_of(line: str) -> float | None:
    """Time of an interval's line, s on the tool's clock; None: any other line."""
    found = INTERVAL_LINE.match(line)
    return float(found[1] or found[2]) if found else None


def stated(line: str) -> float | None:
    """Second 0 by the host's monotonic clock, where the line that begins a report states it."""
    found = STATED.match(line)
    return float(found[1]) if found else None


def origin(lines: Sequence[tuple[float, float]]) -> float | None:
    """Second 0 on the clock by which lines were read. `lines`: of intervals, when read and what they state, s. None:
    no lines."""
    early = sorted(read - second for read, second in lines)
    return early[int(ROUNDED_UP * len(early))] if early else None
