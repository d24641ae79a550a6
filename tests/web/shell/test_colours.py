"""A platform has one colour on every page, whatever its place in a comparison."""

import re

import pytest
from django.test import Client

from apps.catalog import services as catalog
from apps.catalog.models import Platform
from apps.comparison.values import COLORS, tones
from tests.support.builders import a_load_level, a_measured_run, a_system, a_workload
from tests.support.pages import elements

PAGES = (
    "/",
    "/runs/",
    "/catalog/",
    "/compare/?side={}&side={}&workload={}&tab=differences",
    "/matrix/?side={}&side={}",
)


@pytest.mark.django_db
@pytest.mark.parametrize("order", [("pxc", "mha"), ("mha", "pxc")])
def test_every_chip_of_a_system_has_its_platforms_colour(client: Client, order: tuple[str, str]) -> None:
    catalog.seed()
    workload = a_workload("oltp_read_write")
    for slug in order:
        system = a_system(f"the-{slug}", platform=Platform.objects.get(slug=slug))
        for value in (100.0, 101.0, 102.0):
            a_measured_run({"client.throughput": value}, system=system, workload=workload, load_level=a_load_level(8))
    for address in PAGES:
        page = client.get(address.format(*(f"the-{slug}" for slug in order), workload.pk)).content.decode()
        shown = {
            (chip.text(strip=True), re.findall(r"\d+", chip.attributes.get("style") or "")[0])
            for chip in elements(page, ".chip[style]")
            if chip.text(strip=True).startswith("the-")
        }
        assert shown <= {("the-pxc", "1"), ("the-mha", "2")}, address
        assert len(shown) == 2 or address in ("/", "/catalog/")
        cards = [each.attributes["style"] for each in elements(page, ".compare-sides__side")]
        assert cards in ([], [f"--side: var(--side-{({'pxc': 1, 'mha': 2})[slug]})" for slug in order])


def test_a_second_system_of_a_platform_takes_another_tone_and_no_other_platforms_colour() -> None:
    assert tones([1, 2, 1, 1]) == [1, 2, 1 + COLORS, 1 + 2 * COLORS]
    assert tones([None, 0, None]) == [COLORS - 1, 0, 2 * COLORS - 1]
