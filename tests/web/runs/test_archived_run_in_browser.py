"""The page of a run whose samples were moved to the archive, in Chromium: drawing a chart brings them back."""

from pathlib import Path

import pytest
from django.conf import settings
from django.test.utils import override_settings
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.core.stores import store_at
from apps.runs import archive
from apps.runs.models import ArchivedRun, Block
from tests.web.runs.recorded_runs import a_sealed_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_chart_of_a_moved_run_is_drawn_and_its_samples_are_here_again(browser_page: Page, tmp_path: Path) -> None:
    with override_settings(STORAGES=settings.STORAGES | {"archive": store_at(str(tmp_path))}):
        run = a_sealed_run()
        assert archive.archive(run_id=run.pk, now=timezone.now())
        assert archive.move(run_id=run.pk, now=timezone.now())
        browser_page.goto(f"/runs/{run.pk}/?tab=configuration")
        expect(browser_page.locator("[data-samples=moved]")).to_be_visible()
        expect(browser_page.locator("#chart-throughput .main-svg").first).to_be_visible()
        assert ArchivedRun.objects.get().moved_at is None
        assert not Block.objects.filter(data=None).exists()
        browser_page.reload()
        expect(browser_page.locator("[data-samples=archived]")).to_be_visible()
        expect(browser_page.locator("#chart-throughput .main-svg").first).to_be_visible()
