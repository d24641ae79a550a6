"""The matrix as an image, in Chromium: what is saved is what is seen."""

import base64
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_workload

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Sizes of two images, and the share of inked pixels that the other does not have, give or take a pixel and a shade.
COMPARED = """async ([seen, saved]) => {
  const pixels = async (data) => {
    const image = new Image();
    image.src = "data:image/png;base64," + data;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), {width: image.width, height: image.height});
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [one, other] = [await pixels(seen), await pixels(saved)];
  const width = Math.min(one.width, other.width) - 1, height = Math.min(one.height, other.height) - 1;
  const [paper] = [one, other].map((image) => image.data.slice(0, 3));
  const far = (x, y, u, v) => Math.max(...[0, 1, 2].map(
    (c) => Math.abs(one.data[4 * (y * one.width + x) + c] - other.data[4 * (v * other.width + u) + c])));
  let different = 0, inked = 0;
  for (let y = 1; y < height; y++) for (let x = 1; x < width; x++) {
    const here = 4 * (y * one.width + x);
    if (Math.max(...[0, 1, 2].map((c) => Math.abs(one.data[here + c] - paper[c]))) < 64) continue;
    inked++;
    if ([-1, 0, 1].every((dy) => [-1, 0, 1].every((dx) => far(x, y, x + dx, y + dy) > 64))) different++;
  }
  return {sizes: [one.width, one.height, other.width, other.height], different: different / inked, inked};
}"""


def _measured(sides: int) -> None:
    systems = [a_system(f"side-{number}", name=f"Side number {number}") for number in range(sides)]
    for test in ("oltp_read_only", "oltp_write_only"):
        for number, system in enumerate(systems):
            for repetition in range(3):
                at = START + timedelta(minutes=repetition)
                a_measured_run(
                    {"client.throughput": (1000 + 300 * number) * (1 + 0.01 * repetition)},
                    system=system,
                    workload=a_workload(test),
                    load_level=a_load_level(4),
                    repetition=repetition + 1,
                    started_at=at,
                    ended_at=at + timedelta(minutes=1),
                )


def _saved(page: Page, to: Path) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").click()
    download.value.save_as(to)
    return base64.b64encode(to.read_bytes()).decode()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_png_is_the_matrix_as_it_stands_on_the_screen(browser_page: Page, tmp_path: Path, scheme: str) -> None:
    _measured(3)
    browser_page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    browser_page.goto("/matrix/?side=side-0&side=side-1&side=side-2")
    figure = browser_page.locator("#matrix")
    expect(figure.locator(".matrix__cell--better")).to_have_count(4)
    saved = _saved(browser_page, tmp_path / "matrix.png")
    # The pointer away from the table: it shades the row below it.
    browser_page.mouse.move(0, 0)
    seen = base64.b64encode(figure.screenshot()).decode()
    found = browser_page.evaluate(COMPARED, [seen, saved])
    width, height, saved_width, saved_height = found["sizes"]
    assert abs(width - saved_width) <= 1
    assert abs(height - saved_height) <= 1
    assert found["inked"] > 2000
    assert found["different"] < 0.02


def test_the_png_of_a_matrix_that_scrolls_has_all_its_columns(browser_page: Page, tmp_path: Path) -> None:
    _measured(6)
    browser_page.set_viewport_size({"width": 390, "height": 800})
    browser_page.goto("/matrix/?" + "&".join(f"side=side-{number}" for number in range(6)))
    whole = browser_page.locator(".matrix__table").evaluate("table => table.scrollWidth")
    assert whole > 390
    saved = base64.b64decode(_saved(browser_page, tmp_path / "matrix.png"))
    assert int.from_bytes(saved[16:20], "big") >= whole
    # The page itself is as it was: nothing sticks out of the phone.
    assert browser_page.evaluate("document.documentElement.scrollWidth") == 390
