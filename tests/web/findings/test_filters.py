"""Filters of the list of findings, changed on the page."""

import pytest
from django.test import Client

from tests.support.pages import element, elements
from tests.web.findings.found import a_finding

pytestmark = pytest.mark.django_db


def test_another_filter_brings_its_answer_and_its_links(engineer: Client) -> None:
    finding = a_finding()
    part = engineer.get("/findings/?verdict=better", headers={"HX-Request": "true"}).content.decode()
    head = element(part, "#findings-head[hx-swap-oob]")
    assert finding.title not in head.css("[data-answer]")[0].text()
    filtered = [link.text() for link in head.css("a") if "verdict=better" in (link.attributes["href"] or "")]
    assert filtered == ["Notify a team", "Feed", "JSON"]
    whole = engineer.get("/findings/").content.decode()
    assert len(elements(whole, "#findings-head:not([hx-swap-oob])")) == 1
