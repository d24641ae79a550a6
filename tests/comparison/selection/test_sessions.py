"""Which runs share a session."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from apps.comparison.selection.sessions import Occurrence, numbered
from apps.runs.pure import session_name
from tests.examples import examples

DAY = datetime(2026, 11, 2, 9, tzinfo=UTC)


def run(number: int, *, side: str = "a", at: float = 0.0, host: str = "", start: float | None = None, stated: str = ""):  # type: ignore[no-untyped-def]
    """`at`, `start` of its server: hours since DAY."""
    started = None if start is None else DAY + timedelta(hours=start)
    return Occurrence(number, side, DAY + timedelta(hours=at), host, started, stated)


def test_runs_of_one_morning_are_one_session_and_the_next_day_is_another() -> None:
    assert numbered([run(1), run(2, at=1), run(3, at=24), run(4, at=25)]) == {1: 0, 2: 0, 3: 1, 4: 1}


def test_a_restart_of_a_server_begins_a_session_and_the_rounding_of_its_uptime_does_not() -> None:
    found = numbered([run(1, start=-1.0), run(2, at=1, start=-1.001), run(3, at=2, start=1.5), run(4, at=3)])
    assert found == {1: 0, 2: 0, 3: 1, 4: 1}


def test_another_load_generator_is_another_session_also_when_the_two_take_turns() -> None:
    found = numbered([run(1, host="x"), run(2, at=1, host="y"), run(3, at=2, host="x"), run(4, at=3, host="y")])
    assert found == {1: 0, 2: 1, 3: 0, 4: 1}


def test_sides_measured_in_turns_share_each_session() -> None:
    turns = [run(number, side="ab"[number % 2], at=24.0 * (number // 4)) for number in range(12)]
    assert numbered(turns) == {number: number // 4 for number in range(12)}


def test_a_restart_of_one_sides_server_only_leaves_no_shared_session() -> None:
    found = numbered([run(1, start=-1), run(2, side="b"), run(3, at=2, start=1), run(4, side="b", at=2)])
    assert found[1] != found[3]
    assert found[2] == found[4]
    assert found[2] not in (found[1], found[3])


def in_turns(*sides: str) -> list[Occurrence]:
    """Two runs of each side on three days, an hour apart."""
    days = [
        run(10 * day + place, side=side, at=24.0 * day + place) for day in range(3) for place, side in enumerate("abab")
    ]
    return [each for each in days if each.side in sides]


def pattern(found: dict[int, int], runs: list[Occurrence]) -> list[int]:
    """Which of these runs share numbers, whatever these are."""
    seen: dict[int, int] = {}
    return [seen.setdefault(found[each.run], len(seen)) for each in runs]


def test_a_side_measured_all_day_joins_no_sessions_of_the_others() -> None:
    both = in_turns("a", "b")
    always = [run(100 + number, side="c", at=5.0 * number) for number in range(12)]
    assert pattern(numbered(both, baseline="a"), both) == [0] * 4 + [1] * 4 + [2] * 4
    assert pattern(numbered([*both, *always], baseline="a"), both) == [0] * 4 + [1] * 4 + [2] * 4


def test_a_side_started_anew_for_each_run_parts_no_sessions_of_the_others() -> None:
    both = in_turns("a", "b")
    restarted = [
        run(100 + day, side="c", at=24.0 * (day // 2) + day % 2, start=24.0 * (day // 2) + day % 2) for day in range(6)
    ]
    found = numbered([*both, *restarted], baseline="a")
    assert pattern(found, both) == [0] * 4 + [1] * 4 + [2] * 4
    assert len({found[each.run] for each in restarted}) == 6


def test_two_sides_that_the_baseline_is_not_near_are_joined_by_no_third() -> None:
    """Five hours after the first, and five before the last."""
    ends, middle = [run(1), run(2, side="b", at=10)], run(3, side="c", at=5)
    assert pattern(numbered([*ends, middle], baseline="a"), ends) == [0, 1]


@examples(100)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcd"), st.integers(0, 60), st.sampled_from(["", "x"]), st.sampled_from([None, 0, 9])
        ),
        max_size=16,
    )
)
def test_further_sides_change_no_session_of_a_side_and_the_baseline(
    drawn: list[tuple[str, int, str, int | None]],
) -> None:
    runs = [
        run(number, side=side, at=at, host=host, start=start) for number, (side, at, host, start) in enumerate(drawn)
    ]
    both = [each for each in sorted(runs, key=lambda each: (each.started_at, each.run)) if each.side in "ab"]
    assert pattern(numbered(runs, baseline="a"), both) == pattern(numbered(both, baseline="a"), both)


def test_a_stated_session_decides_whatever_the_times_say() -> None:
    found = numbered(
        [run(1, stated="monday"), run(2, at=30, stated="monday"), run(3, side="b", at=60, stated="monday")]
    )
    assert found == {1: 0, 2: 0, 3: 0}
    found = numbered([run(1, stated="first"), run(2, at=0.1, stated="second"), run(3, at=0.2)])
    assert len(set(found.values())) == 3


def planned(session: int, *, campaign: int = 7) -> str:
    return session_name(campaign=campaign, session=session)


def test_each_later_session_of_a_plan_is_one_of_its_own_where_no_start_is_known() -> None:
    turns = [run(number, side="ab"[number % 2], at=number / 10, stated=planned(1 + number // 4)) for number in range(8)]
    found = numbered(turns)
    assert [found[number] for number in (0, 4)] == [found[number] for number in (2, 6)]
    assert len({found[number] for number in (0, 4, 1, 5)}) == 4


def test_where_starts_are_known_they_decide_and_not_the_plan() -> None:
    crashed = [run(1, start=-1.0, stated=planned(2)), run(2, at=1, start=0.5, stated=planned(2))]
    assert numbered(crashed) == {1: 0, 2: 1}
    on_one_start = [run(1, start=-1.0, stated=planned(1)), run(2, at=1, start=-1.0, stated=planned(2))]
    assert numbered(on_one_start) == {1: 0, 2: 0}


def test_plans_whose_first_session_is_on_the_servers_as_they_are_go_on_with_the_one_before() -> None:
    first, next_one, unplanned = planned(1, campaign=7), planned(1, campaign=8), ""
    assert set(numbered([run(1, stated=first), run(2, at=1, stated=next_one), run(3, at=2)]).values()) == {0}
    found = numbered([run(1, stated=planned(2)), run(2, at=1, stated=next_one), run(3, at=2, stated=unplanned)])
    assert set(found.values()) == {0}


def test_a_plan_whose_runs_are_between_those_of_another_begins_no_session_twice() -> None:
    order = [planned(2), planned(2, campaign=8), planned(2), planned(3)]
    found = numbered([run(number, at=number, stated=stated) for number, stated in enumerate(order)])
    assert found == {0: 0, 1: 1, 2: 1, 3: 2}


@examples(100)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 300), st.sampled_from(["", "x"])), max_size=12))
def test_every_run_has_a_number_whatever_the_order_they_come_in(drawn: list[tuple[str, int, str]]) -> None:
    runs = [run(number, side=side, at=at, host=host) for number, (side, at, host) in enumerate(drawn)]
    assert numbered(runs) == numbered(reversed(runs))
    assert set(numbered(runs)) == set(range(len(runs)))
