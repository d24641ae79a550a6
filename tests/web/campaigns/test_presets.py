"""Presets fill the plan with what agents reach now; the summary says what the plan can find."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.catalog.api import services
from apps.catalog.models import Node, Release, System
from apps.dispatch.models import Campaign
from apps.regressions.models import Trend
from tests.support.builders import a_load_level, a_system, a_workload, an_agent
from tests.support.pages import data, element, elements, states, text
from tests.web.campaigns.pages import HTMX, a_form

ADDRESS, FILE = "/campaigns/new/", "/campaigns/file/?preset=articles"
pytestmark = pytest.mark.usefixtures("enqueued")


def reached(slug: str, *, nodes: int = 1, **fields: Any) -> System:
    system = a_system(slug, **fields)
    for number in range(2, nodes + 1):
        Node.objects.create(system=system, name=f"db{number}", role="reader", hardware_class=system.hardware_class)
    an_agent(system, last_seen_at=timezone.now())
    return system


def checked(html: str, name: str) -> list[str | None]:
    return [node.attributes["value"] for node in elements(html, f"[name={name}][checked]")]


def page(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status
    content: str = answer.content.decode()
    return content


def test_presets_stand_first_and_those_that_cannot_start_say_what_is_missing(engineer: Client) -> None:
    services.seed()
    reached("one")
    a_system("far away")
    html = page(engineer, ADDRESS)
    assert data(html, "preset") == ["articles", "failover", "ramp", "releases"]
    links = [node.attributes["href"] for node in elements(html, "[data-preset] h3 a")]
    assert links == [FILE, f"{ADDRESS}?preset=ramp"]
    assert "two or more nodes" in text(html, "[data-preset=failover]")
    assert "15 runs" in text(html, "[data-preset=ramp]")


def test_a_preset_fills_the_form_with_the_systems_that_fit(engineer: Client) -> None:
    services.seed()
    reached("one"), reached("cluster", nodes=3), a_system("far")
    html = page(engineer, f"{ADDRESS}?preset=failover")
    assert checked(html, "systems") == ["cluster"]
    assert "kill_writer" in text(html, ".pick-with-own:has([checked])")
    assert element(html, "[name=repetitions]").attributes["value"] == "6"
    assert states(html, "#size [data-jobs]", "jobs", "runs") == [("6", "6")]
    assert not elements(html, "[data-changed]")
    html = page(engineer, f"{ADDRESS}?preset=ramp")
    assert sorted(map(str, checked(html, "systems"))) == ["cluster", "one"]
    assert elements(html, "[name=climb][checked]")


def test_two_releases_are_the_newest_two_that_differ_in_nothing_else(engineer: Client) -> None:
    services.seed()
    first = reached("old")
    for slug, version, key in (("new", "11.4.2", [11, 4, 2]), ("newest", "11.8.1", [11, 8, 1])):
        release = Release.objects.create(platform=first.release.platform, version=version, version_key=key)
        reached(slug, release=release)
    assert checked(page(engineer, f"{ADDRESS}?preset=releases"), "systems") == ["new", "newest"]


def test_an_edited_preset_says_that_it_was_changed(engineer: Client) -> None:
    services.seed()
    reached("one"), reached("two")
    html = page(engineer, f"{ADDRESS}?preset=ramp")
    form = a_form(
        preset=element(html, "[name=preset]").attributes["value"],
        name="another question",
        systems=checked(html, "systems"),
        workloads=checked(html, "workloads"),
        climb="on",
        **{name: element(html, f"[name={name}]").attributes["value"] for name in ("threads", "repetitions")},
        **{name: element(html, f"[name={name}]").attributes["value"] for name in ("warmup", "duration")},
    )

    def changed(**edited: Any) -> bool:
        answer = engineer.get("/campaigns/new/size/", form | edited, headers=HTMX).content.decode()
        assert elements(answer, "#preset-changed[hx-swap-oob]")
        return bool(elements(answer, "[data-changed]"))

    assert not changed()
    for edited in ({"systems": ["one"]}, {"repetitions": "4"}, {"climb": ""}, {"threads": "1"}, {"test": "connect"}):
        assert changed(**edited), edited
    assert changed(**{f"duration_{form['workloads'][0]}": "9"})


def test_an_unknown_preset_is_refused_by_its_name(engineer: Client) -> None:
    for address in (ADDRESS, "/campaigns/file/"):
        html = page(engineer, f"{address}?preset=made_up", 400)
        assert data(html, "field") == ["preset"]


def test_the_articles_study_opens_as_its_file_on_what_is_reached(engineer: Client) -> None:
    reached("one"), reached("cluster", nodes=3), a_system("far")
    assert engineer.get(f"{ADDRESS}?preset=articles").headers["Location"] == FILE
    html = page(engineer, FILE)
    assert "systems: [cluster, one]" in text(html, "#id_text")
    assert "systems: [cluster] duration: 30" in text(html, "#id_text")
    assert elements(html, "[data-checked]")
    assert not elements(html, "[data-changed]")
    typed = engineer.get(FILE).context["text"]
    edited = engineer.post("/campaigns/file/", {"preset": "articles", "text": typed + "# more", "check": "1"})
    assert elements(edited.content.decode(), "[data-changed]")
    assert not Campaign.objects.exists()


def test_without_a_cluster_the_articles_study_has_no_failover(engineer: Client) -> None:
    reached("one")
    html = page(engineer, FILE)
    assert "tool: failover" not in text(html, "#id_text")
    assert "tool: ddl_under_load" in text(html, "#id_text")
    assert elements(html, "[data-checked]")


def a_trend(system: System, threads: int, variation: float) -> None:
    workload = a_workload()
    Trend.objects.create(
        platform=system.release.platform,
        hardware_class=system.hardware_class,
        settings_hash=system.settings_hash,
        workload=workload,
        load_level=a_load_level(threads),
        metric=workload.primary_metric,
        variation=variation,
    )


def test_the_summary_says_the_smallest_difference_and_which_load_misses_it(engineer: Client) -> None:
    system = reached("a")
    for threads, variation in ((1, 0.001), (4, 0.2)):
        a_trend(system, threads, variation)
    form = a_form(systems=["a"])

    def summary(**fields: Any) -> str:
        return engineer.get("/campaigns/new/size/", form | fields, headers=HTMX).content.decode()

    html = summary()
    assert states(html, "[data-threads][data-misses]", "threads") == [("4",)]
    assert "not known yet" in text(html, "[data-threads='8']")
    assert "4 threads" in text(html, "[data-missing]")
    assert not elements(summary(threads="1"), "[data-missing]")
    assert "no interval" in text(summary(repetitions="1"), "section, body")
