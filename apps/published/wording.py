"""Text of a stated figure: qualifier, numbers with the stated digits, ratios as sentences. Pure.

A published figure never has an interval; NO_INTERVAL is shown in its place.
"""

from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Context
from typing import Any

from apps.core.units import NBSP, all_digits

NO_INTERVAL = "no interval stated"
WORDS = {"exact": "", "approx": "about", "at_least": "at least", "at_most": "at most", "": ""}
DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "neutral": "neither is better"}
# Units of plain numbers, which are not shown.
UNSPOKEN = {"", "count", "ratio"}
SPELLED = {"gb": "GB", "gib": "GiB", "kb": "kB", "vcpu": "vCPU", "iops": "IOPS", "mha": "MHA", "haproxy": "HAProxy"}
# The size that a compression ratio is the share of.
UNCOMPRESSED = "uncompressed"
# Sentence for a ratio of the metric; others: "{n} had {v} the {metric} of {d}".
RATIO_SENTENCES = {
    "execution_time": "{n} took {v} the time of {d}",
    "speedup": "{n} was {v} as fast as {d}",
    "response_time_saturation": "{n} had {v} the mean latency of {d}",
    "rows_inserted": "{n} inserted {v} the rows of {d}",
    "transactions": "{n} made {v} the transactions of {d}",
}


def number(*, value: float | None, low: float | None, high: float | None, qualifier: str, exact: bool = False) -> str:
    """Qualifier and number without unit: "about 18", "about 80 to 170"; empty if only a note is stated.

    An approximation below 1 has two digits, "about 0.33": three would overstate a third. `exact`: as in the file.
    """
    if qualifier == "approx" and value is not None and low is None and abs(value) < 1 and not exact:
        value = float(f"{value:.2g}")
    if low is not None and high is not None:
        span = f"{all_digits(low)} to {all_digits(high)}"
        text = span if value is None else f"{all_digits(value)} ({span})"
    elif value is not None:
        text = all_digits(value)
    else:
        return ""
    return f"{WORDS[qualifier]} {text}".strip()


def with_unit(text: str, unit: str) -> str:
    if unit == "ratio":
        return f"{text}{NBSP}\N{MULTIPLICATION SIGN}"
    return text if unit in UNSPOKEN or not text else f"{text}{NBSP}{unit}"


def ratio_digits(value: float, rounding: str = ROUND_HALF_EVEN) -> str:
    """Two significant digits, since articles state no more of a ratio: "0.11", "2.6", "14"."""
    return all_digits(float(Context(prec=2, rounding=rounding).create_decimal_from_float(value)))


def times(text: str) -> str:
    """ "about 3 ×" of "≈ 3"."""
    for sign, words in (("≈", WORDS["approx"]), ("≥", WORDS["at_least"]), ("≤", WORDS["at_most"])):
        text = text.replace(sign, words)
    return with_unit(text, "ratio")


def short(stated: str, unit: str) -> str:
    """An absolute figure where space is short: "≥ 120 s"."""
    for sign, words in (("≈", WORDS["approx"]), ("≥", WORDS["at_least"]), ("≤", WORDS["at_most"])):
        stated = stated.replace(words, sign)
    return with_unit(stated, unit)


def ratio_sentence(
    *, metric: str, metric_name: str, direction: str, numerator: str, denominator: str, stated: str
) -> str:
    """ "Aurora took about 3 × the time of PXC (execution time, lower is better)"; `stated`: from number()."""
    if metric == "compression_ratio" and numerator == UNCOMPRESSED:
        return f"{denominator} compresses {stated} : 1"
    pattern = RATIO_SENTENCES.get(metric, "{n} had {v} the {metric} of {d}")
    sentence = pattern.format(n=numerator, d=denominator, v=with_unit(stated, "ratio"), metric=metric_name)
    return f"{sentence} ({metric_name}, {DIRECTIONS[direction]})"


def conditions(given: Mapping[str, Any]) -> str:
    """ "threads 384; batch 50"; empty if none is stated."""
    return "; ".join(f"{label(key)} {plain(value)}" for key, value in given.items())


def label(key: str) -> str:
    """Words of a file's key: "memory GB" for "memory_gb"."""
    return " ".join(SPELLED.get(word, word) for word in key.split("_"))


def plain(value: Any) -> str:
    """Text of a stated setting: lists with commas, yes and no, numbers with thousands separators."""
    if isinstance(value, list):
        return ", ".join(plain(entry) for entry in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return all_digits(value)
    return str(value)


def of_which(parts: Mapping[str, float], unit: str) -> str:
    """ "of which 6 s proxy detection"; empty if no part is stated."""
    texts = [f"{with_unit(all_digits(value), unit)} {label(name)}" for name, value in parts.items()]
    return f"of which {', '.join(texts)}" if texts else ""
