"""What limits a side is named from its ladder, with why, and what speaks against it."""

from collections.abc import Sequence

import pytest

from apps.use_method.bottlenecks import wording
from apps.use_method.bottlenecks.find import Bottleneck, Kind, PanelsAtLevel, find
from apps.use_method.panels.repetitions import typical
from apps.use_method.resource_table import INDICATORS
from apps.use_method.values import Panel, Reading, UseLevel
from tests.use_method.made import indicator, panel

OK, WATCH, FULL, UNSEEN = UseLevel.OK, UseLevel.WATCH, UseLevel.SATURATED, UseLevel.NOT_OBSERVABLE


def found_of(*levels: tuple[int, float, Sequence[Panel]]) -> Bottleneck:
    """Threads, throughput, panels of the repetitions."""
    return find(
        [PanelsAtLevel(threads, dict(enumerate(panels)), (value,) * len(panels)) for threads, value, panels in levels]
    )


def notes_of(found: Bottleneck) -> list[str]:
    """A ratio between two levels is given by their threads."""
    return wording.notes(found, lambda threads, fewer: f"{threads}:{fewer}")


def headline(found: Bottleneck) -> str:
    return wording.headline(found).replace("\u00a0", " ")


def test_the_first_resource_that_saturates_is_the_bottleneck_and_the_level_below_is_reported() -> None:
    found = found_of(
        (1, 100.0, [panel(20.0, cpu=OK)]),
        (4, 350.0, [panel(80.0, cpu=WATCH)]),
        (8, 400.0, [panel(99.0, cpu=FULL)]),
        (16, 410.0, [panel(99.9, cpu=FULL)]),
    )
    assert (found.kind, headline(found)) == (Kind.LIMITED, "limited by CPU from 8 threads on")
    [onset] = found.first
    sentence = wording.evidence(onset).replace("\u00a0", " ")
    title = INDICATORS[indicator("cpu")].title
    assert sentence == f"CPU: {title} 99.0 % from 8 threads on; at 4 threads 80.0 %"
    assert onset.watched == 4


def test_a_resource_that_is_saturated_all_along_is_named_from_where_throughput_stands() -> None:
    found = found_of(
        *((n, value, [panel(cpu=FULL)]) for n, value in ((1, 452.0), (4, 1374.0), (16, 1300.0), (64, 1085.0)))
    )
    assert headline(found) == "limited by CPU from 4 threads on"
    assert "CPU: saturated from 1 thread on, and throughput still grew 4:1 to 4 threads" in notes_of(found)


def test_what_was_saturated_while_throughput_doubled_is_not_named_before_what_stops_it() -> None:
    """A disk that is always busy with flushes lets more and more threads share each of them."""
    found = found_of(
        (1, 100.0, [panel(disk=FULL, cpu=OK)]),
        (4, 390.0, [panel(disk=FULL, cpu=OK)]),
        (16, 800.0, [panel(disk=FULL, cpu=FULL)]),
        (64, 810.0, [panel(disk=FULL, cpu=FULL)]),
    )
    assert headline(found) == "limited by CPU from 16 threads on"
    notes = notes_of(found)
    assert "Disk: saturated from 1 thread on, while throughput still grew 16:1 to 16 threads" in notes


def test_throughput_that_grows_to_the_end_is_not_held_yet() -> None:
    found = found_of(*((n, 100.0 * n, [panel(cpu=FULL)]) for n in (1, 4, 16)))
    assert headline(found) == "CPU saturates first, from 1 thread on, while throughput still grows"


def test_twice_the_throughput_is_growth_however_far_apart_the_levels_are() -> None:
    found = found_of((1, 5900.0, [panel(cpu=FULL)]), (16, 17_700.0, [panel(cpu=FULL)]))
    assert headline(found) == "CPU saturates first, from 1 thread on, while throughput still grows"


