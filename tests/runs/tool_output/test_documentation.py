"""Every format of a submitted output stands in the documentation, as it is declared."""

import pytest

from apps.runs.tool_output import documentation
from apps.runs.tool_output.formats import SUBMITTED
from tests.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "formats.md"


def test_the_page_has_every_format_as_it_is_declared() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == documentation.with_entries(text), "run manage.py write_formats"


@pytest.mark.parametrize("name", SUBMITTED)
def test_each_format_says_what_is_read(name: str) -> None:
    one = SUBMITTED[name]
    assert one.facts
    assert one.facts.versions
    assert one.facts.reads
    assert one.facts.sample.startswith(("real", "imitated"))
