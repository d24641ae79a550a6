"""The page that plans a campaign from a file: chosen or typed, checked or begun."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.dispatch.models import Campaign
from tests.dispatch.campaigns.test_file import WHOLE
from tests.support.builders import a_system, a_user
from tests.support.pages import elements, states, text

ADDRESS = "/campaigns/file/"
pytestmark = pytest.mark.usefixtures("enqueued")


def test_strangers_sign_in_first_and_readers_may_not(db: None, client: Client) -> None:
    assert client.get(ADDRESS).headers["Location"] == f"/sign-in/?next={ADDRESS}"
    client.force_login(a_user(role="reader"))
    assert [client.get(ADDRESS).status_code, client.post(ADDRESS, {"text": WHOLE}).status_code] == [403, 403]


@pytest.mark.parametrize("as_file", [True, False])
def test_a_file_or_a_text_becomes_a_campaign(engineer: Client, enqueued: list[str], as_file: bool) -> None:
    a_system("a"), a_system("b")
    file = SimpleUploadedFile("plan.yaml", WHOLE.encode())
    sent: dict[str, Any] = {"file": file, "text": "something else"} if as_file else {"text": WHOLE}
    answer = engineer.post(ADDRESS, sent)
    campaign = Campaign.objects.get()
    assert answer.headers["Location"] == f"/campaigns/{campaign.pk}/"
    assert campaign.created_by is not None
    assert (campaign.created_by.username, campaign.entries.count()) == ("ann", 4)
    assert enqueued == ["workers.tasks.match_jobs"]


def test_check_only_says_the_size_and_keeps_the_text(engineer: Client) -> None:
    a_system("a"), a_system("b")
    page = engineer.post(ADDRESS, {"text": WHOLE, "check": "1"}).content.decode()
    assert states(page, "[data-checked]", "jobs", "runs") == [("14", "42")]
    assert "storm: {base: 8" in text(page, "#id_text")
    assert not Campaign.objects.exists()


def test_everything_that_is_wrong_is_said_with_its_line_and_the_text_is_kept(engineer: Client) -> None:
    a_system("a"), a_system("b")
    page = engineer.post(ADDRESS, {"text": WHOLE.replace("repetitions: 2", "repetitions: <b>")})
    assert page.status_code == 422
    html = page.content.decode()
    assert states(html, "[data-problems] [data-field]", "field") == [("repetitions",)]
    assert "repetitions: <b>" in text(html, "#id_text")
    assert not Campaign.objects.exists()
    assert engineer.post(ADDRESS, {"file": SimpleUploadedFile("x", b"\xff\xfe\x00" * 200_000)}).status_code == 422


def test_the_page_begins_with_an_example_that_is_right(engineer: Client) -> None:
    a_system("mariadb-flush1"), a_system("mariadb-flush2")
    example = engineer.get(ADDRESS).context["text"]
    assert elements(engineer.post(ADDRESS, {"text": example, "check": "1"}).content.decode(), "[data-checked]")
