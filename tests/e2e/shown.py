"""Holds what Compare, Matrix and the API show against numbers computed anew."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Locator, Page, expect

from tests.e2e import numbers
from tests.e2e.numbers import Readings
from tests.support.waiting import LIMIT

ASKED = ("client.throughput", "client.latency.p95")
PERCENTILES = (50, 90, 95, 99)


def check_compare(page: Page, readings: Readings, *, tool: str) -> None:
    """The answer's table and the merged percentiles below it."""
    rows = page.locator("#results tr[data-side]").all()
    baseline = rows[0].get_attribute("data-side") or ""
    checked = 0
    for row in rows:
        side, threads = row.get_attribute("data-side") or "", int(row.get_attribute("data-level") or "")
        for metric in ASKED:
            own = numbers.values_of(readings[side, threads], metric)
            cell = row.locator(f"td[data-metric='{metric}']")
            where = f"{metric} of {side} at {threads} threads"
            assert numbers.shows(_numbers(cell)[0], numbers.geometric_mean(own)), where
            if side == baseline:
                continue
            ratio = row.locator(f"td[data-metric='{metric}'] + td")
            base = numbers.values_of(readings[baseline, threads], metric)
            wanted = numbers.expected(base, own, metric=metric, tool=tool)
            if wanted is None:
                expect(ratio).to_contain_text("too few repetitions")
                continue
            texts = _numbers(ratio)
            bounds = (wanted.ratio, wanted.low, wanted.high)
            assert len(texts) == len(bounds), where
            assert all(map(numbers.shows, texts, bounds)), f"{where}: {texts} is not {bounds}"
            checked += 1
    assert checked
    _check_percentiles(page, readings)


def _check_percentiles(page: Page, readings: Readings) -> None:
    threads = int(re.findall(r"\d+", page.locator("#latency-title").inner_text())[0])
    names = [text.split()[0] for text in page.locator(".compare-latency th.num").all_inner_texts()]
    sides = [row.get_attribute("data-side") or "" for row in page.locator("#results tr[data-side]").all()]
    for side, row in zip(dict.fromkeys(sides), page.locator(".compare-latency tbody tr").all(), strict=True):
        cells = row.locator("td").all_inner_texts()
        values = row.locator("td > span:first-child").all_inner_texts()  # of a percentile, without its ratio
        whole = [each for each in readings[side, threads] if each.has_whole_histogram(threads)]
        assert cells[-1].split()[0] == str(len(whole))
        if not whole:
            continue
        for percent in PERCENTILES:
            value = numbers.merged_percentile(whole, percent)
            text = values[names.index(f"p{percent}")]
            # sysbench prints the values of its steps with three decimals; a step is 1.8 % wide.
            assert float(text.replace(",", "")) == pytest.approx(value, rel=0.01, abs=0.0011), (
                f"p{percent} of {side}: {text} is not {value}"
            )


def check_json(url: str, readings: Readings, *, tool: str, workload: int) -> None:
    """Every cell of the API's comparison, then the same with the sides exchanged, which turns every verdict round."""
    sides = sorted({side for side, _ in readings})
    answer = _compared(url, sides, workload)
    levels = {level["id"]: level["threads"] for level in answer["levels"]}
    directions = {metric["key"]: metric["direction"] for metric in answer["metrics"]}
    metrics = {cell["metric"] for cell in answer["cells"]}
    assert numbers.THROUGHPUT in metrics
    seen = {(cell["metric"], cell["side"], levels[cell["level"]]) for cell in answer["cells"]}
    assert seen == {(metric, side, threads) for metric in metrics for side, threads in readings}
    judged = numbers.check_cells(answer["cells"], readings=readings, levels=levels, tool=tool, baseline=sides[0])
    numbers.check_verdicts(judged, directions)
    _check_steadiness(answer["steadiness"], readings, levels)
    turned = {"better": "worse", "worse": "better"}
    mirrored = _compared(url, sides[::-1], workload)
    words = {
        (cell["metric"], cell["level"]): (cell["words"], cell["ratio"]["value"])
        for cell in mirrored["cells"]
        if cell["ratio"]
    }
    for cell, _ in judged:
        other, ratio = words[cell["metric"], cell["level"]]
        assert other == turned.get(cell["words"], cell["words"])
        own = cell["ratio"]["value"]
        assert ratio == (None if own is None else pytest.approx(1 / own))


