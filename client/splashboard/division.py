"""A file with the outputs of several runs of one tool, divided into them as `splashboard run` divides a stream.

What stands around its lines, such as the times of a log, remains in the parts: the server removes it from each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from splashboard import plain_text
from splashboard.failures import Misuse
from splashboard.wrap.outputs import OutputReader, ToolStretch

# Tools whose outputs are all of the same workload, apart from what is compared below.
DIVIDED = ("sysbench", "tpcc-mysql")
SYSBENCH_SECONDS = re.compile(rb"^ {4}(?:total time|time elapsed): +(\d+[.,]\d+)s\r?$", re.MULTILINE)
TPCC_SECONDS = re.compile(rb"^ *in (\d+) sec\.\r?$|^RAMP-UP TIME\.\((\d+) sec\.\)\r?$", re.MULTILINE)
TPCC_THREADS = re.compile(rb"^ *\[connection\]: (\d+)\r?$", re.MULTILINE)
RATE = re.compile(rb"^Target transaction rate: (\d+)/sec\r?$", re.MULTILINE)
# Statements of a transaction: other counts are another test.
STATEMENTS = re.compile(rb"^ {8}(read|write): +(\d+)\r?$", re.MULTILINE)
TRANSACTIONS = re.compile(rb"^ {4}transactions: +(\d+) ", re.MULTILINE)
SAME_TEST = 0.05  # share by which statements per transaction may differ, as errors and repeated transactions make them


@dataclass(frozen=True)
class DividedRun:
    """The output of one run, which begins in `line` of the file; `came`: with what stands around its lines."""

    line: int
    stretch: ToolStretch
    came: bytes

    @property
    def content(self) -> bytes:
        return self.stretch.content

    @property
    def seconds(self) -> float:
        """As its output states them; 0: it does not."""
        if self.stretch.format == "tpcc-mysql":
            return sum(float(one or other) for one, other in TPCC_SECONDS.findall(self.content))
        found = SYSBENCH_SECONDS.search(self.content)
        return float(found[1].replace(b",", b".")) if found else 0.0

    @property
    def load(self) -> tuple[object, object]:
        threads, rate = TPCC_THREADS.search(self.content), RATE.search(self.content)
        stated = int(threads[1]) if threads else self.stretch.threads
        return stated, int(rate[1]) if rate else None

    @property
    def statements(self) -> list[float]:
        """Reads and writes of a transaction; empty: not printed, or no transactions."""
        done = TRANSACTIONS.search(self.content)
        count = int(done[1]) if done else 0
        return [int(number) / count for _, number in STATEMENTS.findall(self.content)] if count else []


def parts(content: bytes, *, named: str | None) -> list[DividedRun]:
    """The runs of a file, if it has several of a tool that is divided; else empty: it is sent as it is.

    `named`: the format, if stated. Raises Misuse for runs of different workloads.
    """
    reader = OutputReader()
    starts = []
    file = plain_text.lines_of(content)
    for number, line in enumerate(file.plain, start=1):
        before = len(reader.stretches)
        reader.add(line, 0.0)
        if len(reader.stretches) > before:
            starts.append(number + 1 - len(reader.stretches[-1].lines))
    found = [
        DividedRun(line, each, file.part(line - 1, line - 1 + len(each.lines)))
        for line, each in zip(starts, reader.stretches)
        if each.is_run
    ]
    if len(found) < 2 or any(each.stretch.format not in DIVIDED for each in found):
        return []
    if named is not None and {each.stretch.kind for each in found} != {named}:
        return []
    _check(found)
    return found


def described(found: Sequence[DividedRun], description: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The description of each run: its repetition of its load, and where the ones before it ended. Raises Misuse."""
    if "uid" in description:
        raise Misuse(f"--uid: the file has {len(found)} runs, which need one each: leave it out")
    stated = description.get("started_at")
    begins = None if stated is None else _moment(stated)
    first, seen = description.get("repetition", 1), Counter[object]()
    if isinstance(first, bool) or not isinstance(first, int):
        raise Misuse(f"repetition: {first!r} is not a whole number")
    for part in found:
        own = {**description, "repetition": first + seen[part.load]}
        seen[part.load] += 1
        if begins is not None:
            own["started_at"] = begins.isoformat()
            begins += timedelta(seconds=part.seconds)
        yield own


def _check(found: Sequence[DividedRun]) -> None:
    first, seen = found[0], dict[bytes, int]()
    for part in found:
        if seen.setdefault(part.content.rstrip(), part.line) != part.line:
            line = seen[part.content.rstrip()]
            raise Misuse(f"the run that begins in line {part.line} is that of line {line} once more: a run counts once")
    for part in found[1:]:
        other = part.stretch.kind != first.stretch.kind or not _alike(first.statements, part.statements)
        if other:
            raise Misuse(
                f"the runs that begin in line {first.line} ({_words(first)}) and line {part.line} ({_words(part)}) are "
                "of different workloads: send the output of each by itself"
            )


def _alike(one: Sequence[float], other: Sequence[float]) -> bool:
    if not one or not other:
        return True
    return all(abs(a - b) <= SAME_TEST * max(a, b) for a, b in zip(one, other))


def _words(part: DividedRun) -> str:
    counts = part.statements
    mix = f", {counts[0]:.4g} reads and {counts[1]:.4g} writes a transaction" if len(counts) == 2 else ""
    return f"{part.stretch.kind}{mix}"


def _moment(stated: object) -> datetime:
    """Raises Misuse: without it all runs of the file would begin at once."""
    text = re.sub(r"([+-]\d\d)(\d\d)$", r"\1:\2", str(stated).replace("Z", "+00:00"))
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise Misuse(f"started_at: {str(stated)[:60]!r} is no time such as 2026-01-31T12:00:00Z") from error
