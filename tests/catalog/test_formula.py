"""Formulas are read safely, and say "not observed" rather than something wrong."""

import numpy as np
import pytest

from apps.catalog.metrics.formula import BadFormula, Formula, fitting, has_all, placeholders


def evaluated(text: str, **values: list[float]) -> str:
    """As repr, since NaN equals nothing."""
    found = Formula(text).evaluate({key: np.array(each, np.float64) for key, each in values.items()})
    return repr(found.tolist())


def test_operators_bind_as_in_school() -> None:
    assert evaluated("2 + 3 * a / (b - 1)", a=[4.0], b=[3.0]) == "[8.0]"
    assert evaluated("a - b - c", a=[9.0], b=[3.0], c=[2.0]) == "[4.0]"
    assert evaluated("a / 1e3", a=[5.0]) == "[0.005]"


def test_the_smaller_of_two_is_taken_and_what_was_not_observed_stays_so() -> None:
    assert evaluated("min(100, 100 * a)", a=[0.5, 1.004, float("nan")]) == "[50.0, 100.0, nan]"
    assert Formula("min(100, 100 * host.disk.<disk>.io_time)").inputs == ("host.disk.<disk>.io_time",)


def test_what_is_divided_by_zero_is_not_observed() -> None:
    assert evaluated("a / b", a=[1.0, 0.0, 1.0], b=[0.0, 0.0, 2.0]) == "[nan, nan, 0.5]"
    assert evaluated("1 / (a / b)", a=[1.0], b=[0.0]) == "[nan]"


def test_what_overflows_is_not_observed() -> None:
    with np.errstate(over="ignore"):
        assert evaluated("a * a", a=[1e300]) == "[nan]"


def test_keys_hold_dots_stars_and_words() -> None:
    text = "100 * (host.disk.<disk>.io_time - x.y-z.*) / mysql.status.Handler_read_*"
    assert Formula(text).inputs == ("host.disk.<disk>.io_time", "x.y-z.*", "mysql.status.Handler_read_*")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a +",
        "a ** b",
        "f (a)",
        "a if b else c",
        "'a'",
        "- a",
        "a < b",
        "[a]",
        "a @ b",
        "a // b",
        "1j",
        "min(a)",
        "min(a, b, 1)",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadFormula):
        Formula(text)


def test_a_star_means_every_key_that_fits() -> None:
    keys = ["host.net.eth0.rx_drops", "host.net.eth0.100.rx_drops", "host.net.eth0.tx_drops", "xhost.net.a.rx_drops"]
    assert fitting("host.net.*.rx_drops", keys) == keys[:2]
    assert has_all(["host.net.*.rx_drops", "host.net.eth0.tx_drops"], keys)
    assert not has_all(["host.net.*.rx_errors"], keys)


def test_a_word_in_angle_brackets_stands_for_the_same_text() -> None:
    assert placeholders("derived.disk.<disk>.await", "derived.disk.dm-0.await") == {"<disk>": "dm-0"}
    assert placeholders("derived.disk.<disk>.await", "derived.disk.await") is None