def test_a_load_generator_that_saturates_first_leaves_the_server_unmeasured() -> None:
    found = found_of(
        (1, 100.0, [panel(cpu=OK, client={"client": OK})]),
        (8, 700.0, [panel(cpu=OK, client={"client": FULL})]),
        (16, 705.0, [panel(cpu=OK, client={"client": FULL})]),
    )
    assert found.kind is Kind.CLIENT
    assert headline(found) == "the load generator saturates first, from 8 threads on: the server was not the limit"


def test_two_that_saturate_at_the_same_level_are_both_named_and_what_would_part_them() -> None:
    found = found_of(
        (4, 100.0, [panel(cpu=OK, row_locks=OK)]),
        (16, 140.0, [panel(cpu=FULL, row_locks=FULL)]),
        (64, 141.0, [panel(cpu=FULL, row_locks=FULL)]),
    )
    assert headline(found) == "limited by CPU and row locks from 16 threads on"
    tie = "saturate at the same level: levels between 4 and 16 threads would show which comes first"
    assert any(note.endswith(tie) for note in notes_of(found))


def test_of_two_at_the_same_level_the_one_that_was_at_watch_before_is_named() -> None:
    found = found_of(
        (4, 100.0, [panel(cpu=OK, row_locks=WATCH)]),
        (16, 140.0, [panel(cpu=FULL, row_locks=FULL)]),
        (64, 141.0, [panel(cpu=FULL, row_locks=FULL)]),
    )
    assert headline(found) == "limited by row locks from 16 threads on"


def test_a_replica_that_falls_behind_is_not_named_before_what_holds_the_clients() -> None:
    found = found_of(
        (4, 100.0, [panel(cpu=WATCH, replication=FULL)]),
        (16, 101.0, [panel(cpu=FULL, replication=FULL)]),
    )
    assert headline(found) == "limited by CPU from 16 threads on"


def test_most_repetitions_decide_and_the_others_are_reported() -> None:
    found = found_of(
        (4, 100.0, [panel(cpu=FULL), panel(cpu=OK), panel(cpu=OK)]),
        (8, 101.0, [panel(cpu=FULL), panel(cpu=FULL), panel(cpu=OK)]),
    )
    assert found.first[0].threads == 8
    notes = notes_of(found)
    assert "CPU: in 2 of 3 repetitions at 8 threads" in notes
    assert "CPU: in 1 of 3 repetitions at 4 threads already" in notes


def test_half_of_the_repetitions_are_not_most() -> None:
    assert found_of((4, 100.0, [panel(cpu=FULL), panel(cpu=OK)])).kind is Kind.NOTHING


def test_a_level_that_is_saturated_alone_is_no_bottleneck() -> None:
    found = found_of(*((n, 10.0 * n, [panel(cpu=FULL if n == 2 else OK)]) for n in (1, 2, 4, 8)))
    assert found.kind is Kind.NOTHING
    assert "CPU: saturated at 2 threads, and not above" in notes_of(found)


def test_nodes_that_disagree_are_reported() -> None:
    found = found_of((8, 100.0, [panel(cpu={"g1": OK, "g2": OK, "g3": FULL})]))
    assert "CPU: on g3 alone, g1 and g2 are not saturated" in notes_of(found)


def test_what_is_not_monitored_is_reported_with_nothing_saturated() -> None:
    found = found_of((1, 10.0, [panel(cpu=UNSEEN, disk=OK)]), (64, 500.0, [panel(cpu=UNSEEN, disk=OK)]))
    assert headline(found) == "nothing of what could be observed saturated up to 64 threads"
    assert "Not observable: CPU" in notes_of(found)


def test_a_side_whose_nodes_nobody_sampled_is_not_called_unsaturated() -> None:
    found = found_of((1, 10.0, [panel(client={"client": OK})]), (64, 20.0, [panel(cpu=UNSEEN, client={"client": OK})]))
    assert (found.kind, headline(found).partition(":")[0]) == (Kind.UNSEEN, "limit not observed")


