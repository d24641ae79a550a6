"""Every time on a page says its zone: beside it, or in the heading of its table."""

import pytest
from django.test import Client

from tests.support.builders import a_user
from tests.support.pages import elements
from tests.web.shell import every_page


@pytest.fixture
def found(db: None) -> list[str]:
    return every_page.addresses()


def test_every_time_has_its_zone_beside_it_or_above_it(found: list[str], client: Client) -> None:
    client.force_login(a_user(username="ann", role="administrator"))
    seen, without = 0, []
    for address in found:
        html = client.get(address, follow=True).content.decode()
        headed = {
            time.attributes["datetime"]
            for table in elements(html, "table:has([data-zone-name])")
            for time in table.css("time[data-local]")
        }
        for time in elements(html, "time[data-local]"):
            seen += 1
            if not time.text().endswith(" UTC") and time.attributes["datetime"] not in headed:
                without.append(f"{address}: {time.text()}")
    assert seen > 30
    assert without == []
