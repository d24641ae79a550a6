"""The CPUs on which a system of the lab runs, so that the load generator can have others."""

import os
import re
from pathlib import Path

from lab.packages import LabError

ALL = "all"
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def numbers(text: str) -> frozenset[int]:
    """CPUs of a list such as `0,2-3`, as taskset writes it; `all` is empty. LabError: no such list, or no such CPU."""
    if text == ALL:
        return frozenset()
    found: set[int] = set()
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if not match:
            raise LabError(f"--cpus {text}: write CPUs as 0 or 0,2-3, or {ALL}")
        first = int(match[1])
        found |= set(range(first, int(match[2] or first) + 1))
    count = os.cpu_count() or 1
    if max(found) >= count:
        raise LabError(f"--cpus {text}: this machine has the CPUs 0 to {count - 1}")
    return frozenset(found)


def keep(var: Path, slug: str, text: str) -> None:
    """Remembers the CPUs of a system. Raises LabError."""
    file, wanted = _file(var, slug), numbers(text)
    file.parent.mkdir(parents=True, exist_ok=True)
    if wanted:
        file.write_text(text)
    else:
        file.unlink(missing_ok=True)


def kept(var: Path, slug: str) -> str:
    """As given to `keep`; empty: all CPUs."""
    try:
        return _file(var, slug).read_text()
    except FileNotFoundError:
        return ""


def restrict(var: Path, slug: str) -> None:
    """Restricts this process, and with it what it starts from now on, to the system's CPUs."""
    text = kept(var, slug)
    os.sched_setaffinity(0, numbers(text) if text else range(os.cpu_count() or 1))


def _file(var: Path, slug: str) -> Path:
    return var / "lab" / f"{slug}.cpus"