def flat_note(*levels: tuple[int, float]) -> tuple[int | None, str]:
    found = found_of(*((n, value, [panel(cpu=OK)]) for n, value in levels))
    return found.stands, next(note for note in notes_of(found) if "throughput" in note).replace("\u00a0", " ")


def test_throughput_that_grew_by_half_is_not_said_to_stand() -> None:
    """From 4 to 16 threads 899 to 1,350 transactions/s."""
    stands, note = flat_note((1, 250.0), (4, 899.0), (16, 1350.0))
    assert stands == 4
    assert "does not grow" not in note
    assert note.startswith(
        "Above 4 threads throughput grows less than half as fast as the threads (16:4 at 16 threads)"
    )


def test_throughput_that_stands_or_falls_with_nothing_saturated_is_reported_with_its_best_level() -> None:
    stands, note = flat_note((1, 100.0), (4, 390.0), (16, 380.0), (64, 350.0))
    assert stands == 4
    assert note.startswith("Above 4 threads throughput does not grow (16:4 at 16 threads)")


def test_a_ladder_without_panels_is_not_judged() -> None:
    assert headline(found_of((4, 100.0, []))) == "no run assessed yet"


def test_a_single_level_names_what_is_saturated_there() -> None:
    found = found_of((16, 100.0, [panel(cpu=FULL)]))
    assert headline(found) == "limited by CPU at 16 threads, the only level judged"


def test_a_cpu_of_which_the_load_generator_takes_a_good_part_is_not_called_the_servers_alone() -> None:
    found = panel(cpu=FULL)
    taken = Reading("client.shared", "client", WATCH, 70.0, "shares the machine with db1, 70 % of it went to others")
    found = Panel(found.measured, found.nodes, (*found.readings, taken))
    assert headline(found_of((4, 100.0, [found]), (8, 101.0, [found]))) == (
        "limited by CPU (shared with the load generator) from 4 threads on"
    )


def test_a_name_keeps_its_capital_within_a_sentence() -> None:
    assert (
        headline(found_of((4, 100.0, [panel(galera=FULL)]))) == "limited by Galera at 4 threads, the only level judged"
    )


def test_the_typical_panel_says_what_most_runs_say_and_which_run_shows_it() -> None:
    found = typical({7: panel(99.0, cpu=FULL), 8: panel(40.0, cpu=OK), 9: panel(97.0, cpu=FULL)})
    assert found is not None
    [reading] = found.panel.readings
    assert (reading.level, reading.value) == (FULL, 97.0)
    assert reading.words == "words; 2 of 3 repetitions, ok in 1"
    assert found.run_of(reading) == 9


@pytest.mark.parametrize(
    ("servers", "words"),
    [
        ((23.0,), "limited by CPU (mostly taken by processes that are not its servers) from 8 threads on"),
        ((60.0,), "limited by CPU from 8 threads on"),
        ((30.0, 31.0), "limited by CPU from 8 threads on"),  # of several servers on one machine each takes a part
        ((), "limited by CPU from 8 threads on"),
    ],
)
def test_a_cpu_that_others_took_is_not_blamed_on_the_servers(servers: tuple[float, ...], words: str) -> None:
    def full() -> Panel:
        own = panel(99.0, cpu=FULL)
        node = own.readings[0].node
        names = [node, *(f"{node}-{number}" for number in range(2, len(servers) + 1))]
        busy = Reading("cpu.busy", node, FULL, 99.0, "99 %")
        shares = (Reading("cpu.server", name, OK, share, "") for name, share in zip(names, servers, strict=False))
        return Panel(own.measured, own.nodes, (busy, *shares))

    found = found_of((1, 100.0, [panel(20.0, cpu=OK)]), (8, 400.0, [full()] * 3), (16, 400.0, [full()] * 3))
    assert headline(found) == words
