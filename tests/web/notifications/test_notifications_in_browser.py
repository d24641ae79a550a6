"""A team subscribes in the browser, sends itself a test, and sees its answer come in."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django import Settings

from apps.notifications import deliver
from apps.notifications.models import Delivery
from tests.notifications.made import a_receiver
from tests.support.browser import follow
from tests.web.campaigns.test_campaigns_in_browser import no_broker, sign_in  # noqa: F401  a fixture of this module too

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_team_subscribes_and_sees_the_answer_to_its_test(browser_page: Page, settings: Settings) -> None:
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    page = browser_page
    sign_in(page)
    page.goto("/notifications/")
    follow(page.get_by_role("link", name="New team"))
    page.get_by_label("Name", exact=True).fill("storage")
    follow(page.get_by_role("button", name="Create team"))
    follow(page.get_by_role("link", name="Add subscription"))
    with a_receiver() as receiver:
        page.get_by_label("By", exact=True).select_option("webhook")
        page.get_by_label("Address", exact=True).fill(f"{receiver.url}/hook")
        page.get_by_label("Smallest size").fill("0.05")
        follow(page.get_by_role("button", name="Subscribe"))
        expect(page.get_by_role("main")).to_contain_text("The receiver needs the secret below")
        expect(page.get_by_label("Secret of a webhook")).not_to_have_value("")
        page.goto("/notifications/")
        expect(page.get_by_role("group", name="Subscriptions of storage")).to_contain_text("from 5 %")
        page.get_by_role("button", name="Send a test").click()
        deliveries = page.get_by_role("group", name="Deliveries", exact=True)
        expect(deliveries).to_contain_text("waiting")
        deliver.send(delivery_id=Delivery.objects.get().pk, now=timezone.now())
        # Without a reload: the table asks again while something waits.
        expect(deliveries).to_contain_text("200 OK: said by the receiver")
    page.set_viewport_size({"width": 390, "height": 844})
    for link in ("New subscription", "Edit team"):
        page.goto("/notifications/")
        follow(page.get_by_role("link", name=link))
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, link
