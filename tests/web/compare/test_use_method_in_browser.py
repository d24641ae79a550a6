"""What limits the sides, as a reader of Compare meets it."""

import pytest
from playwright.sync_api import Page, expect

from apps.catalog.models import Workload
from tests.web.compare.test_use_method import workload  # noqa: F401  a fixture

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_answer_says_what_limits_the_sides_without_a_scroll_and_leads_to_the_evidence(
    browser_page: Page,
    workload: Workload,  # noqa: F811
) -> None:
    browser_page.goto(f"/compare/?side=a&side=b&workload={workload.pk}")
    headline = browser_page.locator("[data-limit-of=a]")
    expect(headline).to_contain_text("CPU")
    expect(browser_page.locator("[data-tab=limits] [data-mark]")).to_have_text("●")
    headline.click()
    expect(browser_page.get_by_role("heading", name="Limits", exact=True)).to_be_visible()
    memory = browser_page.locator('#use tbody[data-resource="memory"]')
    expect(memory).to_be_hidden()
    browser_page.get_by_label("Quiet resources too").check()
    expect(memory).to_be_visible()