def _compared(url: str, sides: list[str], workload: int) -> dict[str, Any]:
    asked: dict[str, Any] = {"side": sides, "workload": workload, "include": "steadiness"}
    response = httpx.get(f"{url}/api/v1/comparisons/", params=asked, timeout=LIMIT)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def _check_steadiness(steadiness: Mapping[str, Any] | None, readings: Readings, levels: Mapping[int, int]) -> None:
    """By the seconds that the tool printed; runs of under five seconds have none."""
    steady = {key: [each for each in runs if len(each.seconds) >= 5] for key, runs in readings.items()}
    if not any(steady.values()):
        assert not steadiness or not steadiness["runs"]
        return
    assert steadiness
    assert len(steadiness["runs"]) == sum(map(len, steady.values()))
    for run in steadiness["runs"]:
        own = steady[run["side"], levels[run["level"]]]
        known = run["steadiness"]
        matching = [each for each in own if min(each.seconds) == pytest.approx(known["box"]["least"], rel=1e-3)]
        assert matching, f"no run of {run['side']} has a worst second of {known['box']['least']}"
        # Two runs may have a worst second alike.
        weighted = [(np.array(each.seconds), _weights(each.lengths)) for each in matching]
        seconds, weights = min(
            weighted, key=lambda each: abs(float(np.average(each[0], weights=each[1])) - known["mean"])
        )
        assert known["count"] == len(seconds)
        mean = np.average(seconds, weights=weights)
        assert known["mean"] == pytest.approx(mean, rel=0.01)
        spread = np.sqrt(np.average((seconds - mean) ** 2, weights=weights))
        assert known["variation"] == pytest.approx(spread / mean, abs=0.01)
        assert known["worst"] == pytest.approx(seconds.min() / np.median(seconds), rel=1e-3)


def _weights(lengths: Sequence[float]) -> NDArray[np.float64]:
    """On a busy machine a second may last longer: it counts for up to a fifth more, since it could be a gap as well."""
    return np.minimum(lengths, 1.2 * np.median(lengths))


def check_matrix(page: Page, url: str, read: Mapping[str, Readings]) -> None:
    """Its cells as the API gives them and as the page shows them; all of them are corrected together."""
    sides = sorted({side for readings in read.values() for side, _ in readings})
    asked = {"side": sides}
    answer = httpx.get(f"{url}/api/v1/matrix/", params=asked, timeout=LIMIT).json()
    judged = []
    for row in answer["rows"]:
        tool, level = row["workload"]["tool"], row["level"]
        judged += numbers.check_cells(
            row["cells"],
            readings=read[tool],
            levels={level["id"]: level["threads"]},
            tool=tool,
            baseline=sides[0],
        )
    assert len(judged) == len(answer["rows"]) == answer["tests"]
    numbers.check_verdicts(judged, {row["metric"]["key"]: row["metric"]["direction"] for row in answer["rows"]})
    page.goto("/matrix/?" + "&".join(f"side={side}" for side in sides))
    shown = page.locator("#matrix tbody tr").all()
    assert len(shown) == len(answer["rows"])
    for line, row, (cell, wanted) in zip(shown, answer["rows"], judged, strict=True):
        expect(line.locator(".matrix__load")).to_have_text(
            row["level"]["text"] if "text" in row["level"] else re.compile("thread")
        )
        found = line.locator("td").nth(1)
        texts = _numbers(found.locator(".matrix__ratio")) + _numbers(found.locator(".matrix__interval"))
        assert all(map(numbers.shows, texts, (wanted.ratio, wanted.low, wanted.high))), texts
        expect(found).to_contain_text(cell["words"])


def _numbers(cell: Locator) -> list[str]:
    return re.findall(r"\d[\d,]*(?:\.\d+)?", cell.inner_text())
