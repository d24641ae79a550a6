"""What counts as a change of a recorded history."""

import numpy as np
import pytest

from bench import histories, lab_histories
from bench.histories import Alarm, Score
from bench.lab_sessions import PLANS, settings_of


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(8)


def around(rng: np.random.Generator, level: float, noise: float = 0.01) -> "histories.Floats":
    return level * np.exp(noise * rng.standard_normal(12))


def changed(before: "histories.Floats", after: "histories.Floats") -> bool | None:
    return lab_histories.changed(np.concatenate([before, after]), len(before), np.empty((len(before) + len(after), 0)))


def test_a_change_is_shown_or_excluded_or_neither(rng: np.random.Generator) -> None:
    assert changed(around(rng, 100), around(rng, 110)) is True
    assert changed(around(rng, 100), around(rng, 90)) is True
    assert changed(around(rng, 100, 0.002), around(rng, 100.2, 0.002)) is False
    assert changed(around(rng, 100, 0.2), around(rng, 104, 0.2)) is None


def test_a_change_that_is_sure_but_small_is_none_that_one_must_find(rng: np.random.Generator) -> None:
    assert changed(around(rng, 100, 0.001), around(rng, 101, 0.001)) is False


def test_a_slower_machine_is_no_change_of_a_setting(rng: np.random.Generator) -> None:
    speed = np.repeat([0.0, 0.3], 12) + 0.1 * rng.standard_normal(24)
    values = around(rng, 100, 0.002).repeat(2) * np.exp(-speed)
    assert lab_histories.changed(values, 12, np.empty((24, 0))) is True
    assert lab_histories.changed(values, 12, speed[:, None]) is False


def test_an_alarm_where_nobody_knows_counts_neither_way(rng: np.random.Generator) -> None:
    values = np.concatenate([around(rng, 100), around(rng, 120), around(rng, 124, 0.2)])
    history = lab_histories.known(values, [12, 24])
    assert (history.changes, history.unsure) == ((12,), (24,))
    assert histories.scored(history, [Alarm(13, 18), Alarm(25, 30)]) == Score(1, 0, 0, 36, (6,))
    assert histories.scored(history, [Alarm(3, 10), Alarm(13, 18)]) == Score(1, 1, 0, 36, (6,))


def test_a_session_has_the_settings_of_the_last_change_before_it() -> None:
    assert settings_of("mariadb", 12) == PLANS["mariadb"][0]
    assert settings_of("mariadb", 13) == settings_of("mariadb", 26) == PLANS["mariadb"][13]


def test_every_system_was_recorded_and_changes_of_every_kind_are_in_it() -> None:
    found = lab_histories.recorded()
    assert len(found) == 12
    assert all(len(history.values) == 60 for history in found.values())
    assert all((history.values > 0).all() for history in found.values())
    assert all(history.changes or history.unsure for history in found.values())
    assert sum(len(history.changes) for history in found.values()) >= 5
