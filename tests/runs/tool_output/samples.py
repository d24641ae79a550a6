"""A whole output of each format: the file that is sent through the API, else the longest whole one of the fuzz corpus.

A new format has one by itself, since tests demand both of it.
"""

from apps.core import yaml_text
from apps.runs.tool_output.formats import (
    ATTACHED,
    DEFAULT,
    OWN,
    SUBMITTED,
    Attached,
    BadMapping,
    NotThisFormat,
    Submitted,
    mapped,
)
from tests.fuzz import seeds
from tests.fuzz.targets import STARTED
from tests.fuzz.test_corpus import corpus
from tests.rest.framework.test_other_formats import FILES
from tests.runs.tool_output.parsers.outputs import content
from tests.runs.uploads import OUTPUT


def _is_whole(chosen: Submitted, text: bytes) -> bool:
    try:
        output = chosen.read(text).output
    except NotThisFormat:
        return False
    return output.complete and not output.unparsed


def _is_table(chosen: Attached, text: bytes) -> bool:
    try:
        table = chosen.read(text)
    except NotThisFormat:
        return False
    return bool(table.rows) and not table.unparsed and text.isascii()


def _by_mapping() -> tuple[Submitted, bytes]:
    """The longest whole CSV of one's own with a series, and how it is read."""
    found = []
    for mapping, _, text in (each.partition(b"\n---\n") for each in corpus(OWN)):
        try:
            chosen = mapped(yaml_text.load_with_lines(mapping, aliases=False)[0], STARTED)
        except (BadMapping, yaml_text.NotYaml):
            continue
        if _is_whole(chosen, text) and chosen.read(text).output.intervals:
            found.append((chosen, text))
    return max(found, key=lambda each: len(each[1]))


def sample(name: str) -> bytes:
    if name == DEFAULT:
        return OUTPUT
    if name == OWN:
        return _by_mapping()[1]
    if name in FILES:
        return content(FILES[name][0])
    return max((text for text in corpus(name) if _is_whole(SUBMITTED[name], text)), key=len)


SAMPLES: dict[str, bytes] = {name: sample(name) for name in SUBMITTED}
# Each format, that of one's own by a mapping.
READ: dict[str, Submitted] = {**SUBMITTED, OWN: _by_mapping()[0]}
ATTACHMENTS: dict[str, bytes] = {
    name: max((text for text in seeds.of(name) if _is_table(chosen, text)), key=len)
    for name, chosen in ATTACHED.items()
}
