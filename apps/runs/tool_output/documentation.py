"""The generated part of docs/reference/formats.md: every format of a run's output, as it is declared. Pure."""

import re
from collections.abc import Iterable, Iterator

from apps.catalog.pure import rewritten
from apps.runs.tool_output.declaration import Submitted
from apps.runs.tool_output.formats import SUBMITTED
from workers.protocol.workloads import WORKLOADS
from workers.protocol.workloads.declaration import REQUIRED
from workers.protocol.workloads.foreign import FOREIGN

BEGIN = "<!-- formats: written by manage.py write_formats -->"
END = "<!-- end of formats -->"
SPECS = {**FOREIGN, **WORKLOADS}
HEAD = (
    "| `format` | tool, versions | recognised by | real or imitated | read | not read | required parameters |",
    "|---|---|---|---|---|---|---|",
)


def with_entries(text: str) -> str:
    """`text` with the table between its two markers regenerated. Raises ValueError when a marker is missing."""
    return rewritten(text, begin=BEGIN, end=END, entries=entries(SUBMITTED.values()))


def entries(formats: Iterable[Submitted]) -> str:
    """Markdown: one table, in the order of the declarations, and which of them have decimal commas."""
    all_ = tuple(formats)
    return "\n".join([*HEAD, *(f"| {' | '.join(_cells(one))} |" for one in all_), "", *_commas(all_)])


def _commas(formats: Iterable[Submitted]) -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for one in formats:
        if one.facts and one.facts.commas:
            names.setdefault(one.facts.commas, []).append(f"`{one.name}`")
    yield "Decimals are points or, where this stands, commas:"
    yield ""
    yield from (f"- {', '.join(found)}: {where}." for where, found in names.items())
    yield ""
    yield "The other formats have points in every locale; a comma within a number of theirs is not read as decimal."


def _cells(one: Submitted) -> tuple[str, ...]:
    facts = one.facts
    stated = (facts.versions, facts.sample, facts.reads, facts.omits) if facts else ("", "", "", "")
    versions, sample, reads, omits = stated
    words = re.sub(r"([|*])", r"\\\1", one.mark.words) if one.mark else "not recognised: state it"
    return f"`{one.name}`", versions, words, sample, reads, omits, _required(one.tool)


def _required(tool: str) -> str:
    spec = SPECS.get(tool)
    needed = [one.name for one in spec.parameters if one.default is REQUIRED] if spec else []
    return ", ".join(f"`{name}`" for name in needed)
