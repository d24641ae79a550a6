"""A whole output of each format: the file that is sent through the API, else the longest whole one of the fuzz corpus.

A new format has one by itself, since tests demand both of it.
"""

from apps.runs.tool_output.formats import DEFAULT, SUBMITTED, NotThisFormat, Submitted
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


def sample(name: str) -> bytes:
    if name == DEFAULT:
        return OUTPUT
    if name in FILES:
        return content(FILES[name][0])
    return max((text for text in corpus(name) if _is_whole(SUBMITTED[name], text)), key=len)


SAMPLES: dict[str, bytes] = {name: sample(name) for name in SUBMITTED}
