"""The generated part of docs/reference/formats.md: every format of a run's output, as it is declared. Pure."""

import re
from collections.abc import Iterable

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
    """Markdown: one table, in the order of the declarations."""
    return "\n".join([*HEAD, *(f"| {' | '.join(_cells(one))} |" for one in formats)])


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
