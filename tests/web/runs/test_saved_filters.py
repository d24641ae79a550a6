"""A reader's own filters of the list of runs."""

import pytest
from django.test import Client

from apps.accounts.services import MOST_FILTERS
from tests.support.builders import a_run, a_system, a_user
from tests.support.pages import element, elements, states

pytestmark = pytest.mark.django_db
LIST = "/runs/"


def _reader(client: Client, name: str = "rita") -> Client:
    client.force_login(a_user(username=name, role="reader"))
    return client


def _save(client: Client, query: str, name: str = "mine") -> str:
    return str(client.post("/runs/filters/", {"query": query, "name": name}, follow=True).content.decode())


def test_a_filter_is_saved_under_a_name_and_offered_on_every_list(client: Client) -> None:
    a_run(system=a_system("small"))
    _reader(client)
    asked = "system=small&outcome=succeeded&sort=-throughput&before=1"
    assert elements(client.get(f"{LIST}?{asked}").content.decode(), ".saved-filters form [name=name]")
    saved = _save(client, asked)
    assert element(saved, "[data-filter=mine]").attributes["aria-current"] == "true"
    plain = client.get(LIST).content.decode()
    # In one spelling, without the page that was shown.
    address = f"{LIST}?system=small&outcome=succeeded&sort=-throughput"
    assert element(plain, "[data-filter=mine]").attributes["href"] == address
    assert not elements(plain, ".saved-filters form")  # nothing is set that could be saved


def test_the_applied_filter_can_be_removed(client: Client) -> None:
    _reader(client)
    saved = _save(client, "outcome=failed")
    assert element(saved, ".saved-filters [name=remove]").attributes["value"] == "mine"
    page = client.post("/runs/filters/", {"remove": "mine"}, follow=True).content.decode()
    assert elements(page, "[data-filter]") == []


def test_a_name_that_is_taken_replaces_its_filter(client: Client) -> None:
    _reader(client)
    _save(client, "outcome=failed")
    page = _save(client, "state=open")
    assert states(page, "[data-filter]", "filter") == [("mine",)]
    assert element(page, "[data-filter]").attributes["href"] == f"{LIST}?state=open"


def test_everybody_has_filters_of_their_own(client: Client) -> None:
    _save(_reader(client), "outcome=failed")
    other = _reader(Client(), "otto").get(LIST).content.decode()
    assert elements(other, "[data-filter]") == []


def test_strangers_sign_in_first_and_are_offered_nothing(client: Client) -> None:
    assert not elements(client.get(f"{LIST}?outcome=failed").content.decode(), ".saved-filters")
    answer = client.post("/runs/filters/", {"query": "outcome=failed", "name": "mine"})
    assert answer["Location"] == "/sign-in/?next=/runs/%3Foutcome%3Dfailed"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("outcome=failed", " "),
        ("outcome=failed", "n" * 61),
        ("", "mine"),
        ("outcome=none", "mine"),
        ("colour=blue", "mine"),
    ],
)
def test_what_cannot_be_saved_is_refused_with_a_word(client: Client, query: str, name: str) -> None:
    page = _save(_reader(client), query, name)
    assert elements(page, ".messages > *")
    assert elements(client.get(LIST).content.decode(), "[data-filter]") == []


def test_a_reader_keeps_a_bounded_number_of_filters(client: Client) -> None:
    _reader(client)
    for number in range(MOST_FILTERS + 1):
        _save(client, "outcome=failed", f"filter {number}")
    page = client.get(LIST).content.decode()
    assert len(elements(page, "[data-filter]")) == MOST_FILTERS


def test_an_address_without_a_form_leads_to_the_list(client: Client) -> None:
    assert client.get("/runs/filters/")["Location"] == LIST
