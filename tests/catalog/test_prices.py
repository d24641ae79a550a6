"""A price has a source and a day, in a page, by the API and from AWS's list alike."""

from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from rest_framework.test import APIClient

from apps.catalog import services
from apps.catalog.models import HardwareClass
from tests.support.builders import a_run, a_system, a_user
from tests.support.pages import element, elements

pytestmark = pytest.mark.django_db

PAGE, API = "/catalog/hardware/m5.xlarge/price/", "/api/v1/hardware-classes/m5.xlarge/price"
STATED = {"usd_per_hour": "0.192", "source": "our contract, storage included", "date": "2026-01-31"}


@pytest.fixture(autouse=True)
def box(db: None) -> None:
    HardwareClass.objects.create(slug="m5.xlarge", name="m5.xlarge", vcpu=4)


def kept() -> tuple[Any, ...]:
    hardware = HardwareClass.objects.get(slug="m5.xlarge")
    return hardware.price_per_hour, hardware.price_source, hardware.price_date


def test_an_engineer_states_a_price_in_the_catalog_and_everyone_reads_source_and_day(client: Client) -> None:
    client.force_login(a_user())
    assert client.post(PAGE, STATED).status_code == 302
    assert kept() == (Decimal("0.192"), STATED["source"], date(2026, 1, 31))
    client.logout()
    page = client.get("/catalog/").content.decode()
    assert "our contract, storage included" in page
    assert "as of 2026-01-31" in page
    assert PAGE not in page


def test_a_price_is_stated_from_the_page_that_lacks_it_and_leads_back(client: Client) -> None:
    client.force_login(a_user())
    hardware = HardwareClass.objects.get()
    run = a_run(system=a_system(hardware_class=hardware))
    here = f"/runs/{run.pk}/?tab=configuration"
    link = element(client.get(here).content.decode(), "[data-price]").attributes["href"]
    assert link == f"{PAGE}?next={quote(here, safe='')}"
    form = client.get(link).content.decode()
    assert element(form, "[name=next]").attributes["value"] == here
    assert client.post(PAGE, STATED | {"next": here}).headers["Location"] == here
    assert not elements(client.get(here).content.decode(), "[data-price]")


@pytest.mark.parametrize("elsewhere", ["https://elsewhere.example/", "//elsewhere.example", "javascript:alert(1)"])
def test_a_price_leads_back_to_no_other_site(client: Client, elsewhere: str) -> None:
    client.force_login(a_user())
    assert elsewhere not in client.get(PAGE, {"next": elsewhere}).content.decode()
    assert client.post(PAGE, STATED | {"next": elsewhere}).headers["Location"] == "/catalog/#hardware"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("source", " ", "give the source of the price"),
        ("date", "", "give the day on which"),
        ("date", "9999-12-31", "in the future"),
        ("usd_per_hour", "-1", "from 0 to 100,000"),
        ("usd_per_hour", "0.123456", "at most 5 decimals"),
        ("usd_per_hour", "a lot", "write USD per hour"),
    ],
)
def test_a_price_without_sense_is_refused_beside_its_field(client: Client, field: str, value: str, said: str) -> None:
    client.force_login(a_user())
    answer = client.post(PAGE, STATED | {field: value})
    assert answer.status_code == 422
    assert said in answer.content.decode().split(f'id="{field}-error"')[1].split("</span>")[0]
    assert kept() == (None, "", None)


def test_an_empty_price_takes_the_one_that_was_away(client: Client) -> None:
    client.force_login(a_user())
    client.post(PAGE, STATED)
    client.post(PAGE, STATED | {"usd_per_hour": ""})
    assert kept() == (None, "", None)


def test_readers_state_no_prices(client: Client) -> None:
    assert client.post(PAGE, STATED).status_code == 302  # to sign in
    client.force_login(a_user(role="reader"))
    assert client.post(PAGE, STATED).status_code == 403
    assert kept() == (None, "", None)


def test_the_api_takes_and_shows_price_source_and_day() -> None:
    api = APIClient()
    assert api.put(API, STATED, format="json").status_code in (401, 403)
    api.force_authenticate(a_user())
    answer = api.put(API, STATED, format="json")
    assert answer.status_code == 200, answer.data
    assert (answer.data["usd_per_hour"], answer.data["price_date"]) == ("0.19200", "2026-01-31")
    refused = api.put(API, STATED | {"date": None}, format="json")
    assert (refused.status_code, refused.data["errors"][0]["field"]) == (422, "date")
    assert api.put(API.replace("m5", "m6"), STATED, format="json").status_code == 404


def test_prices_of_the_seed_are_as_of_the_day_of_their_article() -> None:
    services.seed()
    priced = HardwareClass.objects.filter(price_per_hour__isnull=False)
    assert {row.price_date for row in priced} == {date(2018, 8, 20)}
