"""Words of stated figures."""

from typing import Any

import pytest

from apps.published import wording

NUMBER: dict[str, Any] = {"value": None, "low": None, "high": None}


@pytest.mark.parametrize(
    ("stated", "text"),
    [
        ({"value": 15.0, "qualifier": "exact"}, "15"),
        ({"value": 450_000.0, "qualifier": "at_least"}, "at least 450,000"),
        ({"value": 350_000.0, "qualifier": "at_most"}, "at most 350,000"),
        ({"low": 80.0, "high": 170.0, "qualifier": "approx"}, "about 80 to 170"),
        ({"value": 0.333, "qualifier": "approx"}, "about 0.33"),
        ({"value": 0.333, "qualifier": "approx", "exact": True}, "about 0.333"),
        ({"qualifier": ""}, ""),
    ],
)
def test_a_number_keeps_its_articles_degree_of_certainty(stated: dict[str, Any], text: str) -> None:
    assert wording.number(**NUMBER | stated) == text


@pytest.mark.parametrize(
    ("metric", "name", "direction", "sentence"),
    [
        ("execution_time", "execution time", "lower", "A took 2\xa0× the time of B (execution time, lower is better)"),
        ("speedup", "speed-up", "higher", "A was 2\xa0× as fast as B (speed-up, higher is better)"),
        ("stalls", "stalls", "neutral", "A had 2\xa0× the stalls of B (stalls, neither is better)"),
    ],
)
def test_a_ratio_is_a_sentence_with_its_metric_and_direction(
    metric: str, name: str, direction: str, sentence: str
) -> None:
    sides = {"numerator": "A", "denominator": "B"}
    found = wording.ratio_sentence(metric=metric, metric_name=name, direction=direction, stated="2", **sides)
    assert found == sentence


def test_parts_of_a_figure_are_named() -> None:
    assert wording.of_which({"proxy_detection": 6.0}, "s") == "of which 6\xa0s proxy detection"
    assert wording.of_which({}, "s") == ""


def test_an_interval_is_never_stated() -> None:
    assert wording.NO_INTERVAL == "no interval stated"


def test_a_compression_is_said_as_a_ratio_to_one() -> None:
    found = wording.ratio_sentence(
        metric="compression_ratio",
        metric_name="compression ratio",
        direction="higher",
        numerator="uncompressed",
        denominator="ZFS gzip",
        stated="2.42",
    )
    assert found == "ZFS gzip compresses 2.42 : 1"
