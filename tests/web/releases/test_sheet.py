"""Releases in words: the answer above a list, and what a row says beyond its verdict."""

from typing import Any

import pytest

from apps.regressions.releases.values import ReleaseCheck, RowVerdict
from apps.web.releases.sheet import overall, sheet
from tests.regressions.releases.released import a_check, a_row

WORSE = a_check(a_row(RowVerdict.WORSE))
FIRST = a_check(baseline="")
UNSURE = a_check(a_row(RowVerdict.TOO_FEW))
FINE = a_check(a_row(RowVerdict.UNCHANGED))
REGRESSED = "regressed beyond what was accepted: MariaDB 10.11.20 on small"


@pytest.mark.parametrize(
    ("checks", "text"),
    [
        ([], ""),
        ([WORSE, FIRST], f"1 release {REGRESSED}; 1 release without an earlier one."),
        ([UNSURE, FIRST], "1 release inconclusive; 1 release without an earlier one."),
        (
            [WORSE] * 4,
            f"4 releases {REGRESSED}, MariaDB 10.11.20 on small, MariaDB 10.11.20 on small and 1 more.",
        ),
        ([FINE], "1 release is no worse than the one before."),
    ],
)
def test_the_list_is_summed_up_with_what_regressed_first(checks: list[ReleaseCheck], text: str) -> None:
    assert overall(checks) == text


def test_a_release_is_named_with_its_baseline_and_its_counts() -> None:
    check = a_check(a_row(RowVerdict.WORSE), a_row(RowVerdict.WORSE, is_accepted=True))
    assert sheet(check, {}).answer == "MariaDB 10.11.20 against 10.11.19 on small: 2 worse (1 accepted)"
    assert UNSURE.why == ("1 row has too few repetitions.",)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"visible": 0.25, "worst": 0.14}, "a fall of 20\xa0% would have been detected; may be worse by up to 14\xa0%"),
        ({"visible": 0.25, "direction": "lower"}, "a rise of 25\xa0% would have been detected"),
        ({"needed": 12}, "12 repetitions per side needed"),
        ({"needed": 1001}, "more than 1,000 repetitions per side needed"),
        ({"reason": "too noisy"}, "too noisy"),
    ],
)
def test_an_inconclusive_row_says_what_would_have_been_seen_and_what_is_needed(
    fields: dict[str, Any], text: str
) -> None:
    shown = sheet(a_check(a_row(RowVerdict.INCONCLUSIVE, **fields)), {})
    (row,) = shown.relevant + shown.others
    assert row.also == text
