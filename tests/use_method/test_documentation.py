"""docs/reference/use-method.md has every resource as the table declares it; every indicator is explained in full."""

import pytest

from apps.use_method import documentation
from apps.use_method.indicators import Indicator
from apps.use_method.levels import HOLD, SHARE
from apps.use_method.resource_table import INDICATORS, RESOURCES
from tests.paths import DOCS

PAGE = DOCS / "reference" / "use-method.md"


def test_the_page_has_every_resource_as_it_is_declared() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == documentation.with_entries(text), "run manage.py write_use_method"


def test_the_page_quotes_how_long_a_limit_must_be_passed() -> None:
    text = " ".join(PAGE.read_text().split())
    assert f"for {SHARE * 100:g} % of the observed time" in text
    assert f"for {HOLD:g} seconds in a row" in text


@pytest.mark.parametrize("indicator", INDICATORS.values(), ids=INDICATORS)
def test_every_indicator_says_formula_reason_literature_and_sources(indicator: Indicator) -> None:
    for field in ("title", "formula", "reason", "literature"):
        assert getattr(indicator, field).strip(), field
    assert indicator.sources
    assert all(indicator.sources.values())


def test_keys_are_named_after_their_resource_and_are_there_once() -> None:
    keys = [indicator.key for resource in RESOURCES for indicator in resource.indicators]
    assert len(keys) == len(set(keys)) == len(INDICATORS)
    assert len({resource.key for resource in RESOURCES}) == len(RESOURCES)
    assert [resource.key for resource in RESOURCES if not resource.question.endswith("?")] == []
