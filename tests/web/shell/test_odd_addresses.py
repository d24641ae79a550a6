"""Whatever an address holds, a page answers; it never fails for it."""

import pytest
from django.test import Client

from tests.support.builders import a_system
from tests.support.pages import data

LONG = "9" * 5000  # more digits than Python reads
PLAN = "/campaigns/new/size/?systems=a&test=oltp_insert&repetitions=1"


@pytest.mark.parametrize(
    "address",
    [
        f"/campaigns/?before={LONG}",
        f"/campaigns/?before={2**63}",
        f"/runs/?before={LONG}",
        "/runs/?text=%00",
        "/runs/?until=9999-12-31",
        f"/compare/?workload={LONG}&side=a&side=b",
        f"/compare/?runs={LONG}",
        f"/compare/?workload={2**63}",
        "/compare/?side=a%00&side=b",
        "/comparisons/?text=%00",
        f"/comparisons/?before={LONG}",
        f"/comparisons/a/?snapshot={LONG}",
        f"/timeline/?series={'1'.zfill(5000)}:client.throughput:client",
        "/search/?q=%00",
        "/search/?q=a%00b",
        "/catalog/?text=%00",
        "/catalog/?resource=%00",
        "/catalog/?aspect=%00&direction=%00",
        "/published/?platform=%00&article=%00&question=%00",
        "/findings/?text=%00",
        f"/findings/?after={LONG}",
        f"/findings/{2**70}/",
        "/findings/1/?change=%00&owner=%00",
        "/releases/?platform=%00",
        "/releases/mariadb/%00/",
        "/releases/mariadb/10.11.19/?hardware=%00&baseline=%00",
        "/badge/mariadb/%00.svg",
        "/badge/mariadb/10.11.19.svg?hardware=%00",
        f"{PLAN}&threads={LONG}&warmup=0&duration=1",
        f"{PLAN}&threads=1&warmup=1e308&duration=1e308",
    ],
    ids=lambda address: address[:40],
)
def test_odd_address_is_answered(db: None, client: Client, address: str) -> None:
    a_system(slug="a")
    assert client.get(address).status_code < 500


@pytest.mark.parametrize(
    "page",
    [
        *("runs", "timeline", "compare", "matrix", "claims", "comparisons", "published/figures", "failovers"),
        *("schema-changes", "findings", "releases", "trends", "trends/series", "campaigns", "schedules", "catalog"),
        *("search", "help/search"),
    ],
)
def test_an_unknown_parameter_is_refused_with_a_word(db: None, client: Client, page: str) -> None:
    answer = client.get(f"/{page}/?colour=blue")
    assert answer.status_code == 400
    assert data(answer.content.decode(), "field") == ["colour"]


@pytest.mark.parametrize(
    ("address", "field"),
    [
        ("/releases/?platform=oracle", "platform"),
        ("/catalog/?resource=oracle", "resource"),
        ("/schedules/?archived=maybe", "archived"),
        ("/campaigns/?before=last", "before"),
    ],
)
def test_an_unknown_value_of_a_filter_is_refused(db: None, client: Client, address: str, field: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 400
    assert data(answer.content.decode(), "field") == [field]


@pytest.mark.parametrize("address", ["/catalog/", "/published/", "/runs/", "/compare/"])
def test_pages_that_only_show_take_no_post(db: None, client: Client, address: str) -> None:
    assert client.post(address).status_code == 405
