"""What the verdicts hold for, as the Compare page says it above the charts."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from apps.catalog.models import System, Workload
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_workload
from tests.support.pages import elements, states, text
from tests.web.compare.compared import TPS, address, page

pytestmark = pytest.mark.django_db


def measured(system: System, *sessions: list[float], first: int = 0) -> None:
    """Runs of each session, minutes apart; sessions are a day apart, from day `first` on."""
    for day, values in enumerate(sessions, start=first):
        for number, value in enumerate(values):
            at = START + timedelta(days=day, minutes=number)
            fields = {"started_at": at, "ended_at": at, "repetition": number + 1}
            a_measured_run({TPS: value}, system=system, load_level=a_load_level(4), **fields)


def test_one_session_each_is_said_and_a_second_day_is_compared_by_session(client: Client, workload: Workload) -> None:
    a, b = a_system("a"), a_system("b")
    measured(a, [1000, 1003, 998])
    measured(b, [1100, 1102, 1097])
    html = page(client, address(workload, tab="all"))
    assert states(html, "[data-ribbon]", "ribbon") == [("one-session",)]
    assert "the verdicts hold for these runs" in text(html, "[data-ribbon]")
    assert "95 % intervals over runs of one session" in " ".join(html.split())
    assert {cell.text() for cell in elements(html, "[data-session]")} == {"1"}
    measured(a, [1011, 1013, 1008], first=1)
    measured(b, [1109, 1111, 1112], first=1)
    html = page(client, address(workload, tab="all"))
    assert states(html, "[data-ribbon]", "ribbon") == []
    assert "in 2 sessions a side" in text(html, "[data-grounds]")
    assert "95 % intervals over sessions" in " ".join(html.split())
    assert {cell.text() for cell in elements(html, "[data-session]")} == {"1", "2"}


def test_one_session_each_says_how_many_would_settle_it_by_what_is_known_of_others(
    client: Client, workload: Workload
) -> None:
    a, b = a_system("a"), a_system("b")
    measured(a, [1000, 1003, 998])
    measured(b, [1100, 1102, 1097])
    settle = "sessions of each side would find a difference of 5 %, if sessions differ by"
    ribbon = " ".join(text(page(client, address(workload)), "[data-ribbon=one-session]").split())
    assert f". 3 {settle} 1 %." in ribbon
    for day, value in enumerate((1000, 1080, 940, 1040)):
        at = START + timedelta(days=day + 10)
        fields = {"workload": a_workload("oltp_read_only"), "load_level": a_load_level(4), "started_at": at}
        a_measured_run({TPS: value}, system=a, ended_at=at, **fields)
    ribbon = " ".join(text(page(client, address(workload)), "[data-ribbon=one-session]").split())
    found = re.search(rf"(\d+) {settle} ([\d.]+) %, as 4 earlier ones did\.", ribbon)
    assert found is not None, ribbon
    assert (int(found[1]) > 6, float(found[2]) > 3) == (True, True)


def test_repetitions_that_fall_with_their_order_are_named_with_the_size(client: Client, workload: Workload) -> None:
    measured(a_system("a"), [1000, 951, 902, 860, 815, 775])
    measured(a_system("b"), [1100, 1046, 993, 945, 897, 852])
    html = page(client, address(workload))
    assert [state[0] for state in states(html, "[data-ribbon]", "ribbon")] == ["one-session", "order"]
    ribbon = " ".join(elements(html, "[data-ribbon=order]")[0].text().split())
    assert ribbon.startswith("! Falls with each repetition")
    assert re.search("throughput of .+ by [45].. % .+ and of .+ by ", ribbon)


def test_a_third_side_measured_all_along_leaves_the_replicates_of_the_others(
    client: Client, workload: Workload
) -> None:
    measured(a_system("a"), [1000, 1003], [1011, 1013], [990, 992])
    measured(a_system("b"), [1100, 1102], [1109, 1111], [1090, 1094])
    c = a_system("c")
    for number in range(11):
        at = START + timedelta(hours=5 * number)
        a_measured_run({TPS: 900.0 + number}, system=c, load_level=a_load_level(4), started_at=at, ended_at=at)

    def replicates(*sides: str) -> tuple[str, list[int]]:
        asked = "&".join(f"side={side}" for side in sides)
        cells = client.get(f"/api/v1/comparisons/?{asked}&workload={workload.pk}").json()["cells"]
        (ratio,) = (each["ratio"] for each in cells if (each["side"], each["metric"]) == ("b", TPS))
        return ratio["replicates"], ratio["counts"]

    assert replicates("a", "b", "c") == replicates("a", "b") == ("sessions", [3, 3])
