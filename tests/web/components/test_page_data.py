"""What pages embed for their scripts: one type for an element, from which the front end's type is generated."""

import re

import pytest

from apps.web.page_data import PAGE_DATA, as_json
from apps.web.timeline.timeline import ChosenRun, ChosenSeries, TimelinePageData
from tests.paths import ROOT


def test_every_embedded_element_has_a_type_and_every_type_an_element() -> None:
    texts = [file.read_text() for file in (ROOT / "apps").rglob("*.html")]
    embedded = {element for text in texts for element in re.findall(r'\|page_data:"([^"]+)"', text)}
    assert embedded == set(PAGE_DATA)
    assert not [text for text in texts if "json_script" in text]


def test_it_is_written_field_by_field_as_its_type_says() -> None:
    data = TimelinePageData(
        series=[ChosenSeries(7, "client.throughput", "client", "run 7", tone=1, dash=0)],
        runs=[ChosenRun(7, "run 7")],
        align="run",
        totals=False,
        live=False,
    )
    assert as_json("timeline-data", data) == {
        "series": [{"run": 7, "metric": "client.throughput", "node": "client", "label": "run 7", "tone": 1, "dash": 0}],
        "runs": [{"id": 7, "label": "run 7"}],
        "align": "run",
        "totals": False,
        "live": False,
    }


def test_an_element_without_a_type_is_refused() -> None:
    with pytest.raises(KeyError):
        as_json("other-data", object())
