"""Numbers for display: three significant digits, thousands separators, unit.

Rounding happens here and nowhere else. A missing value is shown as "not observed", never as blank or zero.
"""

import math

NOT_OBSERVED = "not observed"
# No line break between a number and its unit.
NBSP = "\u00a0"
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Units of whole numbers; means of them may still have decimals.
COUNTS = frozenset(
    {
        *("errors", "transactions", "queries", "statements", "calls", "connections", "threads", "events", "requests"),
        *("pages", "rows", "reads", "writes", "fsyncs", "waits", "deadlocks", "packets", "messages", "faults"),
        *("misses", "passes", "switches", "tasks", "tables", "nodes", "groups", "processes", "write sets", "CPUs"),
        *("reconnects", "runs", "jobs", "count", "tries"),
    }
)
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def format_number(value: float | None, digits: int = 3, unit: str = "") -> str:
    """`value` to `digits` significant digits, thousands separated; outside 1e-4..1e15 in powers of ten.

    `unit` is not printed; whole numbers of a unit in COUNTS have no decimals.
    """
    if value is None or math.isnan(value):
        return NOT_OBSERVED
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    mantissa, exponent = _rounded(value, digits)
    if exponent < -4 or exponent >= 15:
        return f"{mantissa:.{digits - 1}f}{NBSP}×{NBSP}10{str(exponent).translate(_SUPERSCRIPT)}"
    decimals = 0 if unit in COUNTS and value == int(value) else max(digits - 1 - exponent, 0)
    return f"{float(f'{mantissa}e{exponent}'):,.{decimals}f}"


def _rounded(value: float, digits: int) -> tuple[float, int]:
    """Mantissa and decimal exponent after rounding: 999.7 to 3 digits is (1.0, 3)."""
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    return float(mantissa), int(exponent)


def as_printed(value: float | None, unit: str) -> str:
    """`value` with the digits its tool printed: counts whole, measurements with two to four decimals."""
    text = all_digits(value)
    if value is None or not math.isfinite(value) or unit in COUNTS or "e" in text:
        return text
    whole, _, decimals = text.partition(".")
    if len(decimals) > 4 and abs(value) >= 1:
        # Computed from a tool's output, or printed by a tool that does not round.
        return f"{value:,.4f}"
    return f"{whole}.{decimals:0<2}"


def all_digits(value: float | None) -> str:
    """`value` unrounded, for example for the tooltip of a rounded number."""
    if value is None or math.isnan(value):
        return NOT_OBSERVED
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,}" if 1e-4 <= abs(value) < 1e15 else repr(value)


def with_unit(value: float | None, unit: str, digits: int = 3) -> str:
    """`value` with its unit; bytes in binary multiples; "not observed" without a unit."""
    text = format_number(value, digits, unit)
    if value is None or math.isnan(value) or not unit:
        return text
    if unit == "bytes":
        return format_bytes(value, digits)
    if unit == "bytes/s":
        return f"{format_bytes(value, digits)}/s"
    return f"{text}{NBSP}{unit}"


def format_bytes(value: float | None, digits: int = 3) -> str:
    """`value` bytes in the binary multiple with one to four digits before the point."""
    if value is None or math.isnan(value):
        return NOT_OBSERVED
    power = 0
    while abs(value) >= 1024 and power < len(_BINARY) - 1:
        value /= 1024
        power += 1
    text = f"{value:,.0f}" if power == 0 and value == int(value) else format_number(value, digits)
    return f"{text}{NBSP}{_BINARY[power]}"


def format_duration(seconds: float | None) -> str:
    """`seconds` in at most two units: 350 ms, 4.20 s, 1 min 30 s, 2 h 5 min, 3 d 4 h."""
    if seconds is None or math.isnan(seconds):
        return NOT_OBSERVED
    if math.isinf(seconds):
        return "∞" if seconds > 0 else "-∞"
    size = abs(seconds)
    if 0 < size < 1:
        return f"{format_number(seconds * 1000)}{NBSP}ms"
    if size < 60:
        text = f"{int(seconds)}" if seconds == int(seconds) else format_number(seconds)
        return f"{text}{NBSP}s"
    sign = "-" if seconds < 0 else ""
    for length, name, part, part_name in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        parts = round(size / part)
        if parts * part >= length:
            whole, rest = divmod(parts, length // part)
            return f"{sign}{whole}{NBSP}{name}" + (f" {rest}{NBSP}{part_name}" if rest else "")
    return f"{sign}{round(size)}{NBSP}s"


def format_estimate(seconds: float | None) -> str:
    """An estimate in `seconds`: whole below 10, in steps of 5 below a minute, at least 1."""
    if seconds is None or not math.isfinite(seconds):
        return format_duration(seconds)
    step = 5 if 10 <= seconds < 60 else 1
    return format_duration(max(1, step * round(seconds / step)))
