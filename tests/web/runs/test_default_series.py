"""Which series a run's page draws unasked."""

from apps.web.runs.default_series import LEAST, MORE, MOST, USUAL, choose

EXACT = [key for key in USUAL if "*" not in key]


def test_a_full_run_shows_at_most_eighteen_in_the_usual_order() -> None:
    assert choose(changing=reversed(EXACT), constant=[]) == EXACT[:MOST]


def test_what_never_changed_gives_way_to_what_did() -> None:
    assert choose(changing=EXACT[3:], constant=EXACT[:3]) == EXACT[3 : 3 + MOST]


def test_twelve_are_shown_even_when_few_of_the_usual_ones_changed() -> None:
    shown = choose(changing=[*EXACT[:2], *MORE[:4]], constant=EXACT[2:])
    assert shown == [*EXACT[:2], *MORE[:4], *EXACT[2 : LEAST - 4]]


def test_of_several_disks_the_busiest_is_shown() -> None:
    disks = ["host.disk.sda.write_bytes", "host.disk.nvme0n1.write_bytes"]
    assert choose(changing=disks, constant=[], busiest=disks[1:]) == disks[1:]


def test_a_run_without_counters_shows_none() -> None:
    assert choose(changing=["client.throughput"], constant=[]) == []
