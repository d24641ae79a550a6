"""Words around numbers. Pure."""


def counted(count: int, noun: str, *, plural: str = "") -> str:
    """1 run; 1,200 runs. `plural` where an s does not make it."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
